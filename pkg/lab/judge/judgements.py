"""Judgements: parsed from the texts of a judge as in the papers (Q-17, C-05, C-17), as rows of JSON, and in a file.

In a text the first match counts. A text without a match and a rating outside of its scale have no value (A-33).
Each row is written as soon as it is complete, so that an interrupted run loses only the requests in flight, and the
same command resumes it. The key of a text is a hash of prompt, model, decoding and seed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from pkg.errors import InputError, PathError, refuse_file
from pkg.lab.judge.items import JudgedItem, show_value
from pkg.lab.judge.judge_tasks import KINDS, JudgeTask, Kind
from pkg.lab.judge.ratings import VERDICTS
from pkg.models.prompt_batch import Conversation
from pkg.models.text_model import Decoding, Usage
from pkg.quoting.hidden_characters import escape_json

VERDICT = re.compile(r"\[\[(A|B|C|D)\]\]")
GRADE = re.compile(r"\bRating:[\s*_`]*(\d+)\b")  # also **Rating:** 7
RATIONALE = re.compile(r"\bRationale:\s*(.*?)(?=\n\s*(?:#|Rating:)|\Z)", re.DOTALL)
_SECTION = re.compile(r"^\W*(?:Output for )?Response (\d+)\b.*$", re.MULTILINE | re.IGNORECASE)

GRADES, LEVELS = (1, 10), (1, 5)
"""The scales of a grade and of an annotation, both ends allowed."""

EMPTY, NONE = "nothing said", "no value"
SEVERAL, INSIDE, OUTSIDE = "two different values", "inside a sentence", "outside of the scale"
TRUNCATED = "broken off at --max-tokens"
"""The judge reached its token limit, usually before the verdict."""

OTHER_LINES = ("check", "summary")
"""Types of the other lines in the output of `pkg judge`."""

TIE_GOOD, TIE_BAD, NO_VALUE = "tie good", "tie bad", "no value"


class ReadVerdict(NamedTuple):
    """The verdict in a text."""

    verdict: str  # A, B, C, D, or "" for none
    oddities: tuple[str, ...] = ()


class ReadGrade(NamedTuple):
    """The rating in a text."""

    rating: int | None
    oddities: tuple[str, ...] = ()
    rationale: str = ""


def parse_verdict(text: str) -> ReadVerdict:
    """Parse the first verdict of a comparison."""
    found = list(VERDICT.finditer(text))
    if not found:
        return ReadVerdict("", (NONE if text.strip() else EMPTY,))
    return ReadVerdict(found[0][1], _list_oddities(text, found))


def parse_grade(text: str, scale: tuple[int, int] = GRADES) -> ReadGrade:
    """Parse the first rating of an answer, and its rationale."""
    found = list(GRADE.finditer(text))
    reason = RATIONALE.search(text)
    rationale = reason[1].strip() if reason else ""
    if not found:
        return ReadGrade(None, (NONE if text.strip() else EMPTY,), rationale)
    oddities = _list_oddities(text, found)
    digits = found[0][1].lstrip("0") or "0"
    if len(digits) > len(str(scale[1])) or not scale[0] <= int(digits) <= scale[1]:
        return ReadGrade(None, (*oddities, OUTSIDE), rationale)
    return ReadGrade(int(digits), oddities, rationale)


def parse_levels(text: str, count: int) -> list[ReadGrade]:
    """Parse a rating for each of `count` answers, by the headings of their sections (C-05).

    Without headings the ratings count in their order, if there are as many as answers.
    """
    headings = list(_SECTION.finditer(text))
    parts: dict[int, str] = {}
    for heading, part in zip(headings, _cut_at(text, headings), strict=True):
        parts.setdefault(int(heading[1][:4]), part.removeprefix(heading[0]))
    found = list(GRADE.finditer(text))
    if not headings and len(found) == count:
        parts = dict(enumerate(_cut_at(text, found), 1))
    missing = "" if not text.strip() else "-"  # an answer that the text omits has no value; only empty texts are EMPTY
    return [parse_grade(parts.get(number, missing), LEVELS) for number in range(1, count + 1)]


def begin_value(kind: Kind, text: str, count: int) -> str:
    """Return the beginning of the first value that the text of a judge lacks, such as "Rating:"; "" if it has all.

    count: number of the judged answers.
    """
    if kind == "pairwise":
        return "" if VERDICT.search(text) else "[["
    if kind != "annotate":
        return "" if GRADE.search(text) else "Rating:"
    named = {int(heading[1][:4]) for heading in _SECTION.finditer(text)}
    grades = enumerate(parse_levels(text, count), 1)
    missing = (number for number, grade in grades if grade.rating is None and number not in named)
    return next((f"#### Output for Response {number}\nRating:" for number in missing), "")


def _cut_at(text: str, matches: list[re.Match[str]]) -> list[str]:
    """Split a text at the start of each match; drops the text before the first."""
    starts = [match.start() for match in matches]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=False)]


def _list_oddities(text: str, found: list[re.Match[str]]) -> tuple[str, ...]:
    oddities = []
    if len({match[1] for match in found}) > 1:
        oddities.append(SEVERAL)
    rest = text[found[0].end() :].partition("\n")[0]
    if re.search(r"[^\W\d]", rest.removeprefix("/10")):
        oddities.append(INSIDE)
    return tuple(oddities)


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
    truncated: tuple[str, ...] = ()  # systems whose answer ended at the token limit
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
    def lacks_value(self) -> bool:
        """Return whether there is no verdict, or a rating is missing."""
        return not self.verdict if self.kind == "pairwise" else None in (self.ratings or (None,))

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
        "truncated": tuple(sorted(task.item.truncated.intersection(task.systems))),
    }


def make_key(prompt: Conversation, identity: str, decoding: Decoding) -> str:
    """Return the hash of prompt, model and decoding."""
    facts = [[list(message) for message in prompt.messages], identity, asdict(decoding)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


def parse_judgement(row: Any) -> Judgement:
    """Parse a row; raises ValueError if it is not a judgement."""
    if not (isinstance(row, dict) and row.get("kind") in KINDS and _holds(row.get("systems"), str) and row["systems"]):
        raise ValueError(f"no judgement in {show_value(row)}; expected the output of pkg judge")
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
        is_known = judgement.key in self._texts and (judgement.judge, judgement.place) in self._places
        if judgement.fault or is_known:
            return
        self._remember(judgement)
        if self.path is None:
            return
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(escape_json(json.dumps(judgement.to_json(), ensure_ascii=False)) + "\n")
        except OSError as fault:
            raise refuse_file(self.path, fault) from fault

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


def make_records(items: Sequence[JudgedItem], judgements: Iterable[Judgement]) -> Iterator[dict[str, Any]]:
    """Build a record (C-07) of each item and preference from the first run; an unparsable rating is null."""
    known = {item.id: item for item in items}
    for each in judgements:
        item = known.get(each.id)
        if item is None or each.kind != "annotate" or each.run or each.fault or each.case:
            continue
        rationales = each.rationales or ("",) * len(each.systems)
        yield {
            "id": item.id,
            "instruction": item.question,
            "preference": each.preference,
            "models": list(each.systems),
            "responses": [
                {"model": system, "response": item.answers[system], "is_cut": system in item.truncated}
                for system in each.systems
            ],
            "annotations": [
                {"model": system, "rating": rating, "rationale": rationale}
                for system, rating, rationale in zip(each.systems, each.ratings, rationales, strict=True)
            ],
        }


def write_records(path: Path, records: Iterable[dict[str, Any]]) -> int:
    """Write records as JSON lines and return their number; raises PathError if the file cannot be written."""
    lines = [escape_json(json.dumps(each, ensure_ascii=False)) + "\n" for each in records]
    try:
        path.write_text("".join(lines), encoding="utf-8", errors="replace")
    except OSError as fault:
        raise refuse_file(path, fault) from None
    return len(lines)
