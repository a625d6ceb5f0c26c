"""Read what is to be rated: pairs of question and answer, answers of systems, or code to write about (Q-03).

A row is an object of JSON. One with `answers` of systems, or `responses` of models, is graded or compared; one with a
question and an answer is a pair; to write about is whatever holds code.
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
"""Where the code of a row may stand that a question is to be written about."""
LAST_LINE = 10**9  # what tells a later one is no line
ORIGIN_FIELDS = ("path", "meta_data", "source", "revision", "content_hash")
"""What a question that is written keeps of the row that it is about."""
QUESTION_TYPES = ("syntax", "dependencies", "meta")  # of SpyderCodeQA; a question about code is the first


@dataclass(frozen=True, slots=True)
class RatedItem:
    """One thing to rate: a pair, the answer of a system, two answers, or code to write about."""

    id: str
    kind: Kind
    question: str
    texts: Mapping[str, str]
    """The texts to look at, by the system that wrote them; "" where that is none."""
    reference: str = ""
    place: str = ""
    code: str = ""
    """What a pair is about, where its row holds it."""
    origin: Mapping[str, Any] = field(default_factory=dict)

    @property
    def systems(self) -> list[str]:
        """Name the systems whose answers it holds."""
        return list(self.texts)


@dataclass(frozen=True, slots=True)
class RatedFile:
    """The items of a file, what was left out of it, and in which state it was read."""

    path: Path
    items: list[RatedItem]
    skipped: list[Skip]
    replaced: int
    """Rows that a later one of the same id stands for."""
    digest: str
    _state: tuple[int, int, int]

    @property
    def name(self) -> str:
        """Name the file as a person knows it."""
        return self.path.name

    def has_changed(self) -> bool:
        """Tell whether the file is another one by now, or gone."""
        try:
            return _read_state(self.path) != self._state
        except OSError:
            return True


def read_rated_file(path: Path, mode: Mode | None = None) -> RatedFile:
    """Read the items of a file, in its order; without a mode each row says by what it holds how it is rated.

    What cannot be rated is left out and named. Of rows with one id the last one counts. Raises PathError where the
    file cannot be read, InputError where nothing in it can be rated.
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
    """Read a line; what is no number, such as the NaN of SpyderCodeQA, and half a character are none on a page."""
    try:
        row = json.loads(line.decode("utf-8", "replace"), parse_constant=lambda name: None)
        if b"\\ud" in line.lower():
            row = json.loads(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
    except ValueError as fault:
        raise ValueError(f"no JSON ({fault}); expected an object") from None
    return row


def _list_items(row: Any, mode: Mode | None) -> Iterator[RatedItem]:
    """Give what there is to rate in a row, one item or more; a ValueError where there is nothing."""
    if not isinstance(row, dict):
        raise ValueError(f"a {type(row).__name__}; expected an object")
    place = _tell_place(row)
    if mode == "create":
        code = _find_code(row)
        kind = row["type"] if row.get("type") in QUESTION_TYPES else QUESTION_TYPES[0]
        origin = {"type": kind, "content": code, **{name: row[name] for name in ORIGIN_FIELDS if name in row}}
        yield RatedItem(_name_code(row, code), "create", "", {"": code}, place=place, origin=origin)
        return
    if row.get("bad_code") is True and not row.get("question"):
        raise ValueError("marked as bad code; nobody has written a question")
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
        for system in draw_order(list(answers), 0, item.id):  # in no order by which a rater would know them again
            yield RatedItem(item.id, "grade", item.question, {system: answers[system]}, item.reference, place)


def _find_code(row: Mapping[str, Any]) -> str:
    code = next((row[name] for name in CODE_FIELDS if isinstance(row.get(name), str) and row[name].strip()), None)
    if not isinstance(code, str):
        raise ValueError(f"no code (found: {', '.join(row)}); expected a text under one of {', '.join(CODE_FIELDS)}")
    return code


def _name_code(row: Mapping[str, Any], code: str) -> str:
    """Give the id of a row; one without gets one of its code and place, which stays when rows are added before it."""
    if row.get("id") not in (None, ""):
        return str(row["id"])
    return hashlib.sha256(f"{_tell_place(row)}\0{code}".encode("utf-8", "replace")).hexdigest()[:ID_LENGTH]


def _tell_place(row: Mapping[str, Any]) -> str:
    """Say where a row comes from, as far as it tells: path:12-20, or the module and file of SpyderCodeQA."""
    given = row.get("meta_data")
    meta = given if isinstance(given, dict) else row
    parts = [meta[name] for name in ("module", "file_name") if isinstance(meta.get(name), str)]
    place = row["path"] if isinstance(row.get("path"), str) else " ".join(parts)
    lines = [meta.get(name) for name in ("start_line", "end_line")]
    if all(isinstance(line, int | float) and 0 < line < LAST_LINE for line in lines):
        place += f":{lines[0]:.0f}-{lines[1]:.0f}"
    return place
