"""Check whether evidence supports a statement: its names, numbers, opposites, negation and content words (Q-16).

A small model writes sentences that sound like the evidence. What it gets wrong are names and numbers, a negation, and
words for a direction, so each of these must stand in the evidence; of the other content words most must.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from pkg.terms.words import split_terms

Verdict = Literal["supported", "partly", "unsupported"]
"""Result for a statement: `partly` if its names and numbers stand in the evidence, but too few of its other words."""

SUPPORTED_SHARE = 0.6
"""Least share of the content words in the evidence, calibrated by benchmarks/citation_support.py."""
PARTLY_SHARE = 0.5  # exclusive
WINDOW = 8  # lines of evidence that together may support a statement
NEAR = 3  # lines that decide on negation and opposites

_WORD = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,_]*(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
_NUMBER_WORDS = {
    "zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
"""Without "one", which seldom counts anything."""
_NEGATION = re.compile(r"\b(?:not|never|no|nor|neither|without|cannot|nothing)\b|n['’]t\b", re.IGNORECASE)
_CODE = re.compile(r"[=({\[]|:\s*$|^\s*(?:if|elif|while|return|assert|raise|and|or|not|for|with|yield|import|from)\b")
"""A line of code, in which a negation says nothing about what the code does."""

_STOP_WORDS = frozenset((
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "between", "both", "but", "by", "can", "could", "did", "do", "does", "doing", "done",
    "each", "either", "else", "even", "every", "for", "from", "further", "get", "gets", "give", "given",
    "gives", "had", "has", "have", "having", "here", "how", "if", "in", "into", "is", "it", "its", "itself",
    "just", "like", "made", "make", "makes", "many", "may", "might", "more", "most", "much", "must", "need",
    "needs", "no", "nor", "not", "of", "off", "on", "once", "one", "only", "or", "other", "others", "our",
    "out", "over", "own", "per", "same", "shall", "should", "so", "some", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under",
    "until", "up", "upon", "use", "used", "uses", "using", "via", "was", "way", "we", "were", "what", "when",
    "where", "whether", "which", "while", "who", "whose", "why", "will", "with", "within", "without", "would",
    "yet", "you", "your",
))  # fmt: skip
_CODE_WORDS = frozenset((
    "allow", "allows", "argument", "arguments", "attribute", "based", "call", "called", "calls", "class",
    "classes", "code", "contains", "define", "defined", "defines", "ensure", "ensures", "file", "files",
    "function", "functions", "handle", "handles", "implement", "implemented", "implements", "instance",
    "library", "method", "methods", "module", "object", "objects", "parameter", "parameters", "piece",
    "provide", "provides", "purpose", "repository", "responsible", "return", "returned", "returns", "specific",
    "specified", "value", "values", "variable", "works",
))  # fmt: skip
"""Words with which one speaks of any code."""
_COMMON_WORDS = _STOP_WORDS | _CODE_WORDS

_OPPOSITES = tuple(
    tuple(each.split())
    for each in (
        "before after", "first last", "min max", "minimum maximum", "minimal maximal", "least most", "less more",
        "smaller larger", "lower higher", "lower upper", "below above", "increase decrease", "increases decreases",
        "open close", "opens closes", "start stop", "starts stops", "enable disable", "enables disables",
        "enabled disabled", "true false", "always never", "read write", "reads writes", "encode decode",
        "encodes decodes", "add remove", "adds removes", "push pop", "synchronous asynchronous", "input output",
        "left right", "ascending descending", "allow forbid", "success failure", "include exclude", "includes excludes",
        "lock unlock", "load save", "loads saves", "connect disconnect", "append prepend", "import export",
        "create delete", "creates deletes", "begin end", "begins ends", "parent child", "older newer", "oldest newest",
        "required optional", "mutable immutable", "public private", "valid invalid", "known unknown",
    )
)  # fmt: skip
"""Pairs of words that turn a statement into its contrary."""
_CONTRARY = {one: other for pair in _OPPOSITES for one, other in (pair, pair[::-1])}


class _Reading(NamedTuple):
    """One text of evidence, prepared for comparison."""

    words: frozenset[str]  # with case
    numbers: frozenset[str]
    head: frozenset[str]  # terms of the first line, which names the piece
    lines: tuple[frozenset[str], ...]  # terms of each line
    texts: tuple[str, ...]


def judge_support(statement: str, names: Sequence[str], evidence: str) -> Verdict:
    """Judge whether a text of evidence supports a statement with some code names.

    evidence: its first line is the path and title of the piece.
    """
    reading = _read(evidence)
    if any(not _is_known(name, reading.words) for name in names):
        return "unsupported"
    if not set(list_numbers(statement)) <= reading.numbers:
        return "unsupported"
    terms = list_content(statement)
    if not terms:
        return "supported" if names else "partly"
    share, _ = _find_window(terms, reading, WINDOW)
    if share <= PARTLY_SHARE or _is_reversed(statement, terms, reading):
        return "unsupported"
    return "supported" if share >= SUPPORTED_SHARE else "partly"


def list_numbers(text: str) -> Iterator[str]:
    """Yield the numbers of a text in one notation: 1,000 as 1000, 2.0 as 2, and two as 2."""
    for found in _NUMBER.finditer(text):
        number = found[0].replace(",", "").replace("_", "")
        yield number.rstrip("0").rstrip(".") if "." in number and "e" not in number.lower() else number
    for word in _WORD.findall(text):
        if word.lower() in _NUMBER_WORDS:
            yield _NUMBER_WORDS[word.lower()]


@lru_cache(maxsize=500)
def list_content(text: str) -> frozenset[str]:
    """Return the terms of the content words of a text."""
    kept = [word for word in _WORD.findall(text) if word.lower() not in _COMMON_WORDS]
    return _terms(" ".join(kept))


def _is_known(name: str, words: frozenset[str]) -> bool:
    return set(_WORD.findall(name)) <= words


@lru_cache(maxsize=100)
def _read(evidence: str) -> _Reading:
    lines = evidence.split("\n")
    numbers = {number for line in lines for number in list_numbers(line)}
    return _Reading(
        frozenset(_WORD.findall(evidence)),
        frozenset(numbers),
        _terms(lines[0]),
        tuple(map(_terms, lines)),
        tuple(lines),
    )


def _terms(text: str) -> frozenset[str]:
    return frozenset(split_terms(text.encode("utf-8", "replace")))


def _find_window(terms: frozenset[str], reading: _Reading, size: int) -> tuple[float, int]:
    """Return the best share of terms in so many lines together with the head, and the first of these lines."""
    best, place = 0.0, 0
    for first in range(max(1, len(reading.lines) - size + 1)):
        held = reading.head.union(*reading.lines[first : first + size])
        share = len(terms & held) / len(terms)
        if share > best:
            best, place = share, first
    return best, place


def _is_reversed(statement: str, terms: frozenset[str], reading: _Reading) -> bool:
    """Return whether the lines nearest to a statement say the contrary: by a negation or an opposite word."""
    _, first = _find_window(terms, reading, NEAR)
    near = "\n".join(reading.texts[first : first + NEAR])
    said, there = set(map(str.lower, _WORD.findall(statement))), set(map(str.lower, _WORD.findall(near)))
    if any(word in said and word not in there and other in there for word, other in _CONTRARY.items()):
        return True
    is_denied = _is_denied(terms, near)
    return not is_denied if _NEGATION.search(statement) else is_denied


def _is_denied(terms: frozenset[str], near: str) -> bool:
    """Return whether the sentence of the evidence with most of the terms is prose, and negated."""
    prose = "\n".join(line for line in near.split("\n") if not _CODE.search(line))
    best = max(re.split(r"(?<=[.;:])\s+|\n\s*\n", prose), key=lambda each: len(terms & _terms(each)))
    return len(terms & _terms(best)) >= SUPPORTED_SHARE * len(terms) and bool(_NEGATION.search(best))
