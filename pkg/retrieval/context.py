"""Code in the context: the shown text of each hit, and the targets of a text's calls."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from pkg.model import Cut, Edge, Node
from pkg.units import find_owner

_OF_PYTHON_2 = ("basestring", "cmp", "execfile", "file", "long", "raw_input", "reduce", "reload", "unichr", "unicode")
BUILTINS = frozenset((*dir(builtins), *_OF_PYTHON_2, "xrange"))
_WORD = re.compile(r"\w+")
NOT_FOUND = 1 << 20  # a column after all others: the called name does not occur on the line


class Lines(NamedTuple):
    """Lines of a file, the last one included."""

    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A node in the context without its cut or folded lines."""

    node: Node
    cuts: tuple[Cut | Lines, ...] = ()
    links: tuple[Edge, ...] | None = None  # of its owner, where they have been read

    @property
    def owner(self) -> str:
        """Return the id of the definition that makes the calls; for a block, its function."""
        return find_owner(self.node.id, self.node.label, self.node.name)

    def has_line(self, line: int | None) -> bool:
        """Return whether a line of the file is shown."""
        if line is None or not self.node.start_line <= line <= self.node.end_line:
            return False
        return not any(cut.start_line <= line <= cut.end_line for cut in self.cuts)

    def find_column(self, line: int, name: str) -> int:
        """Return the first column of a name on a line, to order the calls there."""
        text = _split_lines(self.node.content)[line - self.node.start_line]
        return next((word.start() for word in _WORD.finditer(text) if word[0] == name), NOT_FOUND)

    def holds(self, other: Node) -> bool:
        """Return whether another node lies inside this one."""
        node = self.node
        if (node.source, node.path) != (other.source, other.path):
            return False
        is_inside = node.start_line <= other.start_line and other.end_line <= node.end_line
        return is_inside and not any(
            cut.start_line <= other.end_line and other.start_line <= cut.end_line for cut in self.cuts
        )


@lru_cache(maxsize=16)  # the calls of a text are located one after another
def _split_lines(content: str) -> list[str]:
    return content.split("\n")


def list_scopes(node: Node) -> Iterator[str]:
    """Iterate over the qualified names around the code of a node, innermost first: a.b.c, a.b, a."""
    parts = node.qualname.split(".")
    return (".".join(parts[:count]) for count in range(len(parts), 0, -1))


class Callee(NamedTuple):
    """A function or class that a call reaches, and the reason for including it."""

    node: Node
    reason: str


class UnresolvedCall(NamedTuple):
    """An unbound call: the called expression, and its place."""

    expression: str
    source: str
    path: str
    line: int
    reason: str


@dataclass(slots=True)
class Calls:
    """Calls of one text: their targets in text order, and the number of call sites by confidence."""

    reached: list[Callee] = field(default_factory=list)
    bound: int = 0
    possible: int = 0
    unresolved: list[UnresolvedCall] = field(default_factory=list)
    explain: list[str] = field(default_factory=list)

    @property
    def unbound(self) -> int:
        """Return the number of call sites without a known target."""
        return len(self.unresolved)
