"""Check the parts of our language that a machine can see: first words of docstrings, and words that are replaced."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

FINISHED = (
    "docs/browser.md",
    "docs/ci.md",
    "docs/docker.md",
    "docs/integrations.md",
    "docs/mcp.md",
    "docs/neo4j.md",
    "docs/page.md",
    "docs/serve.md",
    "docs/ask.md",
    "docs/encoders.md",
    "docs/enhance.md",
    "docs/generate.md",
    "docs/models.md",
    "docs/data.md",
    "docs/judge.md",
    "docs/rate.md",
    "docs/prompts.md",
    "docs/python.md",
    "docs/contributing.md",
    "docs/extending.md",
    "docs/rerank.md",
    "docs/calls.md",
    "docs/resolution.md",
    "docs/schema.md",
    "docs/security.md",
    "examples",
    "pkg/__init__.py",
    "pkg/api.py",
    "pkg/api_types.py",
    "pkg/argument_types.py",
    "pkg/_start.py",
    "pkg/cache_file.py",
    "pkg/config.py",
    "pkg/encode",
    "pkg/enhance",
    "pkg/doctor.py",
    "pkg/errors.py",
    "pkg/generation",
    "pkg/lab/audit",
    "pkg/lab/bench",
    "pkg/lab/datasets",
    "pkg/lab/evaluation/code",
    "pkg/lab/evaluation/questions",
    "pkg/lab/evaluation/report",
    "pkg/lab/evaluation/retrieval",
    "pkg/lab/evaluation/statistics",
    "pkg/lab/judge",
    "pkg/lab/lab_api.py",
    "pkg/lab/rating",
    "pkg/lazy_module.py",
    "pkg/local_errors.py",
    "pkg/model.py",
    "pkg/models",
    "pkg/private_files.py",
    "pkg/resources.py",
    "pkg/services.py",
    "pkg/trained.py",
    "pkg/trust.py",
    "pkg/units.py",
    "pkg/extract",
    "pkg/graph",
    "pkg/indexing",
    "pkg/integrations",
    "pkg/quoting",
    "pkg/rerank",
    "pkg/resolution",
    "pkg/sandbox",
    "pkg/retrieval",
    "pkg/service",
    "pkg/terms",
    "pkg/trace",
    "pkg/vectors",
    "tests/unit/resolution",
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


@pytest.mark.parametrize("room", FINISHED)
def test_language(room: str) -> None:
    faults = [fault for path in list_files(ROOT / room) for fault in list_faults(path)]
    assert not faults, "\n".join(faults)
