"""Check the parts of our language that a machine can see: first words of docstrings, and words that are replaced."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

ROOMS = (
    *("pkg", "docs", "checks", "benchmarks", "training", "examples", "tests"),
    *("README.md", "CHANGELOG.md", "SECURITY.md"),
)
"""Folders and files whose language is checked, relative to the project."""

FIRST_WORDS = frozenset(
    {"Give", "Tell", "Say", "Let", "Have", "Ask", "Look", "Go", "Note", "Gives", "Tells", "Says", "Lets", "Has", "Asks"}
    | {"What", "Which", "How", "Where", "Whether", "Who", "Whose", "Those"}
)
"""Words that begin no docstring: a function returns, yields, checks, builds; data is named by a noun."""

REPLACED = {
    r"\bheirs?\b": "subclass",
    r"\bcontenders?\b": "candidate, or distinct candidate where those of equal code are meant as one",
    r"\banew\b": "again",
    r"\bby now\b": "until now, so far",
    r"\bnobody\b": "no one, or the concrete subject",
    r"\bdesks?\b": "what it is",
    r"\bbehind\b(?! (?:a|the) proxy)": "after",
    r"\bwhat (?:is|was|are|were) (?:asked|read|given|told|said|left|meant|wanted)\b": "the noun",
}
"""Patterns of words that the project does not use, with what to write instead."""


def list_files(room: Path) -> list[Path]:
    found = [room] if room.is_file() else room.rglob("*")
    return sorted(path for path in found if path.suffix in (".py", ".md") and "__pycache__" not in path.parts)


def list_docstrings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if docstring := ast.get_docstring(node):
            yield getattr(node, "lineno", 1), docstring


def list_faults(path: Path) -> Iterator[str]:
    place = path.relative_to(ROOT)
    if path.suffix == ".py":
        for number, docstring in list_docstrings(path):
            first = docstring.split()[0].rstrip(".,:")
            if first in FIRST_WORDS:
                yield f"{place}:{number}: a docstring begins with '{first}'"
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for pattern, instead in REPLACED.items():
            if found := re.search(pattern, line, re.IGNORECASE):
                yield f"{place}:{number}: '{found[0]}', write: {instead}"


@pytest.mark.parametrize("room", ROOMS)
def test_language(room: str) -> None:
    faults = [fault for path in list_files(ROOT / room) for fault in list_faults(path)]
    assert not faults, "\n".join(faults)
