"""Items to rate: pairs of question and answer, answers of systems, or code to write pairs about (Q-03).

A row is a JSON object. With `answers` of systems, or `responses` of models, it is graded or compared; with a question
and an answer it is a pair. Pairs can be written about any row with code.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, get_args

from pkg.errors import InputError, PathError
from pkg.lab.judge.items import ID_LENGTH, parse_item
from pkg.lab.rating.rater_assignment import draw_order
from pkg.model import Skip

Kind = Literal["pair", "grade", "pairwise", "create"]
Mode = Literal["rate", "grade", "pairwise", "create"]
MODES: tuple[str, ...] = get_args(Mode)

CODE_FIELDS = ("content", "snippet", "code", "answer")
"""Fields that may hold the code of a row."""

MAX_LINE = 10**9  # larger numbers are not lines
ORIGIN_FIELDS = ("path", "meta_data", "source", "revision", "content_hash")
"""Fields of a row that are copied to the questions written about it."""

QUESTION_TYPES = ("syntax", "dependencies", "meta")  # of SpyderCodeQA; a question about code is the first


@dataclass(frozen=True, slots=True)
class RatedItem:
    """A pair, the answer of a system, two answers, or code to write a pair about."""

    id: str
    kind: Kind
    question: str
    texts: Mapping[str, str]
    """Texts to rate, by system; "" if there is none."""
    reference: str = ""
    place: str = ""
    code: str = ""
    """The code that a pair is about, if its row has it."""
    origin: Mapping[str, Any] = field(default_factory=dict)

    @property
    def systems(self) -> list[str]:
        """Return the names of the systems."""
        return list(self.texts)


@dataclass(frozen=True, slots=True)
class RatedFile:
    """The items of a file, its skipped rows, and the state of the file when it was read."""

    path: Path
    items: list[RatedItem]
    skipped: list[Skip]
    replaced: int
    """Rows that a later one of the same id replaces."""
    digest: str
    _state: tuple[int, int, int]

    @property
    def name(self) -> str:
        """Return the name of the file without its folder."""
        return self.path.name

    def has_changed(self) -> bool:
        """Return whether the file has changed since it was read, or is gone."""
        try:
            return _read_state(self.path) != self._state
        except OSError:
            return True


def read_rated_file(path: Path, mode: Mode | None = None) -> RatedFile:
    """Read the items of a file in its order; without a mode, the fields of each row decide how it is rated.

    Invalid rows are skipped with a reason. Of rows with the same id the last one counts. Raises PathError if the file
    cannot be read, and InputError if it has no valid row.
    """
    try:
        state, content = _read_state(path), path.read_bytes()
    except OSError as fault:
        raise PathError(f"cannot read {path}: {fault.strerror}; expected a file of JSON lines") from fault
    rows: dict[str, list[RatedItem]] = {}
    skipped, replaced = list[Skip](), 0
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            items = list(_list_items(_read_json(line), mode))
        except (ValueError, RecursionError) as fault:
            skipped.append(Skip(f"line {number}", str(fault)))
            continue
        replaced += items[0].id in rows
        rows[items[0].id] = items
    if not rows:
        seen = f"; the first of {len(skipped):,}: {skipped[0]}" if skipped else ", it is empty"
        raise InputError(f"nothing to rate in {path}{seen}; expected JSON lines with question and answer, or answers")
    digest = hashlib.sha256(content).hexdigest()[:16]
    return RatedFile(path, [item for items in rows.values() for item in items], skipped, replaced, digest, state)


def _read_state(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read_json(line: bytes) -> Any:
    """Parse a line; reads NaN, which SpyderCodeQA has, as None, and replaces lone surrogates."""
    try:
        row = json.loads(line.decode("utf-8", "replace"), parse_constant=lambda name: None)
        if b"\\ud" in line.lower():
            row = json.loads(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
    except ValueError as fault:
        raise ValueError(f"invalid JSON ({fault}); expected an object") from None
    return row


def _list_items(row: Any, mode: Mode | None) -> Iterator[RatedItem]:
    """Yield the items of a row, at least one; raises ValueError if it has none."""
    if not isinstance(row, dict):
        raise ValueError(f"a {type(row).__name__}; expected an object")
    place = _describe_place(row)
    if mode == "create":
        code = _find_code(row)
        kind = row["type"] if row.get("type") in QUESTION_TYPES else QUESTION_TYPES[0]
        origin = {"type": kind, "content": code, **{name: row[name] for name in ORIGIN_FIELDS if name in row}}
        yield RatedItem(_name_code(row, code), "create", "", {"": code}, place=place, origin=origin)
        return
    if row.get("bad_code") is True and not row.get("question"):
        raise ValueError("marked as bad code, without a question")
    item = parse_item(row)
    answers = item.answers
    if mode == "rate" or (mode is None and not answers):
        if not item.reference.strip():
            raise ValueError(f"no answer (found: {', '.join(row)}); expected a text under 'answer' or 'reference'")
        code = row["content"] if isinstance(row.get("content"), str) else ""
        yield RatedItem(item.id, "pair", item.question, {"": item.reference}, place=place, code=code)
    elif mode == "pairwise" or (mode is None and len(answers) == 2):
        if len(answers) < 2:
            raise ValueError(f"answers of {len(answers)} systems; expected two or more to compare")
        for pair in combinations(answers, 2):
            texts = {system: answers[system] for system in pair}
            yield RatedItem(item.id, "pairwise", item.question, texts, item.reference, place)
    else:
        if not answers:
            raise ValueError("no answers of systems; expected some under 'answers' or 'responses'")
        for system in draw_order(list(answers), 0, item.id):  # shuffled, so that raters cannot recognise systems
            yield RatedItem(item.id, "grade", item.question, {system: answers[system]}, item.reference, place)


def _find_code(row: Mapping[str, Any]) -> str:
    code = next((row[name] for name in CODE_FIELDS if isinstance(row.get(name), str) and row[name].strip()), None)
    if not isinstance(code, str):
        raise ValueError(f"no code (found: {', '.join(row)}); expected a text under one of {', '.join(CODE_FIELDS)}")
    return code


def _name_code(row: Mapping[str, Any], code: str) -> str:
    """Return the id of a row, or a hash of its code and place, which does not change when rows are added."""
    if row.get("id") not in (None, ""):
        return str(row["id"])
    return hashlib.sha256(f"{_describe_place(row)}\0{code}".encode("utf-8", "replace")).hexdigest()[:ID_LENGTH]


def _describe_place(row: Mapping[str, Any]) -> str:
    """Return the place of a row, if it has one: path:12-20, or the module and file of SpyderCodeQA."""
    given = row.get("meta_data")
    meta = given if isinstance(given, dict) else row
    parts = [meta[name] for name in ("module", "file_name") if isinstance(meta.get(name), str)]
    place = row["path"] if isinstance(row.get("path"), str) else " ".join(parts)
    lines = [meta.get(name) for name in ("start_line", "end_line")]
    if all(isinstance(line, int | float) and 0 < line < MAX_LINE for line in lines):
        place += f":{lines[0]:.0f}-{lines[1]:.0f}"
    return place
