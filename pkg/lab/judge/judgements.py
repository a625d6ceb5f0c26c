"""What a judge said of one thing, as a row, and the file that keeps such rows while they are made.

A row is written whole as soon as it is there, so that whoever ends the process loses at most what was being asked; the
same command goes on behind it. A text is known by what it depends on: prompt, model, decoding and seed.
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
from pkg.lab.judge.verdicts import BROKEN_OFF, ReadGrade, parse_grade, parse_levels, parse_verdict
from pkg.models.prompt_batch import Conversation
from pkg.models.text_model import Decoding, Usage
from pkg.quoting.hidden_characters import escape_json

OTHER_LINES = ("check", "summary")
"""Types of the lines that stand behind judgements in a pipe."""

SHOWN = 60  # characters of what is no judgement

TIE_GOOD, TIE_BAD, NO_VALUE = "tie good", "tie bad", "no value"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was said of one comparison, one answer, or the answers of one prompt."""

    kind: Kind
    id: str
    systems: tuple[str, ...]  # in the order in which their answers were shown
    judge: str
    preference: str = ""
    run: int = 0
    verdict: str = ""  # of a comparison: A, B, C, D, or "" for none
    ratings: tuple[int | None, ...] = ()  # beside the systems; None for what could not be read
    rationales: tuple[str, ...] = ()
    oddities: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()  # characters of the answers
    question_type: str = ""
    case: str = ""  # of a planted one; it counts for no system
    text: str = ""  # the judge's own words
    is_cut: bool = False  # the judge's tokens ran out
    left_out: int = 0  # characters that the prompt lacks, to fit into the window
    fault: str = ""  # why there is no judgement at all
    key: str = ""  # what the text depends on
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    @property
    def winner(self) -> str:
        """Name the system that is better, or one of the two ties, or no value."""
        first, second = self.systems[0], self.systems[-1]
        return {"A": first, "B": second, "C": TIE_GOOD, "D": TIE_BAD}.get(self.verdict, NO_VALUE)

    @property
    def place(self) -> tuple[str, str, str, tuple[str, ...], str, int]:
        """Tell it from the other judgements of one judge."""
        return self.kind, self.case, self.id, self.systems, self.preference, self.run

    def to_json(self) -> dict[str, Any]:
        """Give the row of it; what is empty is left out."""
        row = {
            name: value for name, value in asdict(self).items() if value not in ("", (), 0, 0.0, False) or name == "run"
        }
        return {"type": "judgement", **row}


def make_judgement(
    task: JudgeTask, judge: str, text: str, key: str, usage: Usage, left_out: int = 0, is_cut: bool = False
) -> Judgement:
    """Make a judgement of what a judge has written."""
    verdict, oddities = parse_verdict(text) if task.kind == "pairwise" else ("", ())
    grades: list[ReadGrade] = []
    if task.kind != "pairwise":
        grades = parse_levels(text, len(task.systems)) if task.kind == "annotate" else [parse_grade(text)]
    return Judgement(
        **describe_task(task), judge=judge, verdict=verdict, ratings=tuple(each.rating for each in grades),
        rationales=tuple(each.rationale for each in grades),
        oddities=(*oddities, *(oddity for each in grades for oddity in each.oddities), *(BROKEN_OFF,) * is_cut),
        text=text, is_cut=is_cut, left_out=left_out, key=key, prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens, seconds=round(usage.seconds, 3),
    )  # fmt: skip


def describe_task(task: JudgeTask) -> dict[str, Any]:
    """Give what a judgement has of its task."""
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
    """Give the hash of all that a text depends on."""
    facts = [[list(message) for message in prompt.messages], identity, asdict(decoding)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


def parse_judgement(row: Any) -> Judgement:
    """Make a judgement of its row; a ValueError for what is none."""
    if not (isinstance(row, dict) and row.get("kind") in KINDS and _holds(row.get("systems"), str) and row["systems"]):
        seen = shorten(json.dumps(row, ensure_ascii=False), SHOWN)
        raise ValueError(f"no judgement in {seen}; expected what pkg judge has written")
    if row.get("verdict", "") not in ("", *VERDICTS) or not _holds(row.get("ratings", []), int | None):
        raise ValueError(f"the verdict is {row.get('verdict')!r}, the ratings are {row.get('ratings')!r}; expected one"
                         f" of {', '.join(VERDICTS)}, or numbers")  # fmt: skip
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    known = {each.name for each in fields(Judgement)}
    try:
        return Judgement(**{name: value for name, value in values.items() if name in known})
    except TypeError as fault:
        raise ValueError(f"no judgement: {fault}; expected what pkg judge has written") from None


def _holds(value: object, kind: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, kind) for each in value)


def read_judgements(path: Path) -> Iterator[Judgement]:
    """Read the whole rows of a file, but for those that are no judgements; InputError and PathError as they come."""
    try:
        raw = path.read_bytes()
    except OSError as fault:
        raise PathError(f"cannot read {path}: {fault.strerror}; expected a file that pkg judge has written") from None
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
    """Judgements that are known already, in a file that grows, or in memory alone."""

    def __init__(self, path: Path | None = None) -> None:
        """Open a file and read what it holds; what was cut off at its end is taken away.

        A PathError where it cannot be read, or has no folder; an InputError where it holds anything else.
        """
        self.path = path
        self._texts: dict[str, Judgement] = {}
        self._places: set[tuple[str, object]] = set()
        if path is not None and not path.parent.is_dir():
            raise PathError(f"cannot write {path}: there is no folder {path.parent}; make it first")
        if path is not None and path.exists():
            for each in read_judgements(path):
                self._remember(each)
            _cut_end(path)

    def find(self, key: str) -> Judgement | None:
        """Give what is known under a key."""
        return self._texts.get(key)

    def add(self, judgement: Judgement) -> None:
        """Keep a judgement; one that is there already is not written again, and one without a text never is.

        A PathError where the file cannot be written.
        """
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


def _cut_end(path: Path) -> None:
    raw = path.read_bytes()
    whole = raw.rfind(b"\n") + 1
    if whole < len(raw):
        os.truncate(path, whole)


def list_rated(judgements: Iterable[Judgement]) -> Iterator[tuple[Judgement, str, int | None, int]]:
    """Give each rating with its judgement, its system and the length of the answer."""
    for each in judgements:
        lengths = each.lengths or (0,) * len(each.systems)
        for system, rating, length in zip(each.systems, each.ratings, lengths, strict=False):
            yield each, system, rating, length
