"""The source of a command: the named one, else the one of the current folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from trees import write_tree

import pkg
from pkg.cli import main


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    for name in ("tea", "coffee"):
        code = f"def brew():\n    return {name}()\n\n\ndef {name}():\n    return 1\n"
        pkg.build_graph(write_tree(folder / name, {f"{name}.py": code}), store=f"sqlite:///{folder}/graph.db")
    return folder


def run(place: Path, *words: str) -> tuple[list[dict[str, object]], str]:
    result = CliRunner().invoke(main, [*words, "--store", f"sqlite:///{place}/graph.db", "--json"])
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()], result.stderr


TOLD = "pkg: about tea, in whose folder you are; --source all asks about all 2 sources\n"


@pytest.mark.parametrize(
    "words", [("deps", "brew"), ("impact", "tea"), ("show", "brew"), ("outline",), ("map",), ("deps", "--unused")]
)
def test_a_command_asks_about_the_source_in_whose_folder_it_runs(
    place: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(place / "tea")
    lines, told = run(place, *words)
    assert told == TOLD
    assert "coffee" not in json.dumps(lines)


@pytest.mark.parametrize("words", [("query", "brew"), ("explore", "brew"), ("ask", "what calls brew")])
def test_a_question_in_words_is_about_that_source_too(
    place: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(place / "tea")
    lines, told = run(place, *words)
    assert TOLD in told
    assert "coffee.py" not in json.dumps(lines)
    lines, told = run(place, *words, "--source", "all")
    assert TOLD not in told
    assert "coffee.py" in json.dumps(lines)


def test_elsewhere_and_where_one_is_named_nothing_is_chosen(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place / "tea")
    lines, told = run(place, "deps", "coffee", "--source", "coffee")
    assert (lines[0]["source"], told) == ("coffee", "")
    monkeypatch.chdir(place)
    lines, told = run(place, "deps", "--unused")
    assert ({each.get("source") for each in lines[:-1]}, told) == ({"coffee", "tea"}, "")
