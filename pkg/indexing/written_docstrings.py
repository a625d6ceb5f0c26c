"""Generated docstrings, keyed by the code of their functions and encoded within it (P-07, P-08).

The content of a function node stays the original code. Its vector is of the code with the docstring inserted, and
the words of the docstring count as the docstring field in a search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from pkg.errors import InputError
from pkg.extract.syntax import find_indent
from pkg.model import Docstring, Generated

GeneratedTexts: TypeAlias = Mapping[int, Generated]
"""Generated texts by the hash of their functions' code, wherever in a source that code occurs."""

NO_TEXTS: GeneratedTexts = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class InlineComment:
    """A comment that belongs before a line."""

    line: int  # of the function's content, from 1
    text: str  # one line, without #

    def pack(self) -> str:
        """Return the comment as a docstring stores it."""
        return f"{self.line} {self.text}"


def unpack_comments(packed: tuple[str, ...]) -> list[InlineComment]:
    """Parse the comments that are stored with a docstring."""
    parts = (each.partition(" ") for each in packed)
    return [InlineComment(int(line), text) for line, _, text in parts]


def insert_comments(content: str, comments: Iterable[InlineComment]) -> str:
    """Insert comments into the source of a function, each with the indentation of the line below it."""
    lines = content.split("\n")
    for comment in sorted(comments, key=lambda each: -each.line):
        below = lines[comment.line - 1]
        end = "\r" if below.endswith("\r") else ""
        lines.insert(comment.line - 1, f"{below[: len(below) - len(below.lstrip())]}# {comment.text}{end}")
    return "\n".join(lines)


def fill_function(content: bytes, written: Docstring, column: int) -> bytes | None:
    """Insert a generated docstring into the code of a function at a byte column; return None if it has no place."""
    from pkg.extract.docstrings import insert_docstring

    text, indent = content.decode("utf-8", "replace"), find_indent(content, column).decode()
    try:
        filled = insert_docstring(insert_comments(text, unpack_comments(written.comments)), written.text, indent)
    except InputError:
        return None
    return filled.encode("utf-8", "replace")
