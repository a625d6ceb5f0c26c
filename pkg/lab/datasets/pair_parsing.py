"""Strict parsers of the texts of models: questions with answers, and scores (A-33)."""

from __future__ import annotations

import re
from typing import NamedTuple

MIN_SCORE, MAX_SCORE = 1, 5

QUESTION, ANSWER = "Question:", "Answer:"
"""Labels before a question and its answer, also used as prefill."""

_MARK = re.compile(r"^[ \t]*(Question|Answer):", re.MULTILINE)
_SCORE = re.compile(r"^[\s*_`#]*score[*_`]*:[\s*_`\[(]*(-?\d+)[\s*_`\])]*\.?[*_`]*$", re.IGNORECASE)


class Pair(NamedTuple):
    """A question and its answer."""

    question: str
    answer: str


class Score(NamedTuple):
    """Score of a pair, and the reasoning before it."""

    score: int
    reasoning: str


class Malformed(NamedTuple):
    """Reason why a text cannot be parsed."""

    reason: str


def parse_pairs(text: str, is_cut: bool = False) -> list[Pair] | Malformed:
    """Parse alternating questions and answers, each after its label at the start of a line (Q-05)."""
    marks = list(_MARK.finditer(text))
    if not marks:
        return Malformed("no question and no answer")
    if text[: marks[0].start()].strip():
        return Malformed("words before the first question")
    if [mark[1] for mark in marks] == ["Question"]:
        return Malformed("a question without an answer")
    if [mark[1] for mark in marks] != ["Question", "Answer"] * (len(marks) // 2):
        return Malformed("questions and answers do not alternate")
    if is_cut:
        return Malformed("cut off before its end")
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    parts = [text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    if not all(parts):
        return Malformed("an empty question or answer")
    return [Pair(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]


def parse_pair(text: str, is_cut: bool = False) -> Pair | Malformed:
    """Parse one question with its answer (Q-09)."""
    pairs = parse_pairs(text, is_cut)
    if isinstance(pairs, Malformed):
        return pairs
    return pairs[0] if len(pairs) == 1 else Malformed("more than one question")


def parse_score(text: str) -> Score | Malformed:
    """Parse the score, which must be alone on the last line (Q-12).

    A score inside of a sentence does not count; two different scores are malformed.
    """
    lines = text.strip().splitlines()
    found = [int(match[1]) for line in lines if (match := _SCORE.match(line))]
    if not lines or not _SCORE.match(lines[-1]):
        return Malformed("no score on the last line")
    if len(set(found)) > 1:
        return Malformed("more than one score")
    if not MIN_SCORE <= found[-1] <= MAX_SCORE:
        return Malformed(f"a score outside of {MIN_SCORE} to {MAX_SCORE}")
    return Score(found[-1], "\n".join(lines[:-1]).strip())
