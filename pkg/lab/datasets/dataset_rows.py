"""The rows of all sets: what each says, where it is from, and an id that its content decides."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from random import Random
from typing import Any, TypeVar

from pkg.errors import InputError, shorten

Row = dict[str, Any]
"""One line of a set, as JSON has it."""

Item = TypeVar("Item")

_DIGITS = 16  # of an id or a hash
_SHOWN = 60  # characters of a line that is no row


@dataclass(frozen=True, slots=True)
class Place:
    """What a row is about: a file of a source, some of its lines, or all of it."""

    source: str
    revision: str | None  # of a source that is a git revision
    path: str
    start_line: int | None = None
    end_line: int | None = None
    content: str = ""  # of these lines
    content_hash: str = ""  # of the file where the content is not told

    @property
    def file_name(self) -> str:
        """Give the last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def module(self) -> str:
        """Name the folder with dots, below the name of the source, as SpyderCodeQA does (Q-01)."""
        return ".".join((self.source, *PurePosixPath(self.path).parts[:-1]))

    @property
    def meta_data(self) -> dict[str, Any]:
        """Give the place in the form of SpyderCodeQA."""
        return {
            "file_name": self.file_name,
            "module": self.module,
            "start_line": self.start_line,
            "end_line": self.end_line,
        }


@dataclass(frozen=True, slots=True)
class Origin:
    """Which step wrote a row, and with what."""

    step: str
    model: str | None = None
    prompt: str | None = None  # name and version
    seed: int | None = None


def hash_words(*words: object) -> str:
    """Hash words to a short text that is the same everywhere."""
    return hashlib.sha256("\0".join(map(str, words)).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def make_row(
    place: Place,
    origin: Origin,
    said: Mapping[str, Any],
    more: Mapping[str, Any] | None = None,
    beside: Mapping[str, Any] | None = None,
) -> Row:
    """Make a row of what is said about a place; its id depends on the step, on both and on nothing else.

    more: what is added to the place in the form of SpyderCodeQA; beside: what does not tell a row from another.
    """
    lines = (place.start_line, place.end_line)
    written = json.dumps(said, sort_keys=True, ensure_ascii=False)
    return {
        "id": hash_words(origin.step, place.source, place.path, *lines, written),
        **said,
        **(beside or {}),
        "path": place.path,
        "meta_data": {**place.meta_data, **(more or {})},
        "source": place.source,
        "revision": place.revision,
        "content_hash": hash_words(place.content) if place.content else place.content_hash,
        "step": origin.step,
        "model": origin.model,
        "prompt": origin.prompt,
        "seed": origin.seed,
    }


def show_evidence(place: Place) -> list[dict[str, Any]]:
    """Give the content of a place as those who judge and rate answers read it."""
    lines = {"start_line": place.start_line, "end_line": place.end_line}
    return [{"path": place.path, **lines, "content": place.content}]


def read_place(row: Row) -> Place:
    """Read back what a row of an earlier step is about; raises what a row that is none does."""
    meta = row["meta_data"]
    content = row["evidence"][0]["content"] if "evidence" in row else row["content"]
    return Place(row["source"], row["revision"], row["path"], meta["start_line"], meta["end_line"], str(content))


def read_rows(lines: Iterable[str], name: str) -> Iterator[Row]:
    """Read the rows that an earlier step has written; an InputError for a line that is none."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = json.loads(line)
                read_place(row)
                yield row
            except (ValueError, TypeError, KeyError, IndexError) as fault:
                raise InputError(
                    f"{name}, line {number}: {shorten(line, _SHOWN)!r} is no row of pkg data ({fault!r}); expected the"
                    " output of pkg data chunks, explain, questions or curate"
                ) from None


def draw(items: Sequence[Item], limit: int | None, seed: int) -> list[Item]:
    """Draw some of the items, and give them in their order; without a limit all."""
    if limit is None or limit >= len(items):
        return list(items)
    return [items[index] for index in sorted(Random(seed).sample(range(len(items)), limit))]


@dataclass(slots=True)
class StepCounts:
    """What one step has taken, written and dropped, and why."""

    step: str
    taken: int = 0
    written: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def drop(self, reason: str, count: int = 1) -> None:
        """Count what is left out."""
        if count:
            self.dropped[reason] += count


class Tally:
    """The counts of all steps of a run, in their order."""

    def __init__(self) -> None:
        self.steps: dict[str, StepCounts] = {}

    def step(self, name: str) -> StepCounts:
        """Give the counts of a step."""
        return self.steps.setdefault(name, StepCounts(name))


def drop_twins(rows: Iterable[Row], counts: StepCounts) -> Iterator[Row]:
    """Let through each row once, and count the rows that are written."""
    seen: set[str] = set()
    for row in rows:
        if row["id"] in seen:
            counts.drop("the same as a row before it")
            continue
        seen.add(row["id"])
        counts.written += 1
        yield row
