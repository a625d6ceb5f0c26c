"""Asking at the terminal before code is sent to a service."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from toy_models import LetterModel

from pkg.cli import main

pytestmark = pytest.mark.usefixtures("models")


def run(tree: Path, *words: str, answer: str | None = None) -> Result:
    store = f"sqlite:///{tree.parent / 'graph.db'}"
    return CliRunner().invoke(main, ["build", str(tree), "--store", store, *words], input=answer)


def test_without_a_terminal_nothing_is_sent(tree: Path, models: dict[str, LetterModel]) -> None:
    done = run(tree, "--encoder", "far:m")
    assert (done.exit_code, models["far:m"].asked) == (2, [])
    assert "sends code to https://far.example/v1" in done.stderr
    assert "nothing was sent: agree with --yes" in done.stderr


def test_a_flag_agrees_beforehand_and_still_says_what_is_sent(tree: Path, models: dict[str, LetterModel]) -> None:
    done = run(tree, "--encoder", "far:m", "--yes")
    assert done.exit_code == 0
    assert "texts of about" in done.stderr
    assert models["far:m"].asked


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_a_person_is_asked(tree: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int) -> None:
    monkeypatch.setattr("pkg.console.progress.can_ask", lambda: True)
    done = run(tree, "--encoder", "far:m", answer=answer)
    assert done.exit_code == code
    assert "Send it? [y/N]" in done.stderr


def test_the_environment_and_a_file_name_the_encoder(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    (tree / "pkg.toml").write_text('encoder = "toy:m"\n')
    CliRunner().invoke(main, ["trust"])
    run(tree)
    stats = CliRunner().invoke(main, ["stats", "--store", f"sqlite:///{tree.parent / 'graph.db'}"])
    assert '"encoder": "toy:m"' in stats.stdout or '"encoder":"toy:m"' in stats.stdout
    monkeypatch.setenv("PKG_ENCODER", "fake")
    done = run(tree)
    assert "are re-encoded with 'fake'" in done.stderr


def test_a_question_is_asked_with_the_encoder_of_the_graph(tree: Path, models: dict[str, LetterModel]) -> None:
    run(tree, "--encoder", "toy:m")
    done = CliRunner().invoke(main, ["query", "abc", "--store", f"sqlite:///{tree.parent / 'graph.db'}"])
    assert done.exit_code == 0
    assert True in models["toy:m"].queries
