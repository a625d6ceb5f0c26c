"""Pieces of texts as syntax trees: parsed when a rule asks for them, the latest are remembered."""

from __future__ import annotations

import ast
from typing import Any

from pkg.extract.code_pieces import parse_expression
from pkg.resolve.facts.scope_model import ModuleScopes, Site
from pkg.units import Code

MAX_TREES = 2000  # that are remembered: with a tenth more memory nothing would be parsed twice


class Trees:
    """Parse the pieces of texts, and remember the latest: a repository's take more memory than all that they give."""

    def __init__(self) -> None:
        self._trees: dict[tuple[str, int, int], ast.expr | None] = {}
        self._arguments: dict[Site, ast.Call | None] = {}
        self._calls: dict[ModuleScopes, dict[int, Site]] = {}  # by the end, which each has for its own

    def clear(self) -> None:
        """Forget all trees."""
        for held in (self._trees, self._arguments, self._calls):
            held.clear()

    def parse(self, module: ModuleScopes, start: int, end: int) -> ast.expr | None:
        """Parse a piece of a module."""
        key = module.path, start, end
        if key not in self._trees:
            _make_room(self._trees, MAX_TREES)
            self._trees[key] = parse_expression(module.text[start:end])
        return self._trees[key]

    def parse_arguments(self, site: Site) -> ast.Call | None:
        """Parse the arguments of a call site, as a call of a name of one letter."""
        if site not in self._arguments:
            _make_room(self._arguments, MAX_TREES)
            text = site.scope.module.text[slice(*site.more)]
            tree = parse_expression(b"_" + text) if text.startswith(b"(") else None
            self._arguments[site] = tree if isinstance(tree, ast.Call) else None
        return self._arguments[site]

    def find_call(self, module: ModuleScopes, start: int, end: int) -> Site | None:
        """Find the call site that takes up a span."""
        sites = self._calls.get(module)
        if sites is None:
            calls = (site for scope in module.scopes for site in scope.sites if site.code == Code.CALL)
            sites = self._calls[module] = {site.more[1]: site for site in calls}
        found = sites.get(end)
        return found if found is not None and found.start == start else None


def _make_room(held: dict[Any, Any], most: int) -> None:
    """Forget all where there is too much: files are gone through one by one, so that little is asked for again."""
    if len(held) >= most:
        held.clear()
