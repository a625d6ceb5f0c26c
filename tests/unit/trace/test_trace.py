"""Calls that really happened are compared with the graph: exact numbers for a project whose calls are known."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from linked import LinkRow, fill_store, put_rows
from traced import LINKS, PROJECT, find_interpreters, make_traced_store, set_root
from trees import write_tree

from pkg.errors import InputError, PathError, QueryError, UsageError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.trace import TraceReport, trace_calls
from pkg.trace.call_comparison import CACHED, CHANGED, CHANGED_EDGES, NOT_RUN, SUSPENDING, Missed, Unseen

INTERPRETERS = find_interpreters()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "shop"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def store(tmp_path: Path, folder: Path) -> Iterator[EmbeddedStore]:
    with closing(make_traced_store(folder, tmp_path / "graph.db")) as found:
        yield found


def trace(store: EmbeddedStore, *words: str, python: str = INTERPRETERS[0]) -> TraceReport:
    return trace_calls(store, shlex.join([python, *(words or ("-m", "app.main"))]))


def read_recall(report: TraceReport) -> dict[str, tuple[int, int, int]]:
    return {each.name: (each.calls, each.bound, each.possible) for each in report.recall}


def has_version(python: str, *version: int) -> bool:
    """Return whether an interpreter has at least a version."""
    code = f"import sys; sys.exit(sys.version_info < {version})"
    return subprocess.run([python, "-c", code], stdin=subprocess.DEVNULL).returncode == 0


@pytest.mark.parametrize("python", INTERPRETERS)
def test_every_interpreter_gives_the_same_numbers_but_for_generators(store: EmbeddedStore, python: str) -> None:
    report = trace(store, python=python)
    more = has_version(python, 3, 12)
    assert (report.exit_code, report.processes) == (0, 1)
    assert report.hooks == (("monitoring",) if more else ("setprofile",))
    assert [(each.name, each.ran, each.seen) for each in report.precision] == [
        ("certain", 7 + more, 5 + more),
        ("likely", 0, 0),
        ("possible", 1, 1),
    ]
    assert read_recall(report) == {
        "direct": (9 + more, 6 + more, 1),
        "through a library or generated code": (1, 0, 0),
    }
    assert dict(report.left_out) == {NOT_RUN: 1} | ({} if more else {SUSPENDING: 1})


def test_missed_calls_have_the_reason_of_the_unbound_call_that_stands_there(store: EmbeddedStore) -> None:
    main, core = ("app/main.py", "app/core.py")
    assert trace(store).missed == (
        Missed(main, 9, "main", core, "Fast.__len__", "no site: special method that the interpreter calls"),
        Missed(main, 14, "main", core, "double", "expression that is not followed"),
    )


def test_edges_that_did_not_happen_tell_what_happened_instead(store: EmbeddedStore) -> None:
    main, core = ("app/main.py", "app/core.py")
    kin = "another method of the hierarchy was called"
    outside = "something of that name outside of the repository was called"
    assert trace(store).unseen == (
        Unseen(core, 16, "Base.run", core, "Base.step", "self", "certain", kin),
        Unseen(main, 10, "main", core, "append", "import", "certain", outside),
    )


def test_a_decorator_that_the_graph_did_not_bind_is_told_as_such(store: EmbeddedStore) -> None:
    put_rows(store, [row for row in LINKS if row[0] == "OVERRIDES"])
    reasons = {(each.path, each.line): each.reason for each in trace(store).missed}
    assert (reasons["app/core.py", 30], reasons["app/core.py", 16]) == ("no site: decorator", "no site")


@pytest.mark.parametrize("python", INTERPRETERS)
def test_a_generator_behind_a_wrapper_that_was_made_at_run_time_is_called_at_its_call(
    store: EmbeddedStore, folder: Path, python: str
) -> None:
    files = {
        "app/made.py": """\
def made(function):
    space = {"function": function}
    exec("def wrapper(*args):\\n    return function(*args)", space)
    return space["wrapper"]


@made
def count(number):
    yield number


def consume():
    found = count(1)
    for each in found:
        pass


