"""What all parts of the resolution of a repository share: its modules, classes, sets, parsed pieces, and the data flow.

A set that is made of deliveries, of arguments to functions or items to containers, depends on the sites that deliver.
Where only some sites of a repository are resolved again, those are resolved as well that are known, from the last time,
to deliver to what is read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator
from enum import IntEnum
from typing import Any

from pkg.resolve.abstract_values import Reason, unknown
from pkg.resolve.hierarchy import Hierarchy
from pkg.resolve.modules import ModuleMap
from pkg.resolve.parsing import parse_expression
from pkg.resolve.repository_files import Files
from pkg.resolve.scope_model import ModuleScopes, Site
from pkg.resolve.solver import FEW, UNLIMITED, Cell, Key, Solver
from pkg.units import Code

Finder = Callable[[Hashable], Iterator[Key]]
"""Give the sets whose rules are known to deliver to a place."""


class Dataflow:
    """Who delivers to each place, and which sets are made of what is delivered there."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._known: Finder | None = None
        self.origins: dict[Hashable, set[Cell]] = {}  # by place: the sets whose rules deliver
        self.readers: dict[Hashable, set[Cell]] = {}  # by place: the sets that are computed again after a delivery

    def forget(self) -> None:
        """Forget all deliveries."""
        self.origins.clear()
        self.readers.clear()

    def know(self, finder: Finder | None) -> None:
        """Take what is known of deliveries by sites that nobody asked for yet."""
        self._known = finder

    def note_reader(self, place: Hashable) -> None:
        """Note that the set that is being computed is made of what is delivered to a place."""
        reader = self._solver.current
        if reader is None:
            return
        readers = self.readers.get(place)
        if readers is None:
            readers = self.readers[place] = set()
            for key in self._known(place) if self._known is not None else ():
                self._solver.get(key)
        readers.add(reader)

    def deliver(self, place: Hashable) -> None:
        """Note that the set that is being computed delivers to a place."""
        origin = self._solver.current
        if origin is not None:
            self.origins.setdefault(place, set()).add(origin)

    def list_groups(self) -> Iterator[tuple[Hashable, list[Hashable]]]:
        """Give the places to which groups of calls deliver, with these; none of the calls delivers there by itself."""
        for place, origins in self.origins.items():
            groups = [each.key[1] for each in origins if each.key[0] == "called of many"]
            if groups:
                yield place, groups

    def renew(self, place: Hashable) -> None:
        """Compute again what is made of deliveries to a place, after a new one."""
        for reader in self.readers.get(place, ()):
            self._solver.queue(reader)


class Following(IntEnum):
    """How far arguments and results are followed."""

    ALL = 0
    FEW = 1  # arguments only into functions that few call
    NONE = 2  # neither, but for annotations


MAX_TOLD = 12  # derived classes, and assignments from outside to one attribute, where not all is followed
MAX_TREES = 2000  # that are remembered: with a tenth more memory nothing would be parsed twice


class Context:
    """Hold what the parts share; each part adds its rules to the solver, and asks the others through it."""

    def __init__(self, modules: Files, following: Following = Following.ALL) -> None:
        self.modules = modules
        self.following = following
        self.map = ModuleMap(modules, modules.package)
        self.solver = Solver(unknown(Reason.MANY), FEW if following == Following.ALL else UNLIMITED)
        self.dataflow = Dataflow(self.solver)
        self.most = UNLIMITED if following == Following.ALL else MAX_TOLD
        self.hierarchy = Hierarchy(most=self.most)
        self.trees = Trees()
        self.asked: dict[str, set[Cell]] = {}  # by name, the sets that ask for an attribute by a text

    def ask(self, name: str) -> None:
        """Note that the set that is being computed asks for an attribute by a text, before which stands no dot."""
        if self.solver.current is not None:
            self.asked.setdefault(name, set()).add(self.solver.current)


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
