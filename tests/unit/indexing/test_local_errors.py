"""An unexpected exception costs one file or one call site: it is recorded, and everything else is stored."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from trees import export_lines, open_graph_at, write_tree

from pkg import local_errors
from pkg.errors import StoreError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.model import Status

FILES = {
    "good.py": "from helpers import help_out\nclass Base:\n    def run(self): help_out()\ndef main(): Base().run()\n",
    "helpers.py": "def help_out(): pass\n",
    "odd.py": "from good import Base, main\nclass Odd(Base):\n    def run(self): main()\nmain.extra = Odd().run()\n",
    "notes.md": "# Notes\n\nAbout the odd one.\n",
}
GOOD_CALLS = {("main", "run"), ("run", "help_out")}


def is_odd(*given: Any) -> bool:
    """Return whether an argument, a file, a text or a set, belongs to the odd file."""
    return any("odd.py" in repr(each) or "class Odd" in repr(each) for each in given)


FAULTS: dict[str, tuple[str, Callable[..., bool]]] = {
    "summary": ("pkg.extract.python.summarise", lambda root, *rest: b"class Odd" in root.text),
    "extraction": ("pkg.indexing.prepare.extract_unit", is_odd),
    "nodes": ("pkg.indexing.prepare.CodePieces", lambda code: b"class Odd" in code.text),
    "terms": ("pkg.indexing.prepare.extract_terms", lambda reader, fields: any("Odd" in repr(vars(f)) for f in fields)),
    "reading": ("pkg.resolution.program.read_summary", lambda written: b"Odd" in written),
    "members": ("pkg.resolution.program.Program._describe", lambda program, code: is_odd(code.module.path)),
    "calls": ("pkg.resolution.machine.Machine._call", lambda machine, *rest: is_odd(machine.code.module.path)),
    "settling": ("pkg.resolution.site_links._CallLinks.add", lambda links, code, *rest: is_odd(code.module.path)),
    "classes": ("pkg.resolution.site_links.LinkWriter._link_classes", lambda writer, module: is_odd(module.path)),
    "imports": ("pkg.resolution.site_links._ImportLinks._resolve", lambda links, *rest: is_odd(links._module.path)),
    "places": ("pkg.indexing.solved_links.place_links", lambda unit, *rest: is_odd(unit.path)),
    "digest": ("pkg.indexing.solved_links.digest_unit", lambda unit: is_odd(unit.path)),
}  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "repo", FILES)


def break_at(monkeypatch: pytest.MonkeyPatch, name: str, fault: type[Exception] = KeyError) -> None:
    """Make a function fail for arguments of the odd file."""
    target, applies = FAULTS[name]
    holder, _, attribute = target.rpartition(".")
    working = resolve_name(target)

    def fail(*given: Any, **named: Any) -> Any:
        if applies(*given):
            raise fault("boom")
        return working(*given, **named)

    monkeypatch.setattr(resolve_name(holder), attribute, fail)


def fail_always(*_: Any) -> Any:
    raise KeyError("boom")


def list_calls(store: EmbeddedStore) -> set[tuple[str, str]]:
    lines = [json.loads(line) for line in export_lines(store)]
    names = {line["id"]: line["name"] for line in lines if line["type"] == "node" and "name" in line}
    calls = [line for line in lines if line["type"] == "relation" and line["name"] == "CALLS"]
    return {(names.get(line["start"], ""), names.get(line["end"], "")) for line in calls}


def build_afresh(tree: Path, place: Path) -> list[str]:
    with closing(open_graph_at(place)) as fresh:
        build(str(tree), fresh)
        return export_lines(fresh)


def change(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 10**9))


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_one_file_does_not_affect_others(
    name: str, tree: Path, store: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        break_at(broken, name)
        report = build(str(tree), store)
        assert {error.path for error in report.errors} == {"odd.py"}
        assert all("boom" in error.exception and "\n" not in str(error) for error in report.errors)
        assert any("Traceback" in error.trace for error in report.errors)
        assert list_calls(store) >= GOOD_CALLS
        assert store.stats().errors == report.errors
        assert store.stats().nodes["File"] == len(FILES)

        change(tree / "helpers.py", "def help_out(): pass\n\ndef more(): help_out()\n")
        again = build(str(tree), store)
        assert {error.path for error in again.errors} == {"odd.py"}
        assert export_lines(store) == build_afresh(tree, tmp_path / "broken.db")

    change(tree / "odd.py", FILES["odd.py"] + "\nmain()\n")
    assert build(str(tree), store).errors == store.stats().errors == ()
    assert export_lines(store) == build_afresh(tree, tmp_path / "mended.db")


def test_a_fault_in_all_of_resolution_leaves_files_without_links(
    tree: Path, store: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(str(tree), store)
    with monkeypatch.context() as broken:
        broken.setattr("pkg.resolution.classes.Hierarchy.order", fail_always)
        change(tree / "helpers.py", "def help_out(): pass\n\ndef more(): help_out()\n")
        assert [error.stage for error in build(str(tree), store).errors] == ["resolve"]
        assert list_calls(store) == set()
        assert export_lines(store) == build_afresh(tree, tmp_path / "broken.db")
    change(tree / "helpers.py", "def help_out(): pass\n")
    assert build(str(tree), store).errors == ()
    assert export_lines(store) == build_afresh(tree, tmp_path / "mended.db")


def test_an_error_stays_on_record_until_its_file_is_read_again(
    tree: Path, store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        break_at(broken, "extraction")
        errors = build(str(tree), store).errors
    assert build(str(tree), store).errors == errors
    change(tree / "notes.md", "# Other notes\n")
    assert build(str(tree), store).errors == errors
    change(tree / "odd.py", "pass\n")
    assert build(str(tree), store).errors == ()


@pytest.mark.parametrize("name", ["summary", "calls"])
def test_another_version_tries_again(
    name: str, tree: Path, store: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        break_at(broken, name)
        assert build(str(tree), store).errors
    monkeypatch.setattr(local_errors, "find_version", lambda: "99.0")
    assert build(str(tree), store).errors == store.stats().errors == ()
    assert export_lines(store) == build_afresh(tree, tmp_path / "mended.db")


def test_another_version_resolves_again_after_a_complete_failure(
    tree: Path, store: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("pkg.resolution.classes.Hierarchy.order", fail_always)
        assert build(str(tree), store).errors
    monkeypatch.setattr(local_errors, "find_version", lambda: "99.0")
    report = build(str(tree), store)
    assert (report.errors, report.written) == ((), 0)
    assert export_lines(store) == build_afresh(tree, tmp_path / "mended.db")


def test_a_fault_costs_only_one_text_file_or_row(
    tree: Path, store: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pkg.indexing.prepare.extract_text", fail_always)
    assert [error.path for error in build(str(tree), store).errors] == ["notes.md"]
    corpus = tmp_path / "rows.jsonl"
    rows = [{"output": "def f(): pass"}, {"output": "def g(): boom()"}, {"output": "def f(): pass"}]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    find_code = resolve_name("pkg.extract.answers.find_code")
    broken = {True: fail_always, False: find_code}
    monkeypatch.setattr("pkg.extract.answers.find_code", lambda text: broken["boom" in text](text))
    report = build(str(corpus), store)
    assert (len(report.errors), report.written) == (1, 3)
    assert store.stats().nodes["Row"] == len(rows)


@pytest.mark.parametrize("fault", [MemoryError, StoreError, OSError])
@pytest.mark.parametrize("name", ["summary", "calls", "settling"])
def test_a_fault_of_the_store_or_the_machine_ends_the_build(
    name: str, fault: type[Exception], tree: Path, store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_at(monkeypatch, name, fault)
    with pytest.raises(fault):
        build(str(tree), store)
    assert store.stats().nodes["Source"] == 0


def test_a_file_without_a_summary_is_partly_understood(
    tree: Path, store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_at(monkeypatch, "summary")
    build(str(tree), store)
    lines = [json.loads(line) for line in export_lines(store)]
    (odd,) = (line for line in lines if line.get("path") == "odd.py" and line.get("label") == "File")
    assert odd["status"] == Status.PARTIAL
    assert {line["name"] for line in lines if line.get("label") == "Class"} == {"Base", "Odd"}
