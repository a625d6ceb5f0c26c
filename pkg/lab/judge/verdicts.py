"""Parser of the verdict or rating in the text of a judge, exactly as in the papers (Q-17, C-17).

The first match counts. A text without a match and a rating outside of its scale have no value (A-33). Oddities are
returned with it: an empty text, two different verdicts, a verdict inside of a sentence.
"""

from __future__ import annotations

import re
from typing import NamedTuple

VERDICT = re.compile(r"\[\[(A|B|C|D)\]\]")
GRADE = re.compile(r"\bRating:\s*(\d+)\b")
RATIONALE = re.compile(r"\bRationale:\s*(.*?)(?=\n\s*(?:#|Rating:)|\Z)", re.DOTALL)
_SECTION = re.compile(r"^\W*(?:Output for )?Response (\d+)\b.*$", re.MULTILINE | re.IGNORECASE)

GRADES, LEVELS = (1, 10), (1, 5)
"""The scales of a grade and of an annotation, both ends allowed."""

EMPTY, NONE = "nothing said", "no value"
SEVERAL, INSIDE, OUTSIDE = "two different values", "inside a sentence", "outside of the scale"
TRUNCATED = "broken off at --max-tokens"
"""The judge reached its token limit, usually before the verdict."""


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
