"""The progress bar: first reading, then indexing; it is erased at the end."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from pkg.console.progress import ProgressBar


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")


def read_plain(capsys: pytest.CaptureFixture[str]) -> str:
    shown = capsys.readouterr()
    assert shown.out == ""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.err)


def test_reading_and_then_indexing_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with closing(ProgressBar()) as bar:
        bar.read(1_000, 2_000)
        bar.enter("resolving calls and imports")
        bar.watch("pkg_block_vector", 40.0)
    text = read_plain(capsys)
    assert text.index("1.0/2.0 kB") < text.index("resolving calls") < text.index("indexing pkg_block_vector")
    assert " 40%" in text


def test_the_tasks_that_were_ranked_and_left_out_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with closing(ProgressBar()) as bar:
        bar.rank(1_233, 0)
        bar.rank(1_234, 5)
    assert "1,234 ranked, 5 left out" in read_plain(capsys)


def test_nothing_is_shown_before_there_is_something_to_tell(capsys: pytest.CaptureFixture[str]) -> None:
    ProgressBar().close()
    assert read_plain(capsys) == ""
