"""Rows of datasets: their fields, place and origin, an id that is a hash of the content, and files of rows."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any, TypeVar

from pkg.errors import InputError, PathError, refuse_file, shorten
from pkg.quoting.hidden_characters import escape_json

Row = dict[str, Any]
"""One row of a dataset, as JSON."""

Item = TypeVar("Item")

_DIGITS = 16  # of an id or a hash
_SHOWN = 60  # characters of an invalid row in an error message
PART = ".part"
"""Suffix of a file in progress. An interrupted run leaves it, and the next writes it again from the cached texts."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file of a source, or some lines of it."""

    source: str
    revision: str | None  # of a source that was built from a git revision
    path: str
    start_line: int | None = None
    end_line: int | None = None
    content: str = ""  # of these lines
    content_hash: str = ""  # of the file, if there is no content

    @property
    def file_name(self) -> str:
        """Return the last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def module(self) -> str:
        """Return the source and the folder, separated by dots, as in SpyderCodeQA (Q-01)."""
        return ".".join((self.source, *PurePosixPath(self.path).parts[:-1]))

    @property
    def meta_data(self) -> dict[str, Any]:
        """Return the place in the format of SpyderCodeQA."""
        return {
            "file_name": self.file_name,
            "module": self.module,
            "start_line": self.start_line,
            "end_line": self.end_line,
        }


@dataclass(frozen=True, slots=True)
class Origin:
    """The step, model, prompt and seed that a row was written with."""

    step: str
    model: str | None = None
    prompt: str | None = None  # name and version
    seed: int | None = None


def hash_words(*words: object) -> str:
    """Return a short hash of words that is the same on all machines."""
    return hashlib.sha256("\0".join(map(str, words)).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def make_row(
    place: Place,
    origin: Origin,
    fields: Mapping[str, Any],
    meta_data: Mapping[str, Any] | None = None,
    unhashed: Mapping[str, Any] | None = None,
) -> Row:
    """Build a row about a place; its id is a hash of the step, the place and `fields`.

    meta_data: added to that of the place. unhashed: fields that are not part of the id.
    """
    lines = (place.start_line, place.end_line)
    written = json.dumps(fields, sort_keys=True, ensure_ascii=False)
    return {
        "id": hash_words(origin.step, place.source, place.path, *lines, written),
        **fields,
        **(unhashed or {}),
        "path": place.path,
        "meta_data": {**place.meta_data, **(meta_data or {})},
        "source": place.source,
        "revision": place.revision,
        "content_hash": hash_words(place.content) if place.content else place.content_hash,
        "step": origin.step,
        "model": origin.model,
        "prompt": origin.prompt,
        "seed": origin.seed,
    }


def make_evidence(place: Place) -> list[dict[str, Any]]:
    """Return a place as the evidence of an item for judges and raters."""
    lines = {"start_line": place.start_line, "end_line": place.end_line}
    return [{"path": place.path, **lines, "content": place.content}]


def read_place(row: Row) -> Place:
    """Parse the place of a row; raises KeyError, TypeError or IndexError if the row is invalid."""
    meta = row["meta_data"]
    content = row["evidence"][0]["content"] if "evidence" in row else row["content"]
    return Place(row["source"], row["revision"], row["path"], meta["start_line"], meta["end_line"], str(content))


def read_rows(lines: Iterable[str], name: str) -> Iterator[Row]:
    """Read the rows of an earlier step; raises InputError for an invalid line."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = json.loads(line)
                read_place(row)
                yield row
            except (ValueError, TypeError, KeyError, IndexError) as fault:
                raise InputError(
                    f"{name}, line {number}: {shorten(line, _SHOWN)!r} is not a row of pkg data ({fault!r}); expected"
                    " the output of pkg data chunks, explain, questions or curate"
                ) from None


def draw(items: Sequence[Item], limit: int | None, seed: int) -> list[Item]:
    """Return a sample of the items in their order, or all without a limit."""
    if limit is None or limit >= len(items):
        return list(items)
    return [items[index] for index in sorted(Random(seed).sample(range(len(items)), limit))]


@dataclass(slots=True)
class StepCounts:
    """Numbers of inputs, written rows and dropped rows of a step, the last by reason."""

    step: str
    taken: int = 0
    written: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def drop(self, reason: str, count: int = 1) -> None:
        """Count dropped inputs or rows."""
        if count:
            self.dropped[reason] += count


class Tally:
    """The counts of all steps of a run, in their order."""

    def __init__(self) -> None:
        self.steps: dict[str, StepCounts] = {}

    def step(self, name: str) -> StepCounts:
        """Return the counts of a step."""
        return self.steps.setdefault(name, StepCounts(name))


def drop_duplicates(rows: Iterable[Row], counts: StepCounts) -> Iterator[Row]:
    """Yield each row once, and count the written rows and the duplicates."""
    seen: set[str] = set()
    for row in rows:
        if row["id"] in seen:
            counts.drop("duplicate of an earlier row")
            continue
        seen.add(row["id"])
        counts.written += 1
        yield row


def write_rows(rows: Iterable[Row], path: Path) -> None:
    """Write rows as JSON lines, flushed one by one; raises PathError if the file cannot be written."""
    if path.is_dir():
        raise PathError(f"cannot write {path}: it is a folder; expected a file")
    part = path.with_name(path.name + PART)
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            for row in rows:
                file.write(escape_json(json.dumps(row, ensure_ascii=False)) + "\n")
                file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as fault:
        raise refuse_file(path, fault) from fault
