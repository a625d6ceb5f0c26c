"""Ratings in an append-only file of JSON lines; the last row of a key counts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pkg.errors import InputError, PathError
from pkg.lab.judge.ratings import parse_rating
from pkg.model import Skip

Row = Mapping[str, object]
Key = tuple[str, ...]
State = tuple[int, int, int]

WRITTEN = "create"
"""Kind of a row that is a written pair instead of a rating; its rater is the author."""


def make_key(row: Row) -> Key:
    """Return the key of a row: rater, kind, id and systems; a later row of the same key replaces an earlier one."""
    systems = row.get("systems")
    compared = sorted(map(str, systems)) if isinstance(systems, list) else [str(row.get("system") or "")]
    return (str(row["rater"]), str(row["kind"]), str(row["id"]), *compared)


class RatingsFile:
    """A file of rows, to which other processes may append, too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unreadable: list[Skip] = []
        self._read: State | None = None  # state of the file when the rows were read
        self._rows: dict[Key, Row] = {}

    def read_latest(self) -> dict[Key, Row]:
        """Return the last row of each key, in the order of the first ones.

        Invalid lines are skipped and added to `unreadable`. Raises PathError if the file cannot be read.
        """
        try:
            now = _read_state(self.path)
            if now != self._read:
                self._take(self.path.read_bytes().splitlines())
                self._read = now
        except FileNotFoundError:
            self._take([])
            self._read = None
        except OSError as fault:
            raise PathError(f"cannot read {self.path}: {fault.strerror}; expected a file of ratings") from fault
        return self._rows

    def _keep(self, row: Row, size: int) -> None:
        """Add an appended row to the rows in memory, unless another process has written to the file, too."""
        now = _read_state(self.path)
        if self._read is not None and now[:2] == (self._read[0], self._read[1] + size):
            self._rows[make_key(row)] = row
            self._read = now

    def _take(self, lines: Iterable[bytes]) -> None:
        self._rows, self.unreadable = {}, []
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = _read_row(line)
                self._rows[make_key(row)] = row
            except (ValueError, RecursionError) as fault:
                self.unreadable.append(Skip(f"line {number}", str(fault)))

    def append(self, row: Row) -> None:
        """Append a row and sync it to the disk; raises InputError if it cannot be written."""
        line = json.dumps(dict(row), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            append_line(self.path, line)
            self._keep(row, len(line))
        except OSError as fault:
            raise InputError(
                f"not saved: cannot write {self.path}: {fault.strerror}; free some space or allow it, then save again"
            ) from fault


def _read_state(path: Path) -> State:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read_row(line: bytes) -> Row:
    """Parse a rating or a written pair; raises ValueError for anything else."""
    row: Any = json.loads(line)
    is_written = isinstance(row, dict) and row.get("kind") == WRITTEN and {"id", "rater"} <= row.keys()
    return row if is_written else parse_rating(row).to_json()


def append_line(path: Path, line: bytes) -> None:
    """Append a line to a file and sync it to the disk; terminates an incomplete line of a crash first."""
    is_new = not path.exists()
    with path.open("a+b", buffering=0) as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            line = line if file.read(1) == b"\n" else b"\n" + line
        while line:
            line = line[file.write(line) :]
        os.fsync(file.fileno())
    if is_new:
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # where folders cannot be opened, as on Windows
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
