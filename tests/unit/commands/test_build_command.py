"""Reports of internal errors by `pkg build` and `pkg stats`, with --strict and --debug."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tree_sitter import Node
from trees import write_tree

from pkg.cli import main
from pkg.extract.summary.file_summary import summarise


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Break the summary of one file of two; return the arguments that build both."""
    tree = write_tree(tmp_path / "repo", {"a.py": "def work(): pass\n", "b.py": "def boom(): pass\n"})

    def fail(root: Node, *rest: Any) -> bytes:
        if b"boom" in (root.text or b""):
            raise KeyError("odd")
        return summarise(root, *rest)

    monkeypatch.setattr("pkg.extract.python.summarise", fail)
    return ["build", str(tree), "--jobs", "1", "--store", f"sqlite:///{tmp_path / 'graph.db'}"]


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def test_the_summary_counts_internal_errors_and_names_them(words: list[str]) -> None:
    result = run(*words, "--no-json")
    assert result.exit_code == 0
    assert ": 2 read, 1 not fully parsed, 1 internal error" in result.stdout
    assert "b.py: extract: KeyError: 'odd'" in " ".join(result.stdout.split())
    assert "Traceback" not in result.output


def test_strict_ends_with_1_and_stores_everything_else(words: list[str]) -> None:
    result = run(*words, "--strict")
    assert result.exit_code == 1
    assert "pkg: 1 internal error, and --strict was given; everything else is stored" in result.stderr
    assert json.loads(result.stdout)["errors"][0]["path"] == "b.py"
    stats = json.loads(run("stats", *words[-2:]).stdout)
    assert stats["nodes"]["Function"] == 2
    assert [error["stage"] for error in stats["errors"]] == ["extract"]
    assert "trace" not in stats["errors"][0]
    assert run(*words, "--strict").exit_code == 1  # nothing is read again, and the error is still there


def test_debug_shows_the_trace(words: list[str]) -> None:
    result = run("--debug", *words)
    assert (result.exit_code, "Traceback (most recent call last)" in result.stderr) == (0, True)


def test_stats_lists_internal_errors_in_a_table(words: list[str]) -> None:
    run(*words)
    shown = run("stats", *words[-2:], "--no-json").stdout
    assert "1 internal error in" in shown
    assert "KeyError" in shown


def test_strict_without_errors_is_a_success(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "repo", {"a.py": "def work(): pass\n"})
    assert run("build", str(tree), "--strict", "--store", f"sqlite:///{tmp_path / 'graph.db'}").exit_code == 0


def test_strict_and_watch_exclude_each_other(words: list[str]) -> None:
    result = run(*words, "--strict", "--watch")
    assert (result.exit_code, "--strict excludes --watch" in result.stderr) == (2, True)


def test_stats_lists_places_with_too_many_values(tmp_path: Path) -> None:
    kinds = "".join(f"class K{i}:\n    def run(self): pass\na(K{i}())\n" for i in range(12))
    tree = write_tree(tmp_path / "repo", {"main.py": f"def a(x): b(x)\ndef b(y): y.run()\n{kinds}"})
    store = ["--store", f"sqlite:///{tmp_path / 'graph.db'}"]
    run("build", str(tree), "--jobs", "1", *store)
    assert json.loads(run("stats", *store).stdout)["overflows"] == [{"variable": "parameter x of a", "calls": 1}]
    assert "parameter x of a" in run("stats", "--no-json", "--explain", *store).stdout


def test_the_first_build_of_each_source_suggests_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first", "second"):
        write_tree(tmp_path / name, {"a.py": "def work(): pass\n"})
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    lines = [run("build", str(tmp_path / name), "--store", store, "--no-json").stdout for name in ("first", "second")]
    suggested = [line.partition("you look for")[2].strip() for line in "".join(lines).splitlines() if "next:" in line]
    assert suggested == [f'" --store {store}', f'" --store {store} --source second']

    monkeypatch.chdir(tmp_path / "second")
    assert "next:" not in run("build", ".", "--store", store, "--no-json").stdout
    run("build", "second", "--remove", "--store", store)
    assert run("build", ".", "--store", store, "--no-json").stdout.endswith(f'" --store {store}\n')
