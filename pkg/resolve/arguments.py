"""The arguments of a call, evaluated one by one when a rule asks for them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from pkg.resolve.abstract_values import EMPTY, Values
from pkg.resolve.facts.parsed_trees import Trees
from pkg.resolve.facts.scope_model import Scope, Site
from pkg.resolve.origins import Written

Visit = Callable[[Scope, ast.expr, int], Values]
"""Give the values of an expression in a scope; the last is the offset from which its text was parsed."""


class Shape(NamedTuple):
    """How the arguments of a call are written."""

    placed: int  # those that are given by position
    starred: int | None  # place of the first starred one
    names: tuple[str, ...]  # of those that are given by name


class Arguments:
    """What a call gives to the function that it calls."""

    __slots__ = ("_at", "_call", "_spread", "_trees", "_visit", "scope")

    def __init__(
        self,
        visit: Visit,
        spread: Callable[[Values], Values],
        trees: Trees,
        scope: Scope,
        call: ast.Call | Site,
        at: int = 0,
    ) -> None:
        self.scope = scope
        self._visit = visit
        self._spread = spread
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
        """Give the values of an argument one by one; nothing where there is none."""
        nodes = self.nodes
        return self.derive_node(nodes[place]) if place < len(nodes) else EMPTY

    def derive_node(self, node: ast.expr) -> Values:
        """Give the values of one of the arguments one by one."""
        return self._spread(self._visit(self.scope, node, self._at))

    def hand(self, node: ast.expr) -> Values:
        """Give the values of one of the arguments to be handed on."""
        return self._visit(self.scope, node, self._at)

    def describe(self) -> Shape:
        """Tell how the arguments are written."""
        starred = next((i for i, node in enumerate(self.nodes) if isinstance(node, ast.Starred)), None)
        names = tuple(each.arg for each in self.keywords if each.arg is not None)
        return Shape(len(self.nodes), starred, names)

    def write(self, node: ast.expr) -> Written:
        """Give one of the arguments as something written here."""
        return Written(self.scope, self._at, node)
