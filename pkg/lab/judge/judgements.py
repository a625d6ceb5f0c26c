"""Judgements as rows of JSON, and the file that stores them.

Each row is written as soon as it is complete, so that an interrupted run loses only the requests in flight, and the
same command resumes it. The key of a text is a hash of prompt, model, decoding and seed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from pkg.errors import InputError, PathError, refuse_file, shorten
from pkg.lab.judge.judge_tasks import JudgeTask
from pkg.lab.judge.ratings import VERDICTS
from pkg.lab.judge.templates import KINDS, Kind
from pkg.lab.judge.verdicts import TRUNCATED, ReadGrade, parse_grade, parse_levels, parse_verdict
from pkg.models.prompt_batch import Conversation
from pkg.models.text_model import Decoding, Usage
from pkg.quoting.hidden_characters import escape_json

OTHER_LINES = ("check", "summary")
"""Types of the other lines in the output of `pkg judge`."""

SHOWN_LENGTH = 60  # characters of an invalid row in an error message

TIE_GOOD, TIE_BAD, NO_VALUE = "tie good", "tie bad", "no value"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Result of one task: of a comparison, of one answer, or of all answers of an item."""

    kind: Kind
    id: str
    systems: tuple[str, ...]  # in the order in which their answers were shown
    judge: str
    preference: str = ""
    run: int = 0
    verdict: str = ""  # of a comparison: A, B, C, D, or "" for none
    ratings: tuple[int | None, ...] = ()  # by system; None for an unparsable one
    rationales: tuple[str, ...] = ()
    oddities: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()  # characters of the answers
    question_type: str = ""
    case: str = ""  # name of the planted case, which is left out of all scores
    text: str = ""  # the judge's own words
    is_cut: bool = False  # the judge's tokens ran out
    left_out: int = 0  # characters that were cut so that the prompt fits into the window
    fault: str = ""  # reason why there is no judgement
    key: str = ""  # hash of the inputs of the text
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    @property
    def winner(self) -> str:
        """Return the name of the better system, TIE_GOOD, TIE_BAD or NO_VALUE."""
        first, second = self.systems[0], self.systems[-1]
        return {"A": first, "B": second, "C": TIE_GOOD, "D": TIE_BAD}.get(self.verdict, NO_VALUE)

    @property
    def place(self) -> tuple[str, str, str, tuple[str, ...], str, int]:
        """Return the task of the judgement as a key that is unique for one judge."""
        return self.kind, self.case, self.id, self.systems, self.preference, self.run

    def to_json(self) -> dict[str, Any]:
        """Return the row of the judgement without empty fields."""
        row = {
            name: value for name, value in asdict(self).items() if value not in ("", (), 0, 0.0, False) or name == "run"
        }
        return {"type": "judgement", **row}


def make_judgement(
    task: JudgeTask, judge: str, text: str, key: str, usage: Usage, left_out: int = 0, is_cut: bool = False
) -> Judgement:
    """Parse the text of a judge into a judgement."""
    verdict, oddities = parse_verdict(text) if task.kind == "pairwise" else ("", ())
    grades: list[ReadGrade] = []
    if task.kind != "pairwise":
        grades = parse_levels(text, len(task.systems)) if task.kind == "annotate" else [parse_grade(text)]
    return Judgement(
        **describe_task(task), judge=judge, verdict=verdict, ratings=tuple(each.rating for each in grades),
        rationales=tuple(each.rationale for each in grades),
        oddities=(*oddities, *(oddity for each in grades for oddity in each.oddities), *(TRUNCATED,) * is_cut),
        text=text, is_cut=is_cut, left_out=left_out, key=key, prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens, seconds=round(usage.seconds, 3),
    )  # fmt: skip


def describe_task(task: JudgeTask) -> dict[str, Any]:
    """Return the fields of a judgement that come from its task."""
    return {
        "kind": task.kind,
        "id": task.item.id,
        "systems": task.systems,
        "preference": "" if task.kind in ("pairwise", "correctness") else task.preference,
        "run": task.run,
        "question_type": task.item.type,
        "case": task.case,
        "lengths": tuple(len(task.item.answers[system]) for system in task.systems),
    }


