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
from pkg.model import Skip
from pkg.service.rating.rater_assignment import draw_order

Kind = Literal["pair", "grade", "pairwise", "create"]
Mode = Literal["rate", "grade", "pairwise", "create"]
MODES: tuple[str, ...] = get_args(Mode)

CODE_FIELDS = ("content", "snippet", "code", "answer")
"""Where the code of a row may stand that a question is to be written about."""
ORIGIN_FIELDS = ("type", "path", "meta_data")
"""What a question that is written keeps of the row that it is about."""


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
            items = list(_list_items(_read_row(line), mode))
        except InputError as fault:
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


def _read_row(line: bytes) -> Mapping[str, Any]:
    try:
        row = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as fault:
        raise InputError(f"no JSON ({fault}), expected an object") from fault
    if not isinstance(row, dict):
        raise InputError(f"a {type(row).__name__}, expected an object")
    return row


def _list_items(row: Mapping[str, Any], mode: Mode | None) -> Iterator[RatedItem]:
    """Give what there is to rate in a row, one item or more; an InputError where there is nothing."""
    name, question, place = _name_row(row), _read_text(row, "question", "instruction"), _tell_place(row)
    if mode == "create":
        origin = {each: row[each] for each in ORIGIN_FIELDS if each in row}
        yield RatedItem(name, "create", "", {"": _need(row, *CODE_FIELDS)}, place=place, origin=origin)
        return
    answers = _read_answers(row)
    if row.get("bad_code") is True and not question:
        raise InputError("marked as bad code, nobody wrote a question")
    _need(row, "question", "instruction")
    if mode == "rate" or (mode is None and not answers):
        yield RatedItem(name, "pair", question, {"": _need(row, "answer", "reference")}, place=place)
        return
    reference = _read_text(row, "reference", "answer")
    if mode == "pairwise" or (mode is None and len(answers) == 2):
        if len(answers) < 2:
            raise InputError(f"answers of {len(answers)} systems, expected two or more to compare")
        for pair in combinations(answers, 2):
            yield RatedItem(name, "pairwise", question, {each: answers[each] for each in pair}, reference, place)
        return
    if not answers:
        raise InputError("no answers of systems, expected some in 'answers' or 'responses'")
    for system in draw_order(list(answers), 0, name):  # in no order by which a rater would know them again
        yield RatedItem(name, "grade", question, {system: answers[system]}, reference, place)


def _name_row(row: Mapping[str, Any]) -> str:
    """Give the id of a row; one without gets one of its content, which stays when rows are added before it."""
    if isinstance(row.get("id"), str | int) and str(row["id"]).strip():
        return str(row["id"])
    content = json.dumps(row, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:12]


def _need(row: Mapping[str, Any], *names: str) -> str:
    found = _read_text(row, *names)
    if not found.strip():
        raise InputError(f"no text in {' or '.join(repr(name) for name in names)} (found: {', '.join(row) or 'nothing'})")
    return found


def _read_text(row: Mapping[str, Any], *names: str) -> str:
    """Give the first of some fields that holds a text; "" where none does."""
    return next((row[name] for name in names if isinstance(row.get(name), str)), "")


def _read_answers(row: Mapping[str, Any]) -> dict[str, str]:
    """Give the answers of a row by their systems; an InputError for what is no answers."""
    given = row.get("answers")
    if given is None and isinstance(row.get("responses"), list):
        given = {each["model"]: each["response"] for each in row["responses"] if isinstance(each, dict)}
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(isinstance(each, str) for pair in given.items() for each in pair):
        raise InputError("'answers' that are no object of texts by system")
    return given


def _tell_place(row: Mapping[str, Any]) -> str:
    """Say where a row comes from, as far as it tells: path:12-20, or the module and file of SpyderCodeQA."""
    meta = row.get("meta_data") if isinstance(row.get("meta_data"), dict) else row
    parts = [meta[name] for name in ("module", "file_name") if isinstance(meta.get(name), str)]
    place = row["path"] if isinstance(row.get("path"), str) else " ".join(parts)
    lines = [meta.get(name) for name in ("start_line", "end_line")]
    if all(isinstance(line, int | float) and line == line and line > 0 for line in lines):  # NaN where there are none
        place += f":{lines[0]:.0f}-{lines[1]:.0f}"
    return place
