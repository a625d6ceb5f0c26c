from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pkg.errors import PathError
from pkg.extract.discovery import discover
from pkg.extract.files import CLOCK_TICK_NS, decode_source, make_entry, read_file


def change_before_reading(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object], times: int) -> None:
    """Change a file between the moment when its size is taken and the first read."""
    read, remaining = os.read, iter(range(times))

    def read_changed(descriptor: int, size: int) -> bytes:
        if next(remaining, None) is not None:
            change()
        return read(descriptor, size)

    monkeypatch.setattr(os, "read", read_changed)


def test_a_vanished_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    entry = discover(str(tmp_path)).entries[0]
    (tmp_path / "a.py").unlink()
    with pytest.raises(PathError, match=r"a\.py: vanished after it was found; run the build again"):
        entry.read()


def test_a_fifo_that_took_the_place_of_a_file_does_not_block(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    entry = discover(str(tmp_path)).entries[0]
    (tmp_path / "a.py").unlink()
    os.mkfifo(tmp_path / "a.py")
    with pytest.raises(PathError, match=r"not a regular file \(FIFO\)"):
        entry.read()


def test_a_file_that_grew_over_the_cap_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    entry = discover(str(tmp_path), max_file_size=10).entries[0]
    (tmp_path / "a.py").write_text("x" * 11)
    with pytest.raises(PathError, match="larger than"):
        entry.read()


@pytest.mark.parametrize("text", ["", "longer than before"], ids=["shorter", "longer"])
def test_a_file_that_changes_once_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "a.py").write_text("before")
    change_before_reading(monkeypatch, lambda: (tmp_path / "a.py").write_text(text), times=1)
    assert read_file(str(tmp_path / "a.py"), 100) == text.encode()


def test_a_file_that_keeps_changing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "a.py"
    place.write_text("before")
    change_before_reading(monkeypatch, lambda: os.truncate(place, place.stat().st_size + 1), times=2)
    with pytest.raises(PathError, match="changed twice while it was read"):
        read_file(str(place), 100)


def test_a_file_written_just_now_gets_a_fingerprint_that_no_later_one_equals(tmp_path: Path) -> None:
    place = tmp_path / "a.py"
    place.write_text("x = 1\n")
    info = place.stat()
    fresh = make_entry("a.py", str(place), info, 1_000).fingerprint
    time.sleep(2 * CLOCK_TICK_NS / 1e9)
    later = make_entry("a.py", str(place), info, 1_000).fingerprint
    assert (fresh.endswith("-fresh"), later.endswith("-fresh")) == (True, False)
    assert later == make_entry("a.py", str(place), place.stat(), 1_000).fingerprint


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"def one():\r    return 1\r\rtwo = 2\r", b"def one():\n    return 1\n\ntwo = 2\n"),
        (b"one = 1\r\ntwo = 2\rthree = 3\n", b"one = 1\r\ntwo = 2\nthree = 3\n"),
        (b"# coding: latin-1\rname = '\xe9'\r", "# coding: latin-1\nname = 'é'\n".encode()),
        ("one = 1\rtwo = 2".encode("utf-16"), "\ufeffone = 1\ntwo = 2".encode().removeprefix("\ufeff".encode())),
    ],
    ids=["alone", "mixed", "latin-1", "UTF-16"],
)
def test_a_carriage_return_alone_ends_a_line(raw: bytes, text: bytes) -> None:
    assert decode_source(raw)[0] == text
