"""Parse pairs of question and answer in texts of models, strictly (A-33), and check them against the code (Q-09)."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from pkg.lab.datasets.dataset_rows import Place

MIN_SCORE, MAX_SCORE = 1, 5

QUESTION, ANSWER = "Question:", "Answer:"
"""Labels before a question and its answer, also used as prefill."""

_MARK = re.compile(r"^[ \t]*(Question|Answer):", re.MULTILINE)
_SCORE = re.compile(r"^[\s*_`#]*score[*_`]*:[\s*_`\[(]*(-?\d+)[\s*_`\])]*\.?[*_`]*$", re.IGNORECASE)
_FILE = re.compile(r"(?<![\w./-])[\w./-]*\w\.(?:py|pyi|md|rst|txt|toml|cfg|ini|yml|yaml|json)\b(?!\.\w)")
_NUMBER = re.compile(r"(?<![\w.])\d+(?!\.?\w)")
_NAME = re.compile(r"[A-Za-z_]\w{2,}")
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_MIN_QUOTED_LINE = 8  # characters; shorter lines, such as else:, are in every file
_COMMON = frozenset((*keyword.kwlist, "self", "cls", "the", "and", "for", "not", "from", "with", "this", "that"))


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


class Repository:
    """The paths of a repository, to check the file names in a text."""

    def __init__(self, paths: Collection[str]) -> None:
        parts = [path.split("/") for path in paths]
        self._ends = {"/".join(each[start:]) for each in parts for start in range(len(each))}

    def find_missing(self, text: str, content: str) -> str | None:
        """Return the first file name in a text that is neither in the repository nor in the content."""
        for found in _FILE.finditer(text):
            name = found[0].removeprefix("./").lstrip("/")
            if name not in self._ends and found[0] not in content:
                return found[0]
        return None


class Repositories:
    """The paths of several repositories, by their names."""

    def __init__(self, paths: Mapping[str, Collection[str]]) -> None:
        self._known = {name: Repository(each) for name, each in paths.items()}

    def find(self, name: str) -> Repository:
        """Return a repository by its name."""
        return self._known[name]


def find_span_fault(pair: Pair, place: Place, repository: Repository) -> str | None:
    """Return the reason to drop a pair about lines of a file, or None (Q-09)."""
    question, answer = pair
    if place.file_name not in question:
        return "a question without its file"
    if repository.find_missing(question, place.content):
        return "a question about a file that does not exist"
    if place.module not in question:
        return "a question without its module"
    if not {str(place.start_line), str(place.end_line)} <= set(_NUMBER.findall(question)):
        return "a question without its lines"
    if not _holds_code(answer, place.content):
        return "an answer without code"
    if not _mentions(answer, place.content):
        return "an answer that does not mention the span"
    return None


def find_file_fault(pair: Pair, place: Place, repository: Repository) -> str | None:
    """Return the reason to drop a pair about a file or a section, or None (Q-05, Q-06)."""
    if place.file_name not in pair.question:
        return "a question without its file"
    if repository.find_missing(pair.question, place.content):
        return "a question about a file that does not exist"
    if place.content and not _mentions(pair.answer, place.content):
        return "an answer that does not mention the span"
    return None


def _holds_code(answer: str, content: str) -> bool:
    """Return whether an answer has code in backticks, or a line of the content."""
    if _CODE.search(answer):
        return True
    lines = {line.strip() for line in content.splitlines()}
    return any(len(line.strip()) >= _MIN_QUOTED_LINE and line.strip() in lines for line in answer.splitlines())


def _mentions(answer: str, content: str) -> bool:
    """Return whether an answer has a name or word of the content that is not in _COMMON."""
    return not (set(_NAME.findall(answer)) - _COMMON).isdisjoint(_NAME.findall(content))
