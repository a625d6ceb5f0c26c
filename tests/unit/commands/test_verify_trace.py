"""A trace as JSON lines and as tables, by the command and by the Python interface."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console
from traced import make_traced_store

from pkg.api import open_graph
from pkg.cli import main
from pkg.commands.verify import view_trace

COMMAND = shlex.join([sys.executable, "-m", "app.main"])


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with closing(make_traced_store(folder, tmp_path / "graph.db")) as store:
        return store.address


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["verify", *words])


def test_the_command_writes_differences_and_then_the_numbers(store: str) -> None:
    result = run("--trace", COMMAND, "--store", store)
    assert result.exit_code == 0, result.output
    *lines, last = map(json.loads, result.stdout.splitlines())
    assert [(each["type"], each["line"]) for each in lines] == [
        ("missed", 9), ("missed", 14), ("unseen", 16), ("unseen", 10),
    ]  # fmt: skip
    assert (last["type"], last["source"], last["exit_code"], last["command"]) == ("trace", "shop", 0, COMMAND)
    assert [each["name"] for each in last["precision"]] == ["certain", "likely", "possible"]
    assert last["missed_reasons"]["expression that is not followed"] == 1


def test_the_output_of_the_traced_command_goes_to_standard_error(store: str, capfd: pytest.CaptureFixture[str]) -> None:
    words = [sys.executable, "-c", "import app.main; print('four tests passed')"]
    with open_graph(store) as graph:
        assert graph.trace(shlex.join(words)).processes == 1
    written = capfd.readouterr()
    assert (written.out, written.err) == ("", "four tests passed\n")


def test_text_has_tables_with_shares(store: str) -> None:
    console = Console(width=160, file=StringIO())
    with open_graph(store) as graph:
        for part in view_trace(graph.trace(COMMAND, source="shop")):
            console.print(part)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "app/main.py:9 main -> app/core.py Fast.__len__" in text
    assert "the command ended with exit code 0; 1 processes traced" in text


def test_the_store_of_the_environment_is_traced(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKG_STORE", store)
    assert run("--trace", COMMAND).exit_code == 0


def test_nothing_traced_is_a_failure(store: str) -> None:
    result = run("--trace", f"{shlex.quote(sys.executable)} -c pass", "--store", store)
    assert (result.exit_code, "no call between functions" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--trace", "python", "--vectors"], "--trace compares calls"),
        (["--trace", "python", "--store", "sqlite:///a.db", "--store", "sqlite:///b.db"], "expected one store"),
        (["--source", "shop", "--store", "sqlite:///a.db", "--store", "sqlite:///b.db"], "--source narrows --trace"),
        (["--trace", "'"], "balanced quotes"),
    ],
)
def test_options_that_do_not_fit_are_wrong_use(store: str, words: list[str], said: str) -> None:
    result = run(*words, *(["--store", store] if words == ["--trace", "'"] else []))
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
