"""The command line, in separate processes, and in this one for speed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pkg.cli import main

MAIL = '''\
def send_mail(server, message):
    """Send a message through a mail server."""
    for attempt in range(3):
        server.send(message)
        if attempt > 1:
            log_failure(message)


def log_failure(message):
    """Write a failure to the log."""
    print("failed", message)
'''
IN_TERMINAL = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"  # a pseudo-terminal around a command
COMMAND = [sys.executable, "-m", "pkg.cli"]
HOSTILE = "def paint_red(x):\n    return '\x1b[31mred\x1b]0;title\x07 \x9b1m \u202egrün [/bold]'\n"
DATES = '''\
import datetime


def parse_date(text):
    """Parse a date written as year-month-day."""
    year, month, day = text.split("-")
    return datetime.date(int(year), int(month), int(day))
'''


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "post"
    folder.mkdir()
    (folder / "mail.py").write_text(MAIL)
    (folder / "dates.py").write_text(DATES)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'graph.db'}"


@pytest.fixture
def graph(repository: Path, store: str) -> str:
    assert run("build", str(repository), "--store", store).exit_code == 0
    return store


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, list(words), input=stdin)


def read_lines(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_build_reports_its_counts(repository: Path, store: str) -> None:
    (line,) = read_lines(run("build", str(repository), "--store", store))
    assert (line["source"], line["written"], line["changed"], line["skipped"]) == ("post", 2, True, [])
    (again,) = read_lines(run("build", str(repository), "--store", store))
    assert (again["written"], again["unchanged"], again["changed"]) == (0, 2, False)
    assert again["generation"] == line["generation"]


def test_a_query_answers_with_hits_and_a_line_of_coverage(graph: str) -> None:
    hit, *_, coverage = read_lines(
        run("query", "send a message through a mail server", "--mode", "function", "--prune", "none", "--store", graph)
    )
    assert (hit["path"], hit["qualname"], hit["start_line"]) == ("mail.py", "send_mail", 1)
    assert hit["content"] == MAIL.partition("\n\n\n")[0]
    assert coverage == {
        "type": "coverage", "searched": 3, "filtered": 0, "folded": 0, "shown": 3, "over_budget": 0, "notes": [],
        "calls_bound": 1, "calls_possible": 0, "calls_unbound": 2, "without_code": 0, "same_function": 0,
        "fits": True, "stale": [],
    }  # fmt: skip


def test_a_hit_has_the_function_that_it_calls(graph: str) -> None:
    hit, _ = read_lines(run("query", "log a failure of attempt", "--kind", "if", "--store", graph))
    assert [helper["qualname"] for helper in hit["helpers"]] == ["log_failure"]  # type: ignore[attr-defined]
    alone, _ = read_lines(run("query", "log a failure of attempt", "--kind", "if", "--hops", "0", "--store", graph))
    assert alone["helpers"] == []


def test_filters_narrow_the_search(graph: str) -> None:
    hits = read_lines(run("query", "date", "--path", "mail*", "-k", "9", "--mode", "both", "--store", graph))[:-1]
    assert {hit["path"] for hit in hits} == {"mail.py"}


def test_explain_lists_the_decisions(graph: str) -> None:
    *_, coverage = read_lines(run("query", "send mail", "--explain", "--store", graph))
    assert any("score" in line for line in coverage["explain"])  # type: ignore[attr-defined]


def test_prompt_writes_the_augmented_prompt(graph: str) -> None:
    result = run("query", "parse a date", "--mode", "function", "--prompt", "--store", graph)
    assert result.exit_code == 0
    assert "parse a date" in result.stdout
    assert "helper code 1:" in result.stdout
    assert "def parse_date(text):" in result.stdout


STRANGE = "bake two chocolate cakes without any eggs"


def test_a_question_that_nothing_fits_is_reported_in_every_format(graph: str) -> None:
    hit, *_, coverage = read_lines(run("query", STRANGE, "--store", graph))
    assert (hit["fits"], coverage["fits"]) == (False, False)
    assert "nothing fits: the best candidate holds 0%" in str(coverage["notes"])
    assert "nothing fits; nearest, unlikely to help:\n1. " in run_in_terminal("query", STRANGE, "--store", graph)
    prompt = run("query", STRANGE, "--prompt", "--store", graph)
    assert "helper" not in prompt.stdout
    assert prompt.stderr.startswith("pkg: the prompt shows no code: nothing fits")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([STRANGE], 0),
        ([STRANGE, "--exit-code"], 3),
        ([STRANGE, "--exit-code", "--no-floor"], 0),
        (["кулебяка", "--exit-code"], 3),
        (["кулебяка"], 1),
        (["parse a date", "--exit-code"], 0),
        (["parse a date", "--exit-code", "--path", "nowhere/*"], 1),
        (["parse a date", "--exit-code", "--generate", "--model", "gguf:none"], 2),
    ],
)
def test_the_exit_code_reports_that_nothing_fits(graph: str, words: list[str], code: int) -> None:
    assert run("query", *words, "--store", graph).exit_code == code


def test_a_question_can_come_from_standard_input_and_be_a_megabyte_long(graph: str) -> None:
    hit, *_ = read_lines(run("query", "-", "--mode", "function", "--store", graph, stdin="parse a date " * 80_000))
    assert hit["qualname"] == "parse_date"


def test_rows_can_come_from_standard_input(store: str) -> None:
    rows = json.dumps(
        {"instruction": "double", "input": "", "output": "```python\ndef double(x):\n    return 2 * x\n```"}
    )
    (line,) = read_lines(run("build", "-", "--source", "rows", "--store", store, stdin=rows + "\n"))
    assert line["written"] == 1
    hit, _ = read_lines(run("query", "double", "--mode", "function", "--store", store))
    assert (hit["qualname"], hit["start_line"], hit["source"]) == ("double", 2, "rows")


def test_stop_words_alone_still_give_k_hits(graph: str) -> None:
    assert len(read_lines(run("query", "the of a to", "-k", "3", "--mode", "function", "--store", graph))) == 4


def test_a_huge_k_gives_all_that_exist(graph: str) -> None:
    assert len(read_lines(run("query", "mail", "-k", "1000000000", "--mode", "function", "--store", graph))) == 4


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["query", ""], 1, "the question is empty"),
        (["query", "  \n "], 1, "the question is empty"),
        (["query", "?!"], 1, "no word of the question"),
        (["query", "x", "-k", "0"], 2, "0 is not in the range"),
        (["query", "x", "--mode", "line"], 2, "'line' is not one of"),
        (["query", "x", "--kind", "if", "--mode", "function"], 2, "narrow blocks"),
        (["query", "x", "--source", "nope"], 1, "sources that are there: post; name one, or run: pkg build PATH"),
        (["build", "nowhere"], 1, "no such file or folder: nowhere"),
        (["build", "nowhere.jsonl"], 1, "no such file: nowhere.jsonl"),
        (["build", "post", "--remove", "--from-export"], 2, "exclude each other"),
        (["build", "nope", "--remove"], 2, "no source 'nope'"),
    ],
)
def test_bad_input_is_one_line_and_an_exit_code(graph: str, words: list[str], code: int, said: str) -> None:
    result = run(*words, "--store", graph)
    assert result.exit_code == code
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["query", "parse"],
        ["query", "parse", "--exit-code"],
        ["query", "parse", "--mode", "file"],
        ["explore", "parse"],
        ["show", "parse"],
        ["outline"],
        ["deps", "parse"],
        ["deps", "--unused"],
        ["impact", "parse"],
        ["impact", "--diff", "HEAD"],
    ],
)
def test_a_graph_without_code_is_a_failure_of_every_question(repository: Path, store: str, words: list[str]) -> None:
    run("build", str(repository), "--store", store)
    run("build", "--remove", repository.name, "--store", store)
    result = run(*words, "--store", store)
    assert result.exit_code == 1
    assert f"the graph {store} holds no code; run: pkg build PATH" in result.stderr


def test_a_missing_store_is_reported_with_the_command_to_build_it(store: str) -> None:
    result = run("query", "x", "--store", store)
    assert result.exit_code == 1
    assert f"no graph at {store}; run: pkg build PATH" in result.stderr


def test_a_store_address_of_another_kind_is_refused() -> None:
    result = run("stats", "--store", "redis://localhost")
    assert (result.exit_code, "expected sqlite:///" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["stats", "--store", "sqlite:///graph.db", "--database", "code"], "--database code does not fit the store"),
        (["stats", "--store", "bolt://localhost/a", "--database", "b"], "names the database 'a' and --database names"),
        (["verify"], "expected two stores to compare, seen 0"),
        (["verify", "--store", "sqlite:///graph.db"], "expected two stores to compare, seen 1"),
        (["verify", *["--store", "sqlite:///graph.db"] * 2, "--database", "code"], "fits neither store"),
    ],
)
def test_a_contradictory_store_address_is_wrong_use(words: list[str], said: str) -> None:
    result = run(*words)
    assert (result.exit_code, said in result.stderr) == (2, True)


@pytest.mark.parametrize("address", ["bolt://localhost:1/code", "bolt://localhost:1", "bolt://localhost:1/"])
def test_a_database_becomes_part_of_the_address(address: str) -> None:
    result = run("stats", "--store", address, "--database", "code")
    assert (result.exit_code, "cannot reach bolt://localhost:1/code" in result.stderr) == (1, True)


def test_a_database_in_the_environment_does_not_affect_a_file(graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKG_NEO4J_DATABASE", "code")
    assert read_lines(run("stats", "--store", graph))[0]["generation"] == 1


def test_an_unencrypted_remote_server_prints_one_warning() -> None:
    done = subprocess.run([*COMMAND, "stats", "--store", "bolt://0.0.0.0:1"], capture_output=True, text=True)
    warning, error = done.stderr.splitlines()
    assert warning.startswith("pkg: warning: bolt://0.0.0.0:1 is not this machine and the connection is not encrypted")
    assert (done.returncode, error.startswith("pkg: cannot reach bolt://0.0.0.0:1")) == (1, True)


def test_equal_stores_verify_and_others_do_not(graph: str, repository: Path, tmp_path: Path) -> None:
    other = f"sqlite:///{tmp_path / 'other.db'}"
    assert run("build", str(repository), "--store", other).exit_code == 0
    (summary,) = read_lines(run("verify", "--store", graph, "--store", other, "--vectors"))
    assert (summary["equal"], summary["different"]) == (True, 0)
    (repository / "mail.py").write_text(MAIL.replace("failed", "lost"))
    assert run("build", str(repository), "--store", other).exit_code == 0
    result = run("verify", "--store", graph, "--store", other)
    *differences, summary = map(json.loads, result.stdout.splitlines())
    assert (result.exit_code, summary["equal"], summary["different"]) == (1, False, len(differences))
    assert {each["path"] for each in differences} == {"mail.py"}


def test_text_lists_differences_and_their_places(graph: str, tmp_path: Path) -> None:
    assert "no difference between A" in run_in_terminal("verify", "--store", graph, "--store", graph)
    full = f"sqlite:///{tmp_path / 'full.db'}"
    assert run("build", "post", "--remove", "--store", graph).exit_code == 0
    assert run("build", str(tmp_path / "post"), "--store", full).exit_code == 0
    text = run_in_terminal("verify", "--store", graph, "--store", full, code=1)
    assert "Function" in text
    assert "only in B" in text
    assert "differences between A" in text


def test_debug_shows_the_trace(graph: str) -> None:
    result = CliRunner().invoke(main, ["--debug", "query", "", "--store", graph])
    assert result.exception is not None
    assert type(result.exception).__name__ == "QueryError"


def test_stats_count_what_export_writes(graph: str) -> None:
    (stats,) = read_lines(run("stats", "--store", graph))
    lines = read_lines(run("export", "--store", graph))
    labels = [line["label"] for line in lines if line["type"] == "node"]
    assert stats["nodes"] == {label: labels.count(label) for label in sorted(set(labels))}  # type: ignore[type-var]
    assert set(stats["stages"]["post"]) >= {"discover", "extract", "encode", "store"}  # type: ignore[index]
    shown = run("stats", "--store", graph, "--no-json").stdout
    assert "CPU-seconds, 2 calls could not be resolved; see --explain\n" in shown
    assert "stage of post" not in shown
    assert "stage of post" in run("stats", "--store", graph, "--no-json", "--explain").stdout


def test_an_export_builds_the_same_graph_again(graph: str, tmp_path: Path) -> None:
    first = run("export", "--store", graph).stdout
    other = f"sqlite:///{tmp_path / 'other.db'}"
    (tmp_path / "graph.jsonl").write_text(first)
    assert run("build", str(tmp_path / "graph.jsonl"), "--from-export", "--store", other).exit_code == 0
    assert run("export", "--store", other).stdout == first
    third = f"sqlite:///{tmp_path / 'third.db'}"
    assert run("build", "-", "--from-export", "--store", third, stdin=first).exit_code == 0
    assert run("export", "--store", third).stdout == first


@pytest.mark.parametrize("text", ["", "hello\n", '{"type": "node"}\n', '{"type": "graph", "version": 99}\n'])
def test_a_file_that_is_not_an_export_is_refused(tmp_path: Path, store: str, text: str) -> None:
    (tmp_path / "broken.jsonl").write_text(text)
    result = run("build", str(tmp_path / "broken.jsonl"), "--from-export", "--store", store)
    assert (result.exit_code, "export" in result.stderr) == (1, True)


def test_a_source_can_be_removed(graph: str) -> None:
    (line,) = read_lines(run("build", "post", "--remove", "--store", graph))
    assert line["removed"] == 2
    (stats,) = read_lines(run("stats", "--store", graph))
    assert stats["nodes"] == {"Source": 0}


def test_the_doctor_finds_a_sound_store_and_a_broken_one(graph: str, tmp_path: Path) -> None:
    findings = {line["name"]: line["state"] for line in read_lines(run("doctor", "--store", graph))}
    assert (findings["store"], findings["encoder"], findings["sqlite"]) == ("ok", "ok", "ok")
    assert {"git", "bubblewrap", "docker", "java", "neo4j server"} <= findings.keys()
    (tmp_path / "broken.db").write_bytes(b"not a database at all" * 100)
    result = run("doctor", "--store", f"sqlite:///{tmp_path / 'broken.db'}")
    assert (result.exit_code, "is damaged or not a PKG store" in result.stdout) == (1, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_command(shell: str) -> None:
    result = run("completion", shell)
    assert (result.exit_code, "_PKG_COMPLETE" in result.stdout) == (0, True)


def test_settings_come_from_flags_then_environment_then_file(
    graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pkg.toml").write_text(f'mode = "function"\ntop_k = 3\nstore = "{graph}"\n')
    run("trust")
    assert len(read_lines(run("query", "mail"))) == 4
    monkeypatch.setenv("PKG_TOP_K", "2")
    assert len(read_lines(run("query", "mail"))) == 3
    assert len(read_lines(run("query", "mail", "-k", "1"))) == 2
    (tmp_path / "pkg.toml").write_text("colour = 1\n")
    assert run("query", "mail").exit_code == 2


def run_in_terminal(*words: str, code: int = 0, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", IN_TERMINAL, *COMMAND, *words],
        env=os.environ | {"NO_COLOR": "1", "PKG_JSON": "0", "TERM": "dumb", "COLUMNS": "120"} | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    assert done.returncode == code, done.stdout
    return done.stdout.decode().replace("\r\n", "\n")


def test_text_has_places_code_and_coverage(graph: str) -> None:
    words = "query", "send a message", "--mode", "function", "--store", graph
    text = run_in_terminal(*words)
    assert "1. mail.py:1  function send_mail" in text
    assert "     1 def send_mail(server, message):" in text
    assert "searched" not in text
    assert run_in_terminal(*words, "-k", "1").endswith("\nbest 1 of 3 shown; see --top-k\n")
    assert "\n3 searched, 0 filtered out, 0 duplicates left out, 3 shown, 0 over budget\n" in run_in_terminal(
        *words, "--explain"
    )


def test_text_names_the_function_of_a_block_and_its_summary(graph: str) -> None:
    text = run_in_terminal("query", "send a message", "--kind", "for", "--store", graph)
    head = "       def send_mail(server, message):\n       Send a message through a mail server.\n     3 for attempt"
    assert "1. mail.py:3  for block in send_mail  " in text
    assert head in text


def test_a_hit_over_the_budget_is_listed_without_code(graph: str) -> None:
    words = "query", "send a message", "--mode", "function", "-k", "2", "--budget", "1", "--store", graph
    text = run_in_terminal(*words)
    assert "2. mail.py:9  function log_failure" in text
    assert "       def log_failure(message):\n       Write a failure to the log.\n" in text
    assert "1 of 2 hits are listed without code: the budget of 1 tokens has no room for it" in text
    prompt = run(*words, "--prompt").stdout
    assert "# mail.py:9-11 log_failure\n# def log_failure(message):\n# Write a failure to the log.\n```" in prompt


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["  "], "pkg: the question is empty; expected a few words on what the code does, or a piece of code"),
        (["date", "--path", "mial.py"], "pkg: no file matches the path 'mial.py'; expected a glob on the whole path"),
        (["как испечь пирог"], "pkg: no word of the question 'как испечь пирог' occurs in the code or is known to"),
        (["\x1b[\x9b"], "pkg: no word of the question '\\x1b[\\x9b' occurs in the code"),
        (["date", "--path", ""], "pkg: a path is empty; expected a glob such as 'shop/*'"),
    ],
)
def test_an_invalid_question_is_refused_with_advice(graph: str, words: list[str], message: str) -> None:
    result = run("query", *words, "--store", graph)

    assert result.exit_code == (2 if "path is empty" in message else 1)
    assert result.stderr.startswith(message)
    assert not {"\x1b", "\x9b"} & set(result.stderr)


@pytest.fixture
def hostile(tmp_path: Path, store: str) -> str:
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / "[bold]\x1b[1m.py").write_text(HOSTILE, "utf-8")
    assert run("build", str(folder), "--source", "[/]\x1b[31m", "--store", store).exit_code == 0
    return store


@pytest.mark.parametrize(
    "words",
    [
        ["query", "paint red"],
        ["query", "paint red", "--explain"],
        ["query", "paint red", "--prompt"],
        ["stats"],
        ["query", "paint red \x1b[1m \x9b", "--prompt"],
        ["query", "paint red", "--json"],
    ],
)
def test_analysed_code_and_names_cannot_control_the_terminal(hostile: str, words: list[str]) -> None:
    text = run_in_terminal(*words, "--store", hostile)
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)
    assert (
        ("[/]\\x1b[31m" in text)
        or ("[/]\\u001b[31m" in text)
        or "'\\x1b[31mred\\x1b]0;title\\x07 \\x9b1m \\u202egrün [/bold]'" in text
    )


def test_an_error_spells_the_controls_of_a_name(hostile: str) -> None:
    told = run("query", "x", "--source", "a\x1b[1m", "--store", hostile).stderr
    assert "no source 'a\\x1b[1m' in" in told
    assert "sources that are there: [/]\\x1b[31m;" in told


def test_a_build_in_a_terminal_shows_any_source_name(repository: Path, store: str) -> None:
    assert "[/]: 2 read" in run_in_terminal("build", str(repository), "--source", "[/]", "--store", store)


def test_a_terminal_of_a_poor_encoding_gets_escapes(hostile: str) -> None:
    text = run_in_terminal("query", "paint red", "--store", hostile, PYTHONIOENCODING="ascii")
    assert "gr\\xfcn" in text


def test_a_question_in_bytes_that_are_not_of_the_encoding_is_read_as_utf_8(hostile: str) -> None:
    result = subprocess.run(
        [*COMMAND, "query", "-", "--store", hostile],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        input="grün \udcff".encode("utf-8", "surrogateescape"),
        capture_output=True,
        check=True,
    )
    assert json.loads(result.stdout.splitlines()[0])["qualname"] == "paint_red"


def test_arguments_that_are_not_utf_8_end_without_a_traceback(repository: Path, store: str) -> None:
    (line,) = read_lines(run("build", str(repository), "--source", "s\udcff", "--store", store))
    assert line["source"] == "s\ufffd"
    assert "no file matches the path '\ufffd*'" in run("query", "mail", "--path", "\udcff*", "--store", store).stderr
    assert read_lines(run("build", "s\udcff", "--remove", "--store", store))[0]["removed"] == 2


@pytest.mark.parametrize("words", [["query", "mail"], ["query", "mail", "--prompt"], ["stats"], ["export"], ["--help"]])
def test_a_full_disk_is_a_failure_with_a_message(graph: str, words: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, *words], env=os.environ | {"PKG_STORE": graph}, stdout=full, stderr=subprocess.PIPE
        )
    assert (done.returncode, done.stderr.decode()) == (
        1, "pkg: cannot write the output: No space left on device; free some space, or write elsewhere\n",
    )  # fmt: skip


def test_closed_streams_are_empty_ones(graph: str) -> None:
    line = f"'{sys.executable}' -m pkg.cli query - --store '{graph}' <&- >&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True)
    assert (done.returncode, b"the question is empty" in done.stderr) == (1, True)


def test_a_deleted_folder_has_no_settings(graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert read_lines(run("stats", "--store", graph))[0]["generation"] == 1


def test_an_export_never_replaces_its_own_store(graph: str) -> None:
    result = run("export", "--store", graph, "--output", graph.removeprefix("sqlite:///"))
    assert (result.exit_code, "is the store" in result.stderr) == (2, True)
    assert read_lines(run("stats", "--store", graph))[0]["nodes"]


def test_browser_prints_the_address_and_the_saved_queries() -> None:
    done = run("browser", "--store", "neo4j://shop.example")
    assert done.exit_code == 0
    assert "http://shop.example:7474/browser/" in done.stdout
    assert "function-blocks" in done.stdout


def test_browser_needs_a_server(store: str) -> None:
    done = run("browser", "--store", store)
    assert done.exit_code == 1
    assert "expected" in done.stderr


def test_browser_writes_its_queries_and_colours_into_a_folder(tmp_path: Path) -> None:
    assert run("browser", "--export", str(tmp_path / "guide")).exit_code == 0
    assert (tmp_path / "guide" / "style.grass").read_text().startswith("node")


def test_ctrl_c_in_a_callback_of_python_ends_the_command_too(
    repository: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Held:
        pass

    def interrupt(_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    def lose_interrupt(*_: object) -> None:
        held = Held()
        finalizer = weakref.ref(held, interrupt)  # Python only reports an exception here
        del held
        assert finalizer() is None
        time.sleep(5)
        raise AssertionError("nothing has interrupted the build")

    monkeypatch.setattr("pkg.commands.build.run_build", lose_interrupt)
    result = run("build", str(repository), "--store", store)
    assert result.exit_code == 130, result.stderr
    assert result.stderr.startswith("pkg: interrupted; the graph is whole")


def test_a_pipe_gets_text_on_request(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def find_price(cart):\n    return cart.price\n")
    store = f"sqlite:///{tmp_path}/graph.db"
    built = CliRunner().invoke(main, ["build", str(tmp_path / "a.py"), "--store", store, "--no-json"])
    assert built.stdout.startswith("a: 1 read")
    asked = CliRunner().invoke(main, ["query", "find the price of a cart", "--store", store, "--no-json"])
    assert "1. a.py:" in asked.stdout
    assert json.loads(CliRunner().invoke(main, ["stats", "--store", store]).stdout)["type"] == "stats"


def test_stale_files_are_reported_on_standard_error_with_the_remedy(repository: Path, graph: str) -> None:
    (repository / "mail.py").write_text(MAIL + "# changed\n")
    (repository / "dates.py").unlink()
    result = run("query", "send a message through a mail server", "--mode", "function", "--store", graph)
    command = f"give --fresh, or run: pkg build {repository} --source post"
    assert result.stderr == f"pkg: stale: since post was built, dates.py is gone, mail.py changed; {command}\n"
    *hits, coverage = read_lines(result)
    assert all(hit["is_stale"] for hit in hits)
    assert [each["path"] for each in coverage["stale"]] == ["dates.py", "mail.py"]  # type: ignore[attr-defined]
    result = run("deps", "send_mail", "--store", graph, "--format", "tree")
    assert "mail.py:1  send_mail  stale" in result.stdout
    assert "mail.py changed" in result.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [(("query", "send a mail", "--mode", "function"), "start_line"), (("deps", "send_mail"), "line")],
)
def test_fresh_builds_before_it_answers(repository: Path, graph: str, words: tuple[str, ...], line: str) -> None:
    (repository / "mail.py").write_text("# moved by a line\n" + MAIL)
    result = run(*words, "--fresh", "--store", graph)
    assert result.stderr == "pkg: post: 1 read, 1 unchanged\n"
    first, *_, coverage = read_lines(result)
    assert (first[line], coverage["stale"]) == (2, [])


def test_fresh_reports_sources_that_cannot_be_read(repository: Path, graph: str) -> None:
    repository.rename(repository.with_name("letters"))
    result = run("query", "send a mail", "--fresh", "--store", graph)
    assert result.exit_code == 0
    first, second = result.stderr.splitlines()
    assert first.startswith(f"pkg: not brought up to date: post: no such file or folder: {repository}")
    assert second.startswith(f"pkg: stale: {repository}, from which post was built, is gone")
