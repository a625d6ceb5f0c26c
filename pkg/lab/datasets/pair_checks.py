"""Checks of pairs: the question names its place and existing files, and the answer refers to the code (Q-09)."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Mapping

from pkg.lab.datasets.dataset_rows import Place
from pkg.lab.datasets.pair_parsing import Pair

_FILE = re.compile(r"(?<![\w./-])[\w./-]*\w\.(?:py|pyi|md|rst|txt|toml|cfg|ini|yml|yaml|json)\b(?!\.\w)")
_NAME = re.compile(r"[A-Za-z_]\w{2,}")
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_MIN_QUOTED_LINE = 8  # characters; shorter lines, such as else:, are in every file
_COMMON = frozenset((*keyword.kwlist, "self", "cls", "the", "and", "for", "not", "from", "with", "this", "that"))


class Repository:
    """The paths of a repository, to check the file names in a text."""

    def __init__(self, paths: Collection[str]) -> None:
        self._ends = {end for path in paths for end in _list_ends(path)}

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


def _list_ends(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts))]


def find_span_fault(pair: Pair, place: Place, repository: Repository) -> str | None:
    """Return the reason to drop a pair about lines of a file, or None (Q-09)."""
    question, answer = pair
    if place.file_name not in question:
        return "a question without its file"
    if repository.find_missing(question, place.content):
        return "a question about a file that does not exist"
    if place.module not in question:
        return "a question without its module"
    if not _names_lines(question, place):
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


def _names_lines(question: str, place: Place) -> bool:
    numbers = set(re.findall(r"(?<![\w.])\d+(?!\.?\w)", question))
    return {str(place.start_line), str(place.end_line)} <= numbers


def _holds_code(answer: str, content: str) -> bool:
    """Return whether an answer has code in backticks, or a line of the content."""
    if _CODE.search(answer):
        return True
    lines = {line.strip() for line in content.splitlines()}
    return any(len(line.strip()) >= _MIN_QUOTED_LINE and line.strip() in lines for line in answer.splitlines())


def _mentions(answer: str, content: str) -> bool:
    """Return whether an answer has a name or word of the content that is not in _COMMON."""
    return not (set(_NAME.findall(answer)) - _COMMON).isdisjoint(_NAME.findall(content))
