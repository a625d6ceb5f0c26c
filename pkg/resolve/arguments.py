"""The arguments of a call, evaluated one by one when a rule asks for them."""

from __future__ import annotations

import ast
from collections.abc import Callable

from pkg.resolve.abstract_values import EMPTY, Values
from pkg.resolve.containers import Written
from pkg.resolve.resolution_context import Trees
from pkg.resolve.scope_model import Scope, Site

Visit = Callable[[Scope, ast.expr, int], Values]
"""Give the values of an expression in a scope; the last is the offset from which its text was parsed."""


class Arguments:
    """What a call gives to the function that it calls."""

    __slots__ = ("_at", "_call", "_trees", "_visit", "scope")

    def __init__(self, visit: Visit, trees: Trees, scope: Scope, call: ast.Call | Site, at: int = 0) -> None:
        self.scope = scope
        self._visit = visit
        self._trees = trees
        self._call = call
        self._at = call.more[0] - 1 if isinstance(call, Site) else at

    @property
    def call(self) -> ast.Call | None:
        """Parse the call; None for what this Python does not know."""
        return self._trees.parse_arguments(self._call) if isinstance(self._call, Site) else self._call

    @property
    def nodes(self) -> list[ast.expr]:
        """Give the arguments that are given by position."""
        call = self.call
        return call.args if call is not None else []

    @property
    def keywords(self) -> list[ast.keyword]:
        """Give the arguments that are given by name."""
        call = self.call
        return call.keywords if call is not None else []

    @property
    def place(self) -> tuple[object, ...]:
        """Name the call by its place."""
        call = self.call
        span = (call.lineno, call.col_offset, call.end_col_offset) if call is not None else ()
        return (self.scope.module.path, self._at, *span)

    def derive(self, place: int) -> Values:
        """Give the values of an argument; nothing where there is none."""
        nodes = self.nodes
        return self._visit(self.scope, nodes[place], self._at) if place < len(nodes) else EMPTY

    def derive_node(self, node: ast.expr) -> Values:
        """Give the values of one of the arguments."""
        return self._visit(self.scope, node, self._at)

    def find_starred(self) -> int | None:
        """Give the place of the first starred argument."""
        return next((i for i, node in enumerate(self.nodes) if isinstance(node, ast.Starred)), None)

    def write(self, node: ast.expr) -> Written:
        """Give one of the arguments as something written here."""
        return Written(self.scope, self._at, node)