def make_key(prompt: Conversation, identity: str, decoding: Decoding) -> str:
    """Return the hash of prompt, model and decoding."""
    facts = [[list(message) for message in prompt.messages], identity, asdict(decoding)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


def parse_judgement(row: Any) -> Judgement:
    """Parse a row; raises ValueError if it is not a judgement."""
    if not (isinstance(row, dict) and row.get("kind") in KINDS and _holds(row.get("systems"), str) and row["systems"]):
        seen = shorten(json.dumps(row, ensure_ascii=False), SHOWN_LENGTH)
        raise ValueError(f"no judgement in {seen}; expected the output of pkg judge")
    if row.get("verdict", "") not in ("", *VERDICTS) or not _holds(row.get("ratings", []), int | None):
        raise ValueError(f"the verdict is {row.get('verdict')!r}, the ratings are {row.get('ratings')!r}; expected one"
                         f" of {', '.join(VERDICTS)}, or numbers")  # fmt: skip
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    known = {each.name for each in fields(Judgement)}
    try:
        return Judgement(**{name: value for name, value in values.items() if name in known})
    except TypeError as fault:
        raise ValueError(f"no judgement: {fault}; expected the output of pkg judge") from None


def _holds(value: object, kind: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, kind) for each in value)


def read_judgements(path: Path) -> Iterator[Judgement]:
    """Read the judgements of a file; skips checks, summaries and an incomplete last line.

    Raises PathError if the file cannot be read, and InputError for an invalid line.
    """
    try:
        raw = path.read_bytes()
    except OSError as fault:
        raise PathError(f"cannot read {path}: {fault.strerror}; expected a file written by pkg judge") from None
    for number, line in enumerate(raw[: raw.rfind(b"\n") + 1].decode("utf-8", "replace").split("\n")[:-1], 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if not (isinstance(row, dict) and row.get("type") in OTHER_LINES):
                yield parse_judgement(row)
        except ValueError as fault:
            raise InputError(f"{path}, line {number}: {fault}") from None


class JudgementFile:
    """Stored judgements, in a file that is appended to, or only in memory."""

    def __init__(self, path: Path | None = None) -> None:
        """Open and read a file, and remove an incomplete last line.

        Raises PathError if it cannot be read or its folder does not exist, and InputError for an invalid line.
        """
        self.path = path
        self._texts: dict[str, Judgement] = {}
        self._places: set[tuple[str, object]] = set()
        if path is not None and not path.parent.is_dir():
            raise PathError(f"cannot write {path}: there is no folder {path.parent}; create it first")
        if path is not None and path.exists():
            for each in read_judgements(path):
                self._remember(each)
            _remove_partial_line(path)

    def find(self, key: str) -> Judgement | None:
        """Return the judgement of a key, or None."""
        return self._texts.get(key)

    def add(self, judgement: Judgement) -> None:
        """Store a judgement unless it is stored already or has a fault; raises PathError if writing fails."""
        if judgement.fault or self._has(judgement):
            return
        self._remember(judgement)
        if self.path is None:
            return
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(escape_json(json.dumps(judgement.to_json(), ensure_ascii=False)) + "\n")
        except OSError as fault:
            raise refuse_file(self.path, fault) from fault

    def _has(self, judgement: Judgement) -> bool:
        return judgement.key in self._texts and (judgement.judge, judgement.place) in self._places

    def _remember(self, judgement: Judgement) -> None:
        self._texts.setdefault(judgement.key, judgement)
        self._places.add((judgement.judge, judgement.place))


def _remove_partial_line(path: Path) -> None:
    raw = path.read_bytes()
    whole = raw.rfind(b"\n") + 1
    if whole < len(raw):
        os.truncate(path, whole)


def list_rated(judgements: Iterable[Judgement]) -> Iterator[tuple[Judgement, str, int | None, int]]:
    """Yield each rating as (judgement, system, rating, length of the answer)."""
    for each in judgements:
        lengths = each.lengths or (0,) * len(each.systems)
        for system, rating, length in zip(each.systems, each.ratings, lengths, strict=False):
            yield each, system, rating, length
