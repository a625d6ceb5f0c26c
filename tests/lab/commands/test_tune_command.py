"""`pkg tune` without the packages: usage errors, and the command that installs the extra."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from click.testing import CliRunner

from pkg.cli import main
from pkg.errors import name_install

ROW = '{"question": "q", "answer": "a"}\n'


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text(ROW)
    return "rows.jsonl"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sft", "rows.jsonl", "--out", "o"], "no model; expected --model hf:BASE"),
        (["sft", "rows.jsonl", "--model", "hf:m"], "expected --out FOLDER"),
        (["sft", "rows.jsonl", "--model", "gguf:m", "--out", "o"], "cannot be tuned; expected hf:FOLDER"),
        (["sft", "rows.jsonl", "--model", "hf:m", "--out", "o", "--recipe", "x"], "no recipe 'x'"),
        (["dpo", "rows.jsonl", "--model", "hf:m", "--out", "o", "--recipe", "spyder"], "not for dpo"),
        (["merge", "--model", "hf:m", "--out", "o"], "has no adapter to merge; expected hf:BASE+ADAPTER"),
        (["sft"], "Missing argument"),
    ],
)
def test_a_wrong_call_is_a_usage_error(rows: str, words: list[str], message: str) -> None:
    done = CliRunner().invoke(main, ["tune", *words])
    assert (done.exit_code, message in done.output) == (2, True), done.output


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="the packages are installed")
@pytest.mark.parametrize("more", [["--dry-run"], ["--out", "tuned"]])
def test_without_the_extra_its_command_is_named(rows: str, more: list[str]) -> None:
    done = CliRunner().invoke(main, ["tune", "sft", rows, "--model", "hf:m", *more])
    assert done.exit_code == 1
    assert f"run: {name_install('train')}" in done.output


def test_unusable_rows_are_a_failure(rows: str) -> None:
    done = CliRunner().invoke(main, ["tune", "dpo", rows, "--model", "hf:m", "--out", "o"])
    assert (done.exit_code, "expected rows with prompt, chosen and rejected" in done.output) == (1, True)
