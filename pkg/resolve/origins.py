"""What the items of containers come from: expressions, what callers give, columns of rows (A-12)."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import NamedTuple

from pkg.resolve.facts.scope_model import Scope


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """A parsed expression with the scope that it stands in and the offset from which its text was parsed.

    Equal is what stands at one place: parsed once more, it is another node and still the same expression.
    """

    scope: Scope
    at: int
    node: ast.expr

    @property
    def place(self) -> tuple[str, int, int, int, int | None, int | None]:
        """Name it by where it stands."""
        node = self.node
        return self.scope.module.path, self.at, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Written) and self.place == other.place

    def __hash__(self) -> int:
        return hash(self.place)


class Rest(NamedTuple):
    """A parameter that collects what is left of the arguments: *args or **kwargs."""

    scope: Scope
    place: int
    name: str


class Columns(NamedTuple):
    """What rows are made of that have an item of each of several collections."""

    parts: tuple[Written, ...]


Origin = Written | Rest | Columns
