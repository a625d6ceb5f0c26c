"""Ratings in an append-only file of JSON lines, of which the last row of a key counts, and their summary (Q-03)."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import Any

from pkg.errors import InputError, PathError
from pkg.lab.judge.ratings import parse_rating
from pkg.model import Skip

Row = Mapping[str, object]
Key = tuple[str, ...]
State = tuple[int, int, int]

WRITTEN = "create"
"""Kind of a row that is a written pair instead of a rating; its rater is the author."""

DROP_BELOW, KEEP_ABOVE = 3, 5
"""The paper's thresholds on the scale from 0 to 10: lower scores are dropped, up to the second curated by hand."""


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


def summarise_ratings(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield a line for all ratings, and one for each system, each two compared systems, and each pair.

    The score of a pair is the mean of both sliders over all raters; a pair that is marked as bad code is dropped.
    """
    rows = list(rows)
    pairs = _group(rows, "pair", lambda row: str(row["id"]))
    decided = [_decide(name, pairs[name]) for name in sorted(pairs)]
    yield {
        "type": "summary",
        "ratings": len(rows),
        "raters": dict(sorted(Counter(str(row["rater"]) for row in rows).items())),
        "kinds": dict(sorted(Counter(str(row["kind"]) for row in rows).items())),
        "minutes": round(sum(_number(row.get("seconds")) or 0.0 for row in rows) / 60, 1),
        "bad_code": sum(row.get("bad_code") is True for row in rows),
        "means": _mean_ratings(row for row in rows if row["kind"] == "pair"),
        "decisions": dict(Counter(line["decision"] for line in decided)),
    }
    graded = _group(rows, "grade", lambda row: str(row.get("system")))
    for system in sorted(graded):
        yield {"type": "system", "system": system, "ratings": len(graded[system]), **_mean_ratings(graded[system])}
    yield from _count_choices(rows)
    yield from decided


def _group(rows: Iterable[Row], kind: str, name: Any) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["kind"] == kind:
            found[name(row)].append(row)
    return found


def _decide(name: str, rows: list[Row]) -> dict[str, Any]:
    """Return the line of one pair, with its decision."""
    means = _mean_ratings(rows)
    score = round(fmean(means.values()), 2) if means else None
    is_bad = any(row.get("bad_code") is True for row in rows)
    is_dropped = is_bad or score is None or score < DROP_BELOW
    kept = "keep" if score is not None and score > KEEP_ABOVE else "curate"
    line = {"type": "pair", "id": name, "raters": len(rows), **means, "score": score}
    return {**line, "bad_code": is_bad, "decision": "drop" if is_dropped else kept}


def _mean_ratings(rows: Iterable[Row]) -> dict[str, float]:
    """Return the mean of each slider over the rows that have it."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        ratings = row.get("ratings")
        for name, value in ratings.items() if isinstance(ratings, Mapping) else ():
            if (number := _number(value)) is not None:
                found[str(name)].append(number)
    return {name: round(fmean(values), 2) for name, values in sorted(found.items())}


def _count_choices(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield the choices between each two systems, independent of side, and the number of choices of the left side."""
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if row["kind"] == "pairwise":
            groups[tuple(sorted(_list_systems(row)))].append(row)
    for systems, found in sorted(groups.items()):
        verdicts = Counter(str(row["verdict"]) for row in found)
        chosen = Counter(
            _list_systems(row)["AB".index(row["verdict"])] for row in found if row["verdict"] in ("A", "B")
        )
        yield {
            "type": "pairwise",
            "systems": list(systems),
            "ratings": len(found),
            "chosen": {system: chosen[system] for system in systems},
            "ties": verdicts["C"],
            "both_wrong": verdicts["D"],
            "left": verdicts["A"],
        }


def _list_systems(row: Row) -> list[str]:
    """Return the two compared systems, the left one first."""
    systems = row["systems"]
    return list(map(str, systems)) if isinstance(systems, list) else []


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return float(value) if is_number else None  # type: ignore[arg-type]