consume()
"""
    }
    write_tree(folder, files)
    link = ("CALLS", "app/made.py::consume", "app/made.py::count", 13, "same module", "certain")
    fill_store(store, files, [link], source="made")
    set_root(store, folder, name="made")
    report = trace_calls(store, shlex.join([python, "-m", "app.made"]), "made")
    assert (report.precision[0].ran, report.precision[0].seen) == ((1, 1) if has_version(python, 3, 13) else (0, 0))
    assert SUSPENDING in dict(report.left_out) or has_version(python, 3, 13)


def test_a_function_with_a_cache_says_nothing_where_it_is_not_called(store: EmbeddedStore, folder: Path) -> None:
    text = "import functools\n\n\n@functools.lru_cache\ndef find():\n    return 1\n\n\n"
    files = {"app/cached.py": text + "def main():\n    return find()\n\n\nfind()\nmain()\n"}
    write_tree(folder, files)
    links: list[LinkRow] = [
        ("CALLS", "app/cached.py::main", "app/cached.py::find", 10, "same module", "certain"),
        ("CALLS", "app/cached.py", "app/cached.py::main", 14, "same module", "certain"),
    ]
    fill_store(store, files, links, source="cached")
    set_root(store, folder, name="cached")
    report = trace_calls(store, shlex.join([sys.executable, "-m", "app.cached"]), "cached")
    assert (report.precision[0].ran, report.precision[0].seen, dict(report.left_out)) == (1, 1, {CACHED: 1})


@pytest.mark.parametrize("python", INTERPRETERS)
def test_a_loop_calls_the_special_method_of_what_it_goes_through(
    store: EmbeddedStore, folder: Path, python: str
) -> None:
    text = "class Box:\n    def __iter__(self):\n        yield 1\n\n\n"
    files = {"app/loop.py": text + "def main(box):\n    for each in box:\n        pass\n\n\nmain(Box())\n"}
    write_tree(folder, files)
    links: list[LinkRow] = [
        ("CALLS", "app/loop.py::main", "app/loop.py::Box.__iter__", 7, "special method", "likely"),
        ("CALLS", "app/loop.py", "app/loop.py::main", 11, "same module", "certain"),
    ]
    fill_store(store, files, links, source="loop")
    set_root(store, folder, name="loop")
    report = trace_calls(store, shlex.join([python, "-m", "app.loop"]), "loop")
    likely = report.precision[1]
    assert (likely.ran, likely.seen) == ((1, 1) if has_version(python, 3, 12) else (0, 0))


def test_rules_are_counted_apart_and_callbacks_only_there(store: EmbeddedStore) -> None:
    rules = {each.name: (each.ran, each.seen) for each in trace(store).rules}
    assert rules["callback"] == (1, 1)
    assert (rules["decorator"], rules["self"], rules["same module"]) == ((1, 1), (1, 0), (2, 2))


def test_all_processes_of_a_command_are_traced_even_those_that_end_abruptly(store: EmbeddedStore, folder: Path) -> None:
    start = "import subprocess, sys; subprocess.run([sys.executable, '-m', 'app.main'])"
    abrupt = "import os; import app.main; os._exit(7)"
    write_tree(folder, {"start.py": f"{start}\n", "abrupt.py": f"{abrupt}\n"})
    alone = trace(store)
    below, ended = trace(store, "start.py"), trace(store, "abrupt.py")
    assert (below.processes, read_recall(below)) == (2, read_recall(alone))
    assert (ended.exit_code, read_recall(ended)) == (7, read_recall(alone))


def test_calls_in_forked_workers_and_threads_are_seen(store: EmbeddedStore, folder: Path) -> None:
    fork = "import os\nif os.fork() == 0:\n    import app.main\n    os._exit(0)\nos.wait()\n"
    thread = (
        "import threading\ndef work():\n    import app.main\nt = threading.Thread(target=work)\nt.start()\nt.join()\n"
    )
    write_tree(folder, {"fork.py": fork, "thread.py": thread})
    alone = read_recall(trace(store))
    assert read_recall(trace(store, "fork.py")) == alone
    assert read_recall(trace(store, "thread.py")) == alone


def test_a_sitecustomize_of_the_user_still_runs(
    store: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    write_tree(tmp_path / "own", {"sitecustomize.py": f"open({str(mark)!r}, 'w').close()\n"})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "own"))
    assert trace(store).processes == 1
    assert mark.exists()


def test_the_repository_is_left_as_it_was(store: EmbeddedStore, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    trace(store)
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == set(PROJECT)


def test_files_that_changed_since_the_build_are_left_out_and_counted(store: EmbeddedStore, folder: Path) -> None:
    write_tree(folder, {"app/main.py": "# A line more.\n" + PROJECT["app/main.py"]})
    report = trace(store)
    assert {each.path for each in report.missed} | {each.path for each in report.unseen} == {"app/core.py"}
    counts = dict(report.left_out)
    assert counts[CHANGED_EDGES] == 7
    assert counts[CHANGED] >= 6


def test_other_line_ends_are_no_change(store: EmbeddedStore, folder: Path) -> None:
    alone = read_recall(trace(store))
    (folder / "app/core.py").write_bytes(PROJECT["app/core.py"].replace("\n", "\r\n").encode())
    assert read_recall(trace(store)) == alone


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-I", "-c", "pass"], "no Python process was traced"),
        (["-c", "raise SystemExit(3)"], "ended with exit code 3, and no call between functions below"),
    ],
)
def test_a_command_that_shows_nothing_is_an_error_that_says_why(
    store: EmbeddedStore, words: list[str], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        trace(store, *words)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("python 'app", "balanced quotes"),
        ("  ", "is empty"),
        ("no-such-program-here --now", "cannot run 'no-such-program-here'"),
    ],
)
def test_a_command_that_cannot_be_run_is_wrong_use(store: EmbeddedStore, command: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        trace_calls(store, command)


def test_a_source_that_is_not_there_is_named_with_those_that_are(store: EmbeddedStore) -> None:
    with pytest.raises(QueryError, match=r"no source 'market' .*: shop"):
        trace_calls(store, "python", "market")


def test_a_source_that_is_not_a_folder_is_refused(store: EmbeddedStore, folder: Path) -> None:
    set_root(store, folder, revision="0" * 40)
    with pytest.raises(PathError, match="no folder to run code of"):
        trace(store)


COPY_RUNS = "import sys; sys.path.insert(0, {!r}); import app.core; app.core.Base().run()"
BOTH_RUN = (
    "import runpy, sys; runpy.run_module('app.main', run_name='__main__');"
    " [sys.modules.pop(name) for name in list(sys.modules) if name.startswith('app')]; "
)


@pytest.mark.parametrize("python", INTERPRETERS)
def test_another_copy_that_ran_is_told(store: EmbeddedStore, tmp_path: Path, python: str) -> None:
    other = str(write_tree(tmp_path / "installed", {**PROJECT, "app/__init__.py": ""}))
    alone = COPY_RUNS.format(other)
    with pytest.raises(InputError, match=r"not an installed copy of it \(.*installed/app/.*\.py ran\)"):
        trace(store, "-c", alone, python=python)
    report = trace(store, "-c", BOTH_RUN + alone, python=python)
    assert [Path(copy).parts[-3] for copy in report.copies] == ["installed"]
    assert trace(store, python=python).copies == ()
