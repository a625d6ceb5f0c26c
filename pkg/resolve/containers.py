"""Containers: lists, dicts and the like by the place that makes them, and what is put into them (A-12)."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import NamedTuple

from pkg.resolve import queries as q
from pkg.resolve.abstract_values import CONSTANT, CONTAINER, EMPTY, UNGIVEN, Value, Values
from pkg.resolve.dataflow import Dataflow
from pkg.resolve.origins import Origin, Written
from pkg.resolve.solver import Solver

REST, PAIR, ANNOTATED, BOUND = "rest of", "pair", "promised", "bound"
_DERIVED = frozenset(("slice", "values", PAIR, "pairs"))


class Container(NamedTuple):
    """Where the items of a container come from."""

    origin: Origin | None
    items: Values = EMPTY  # that are there beside those of its origin
    inside: Values = EMPTY  # containers whose items are its own
    skip: int = 0  # of a slice: items of `inside` that come before


class Puts:
    """What is put into one container: under keys that are known, and under any."""

    __slots__ = ("anywhere", "under")

    def __init__(self) -> None:
        self.anywhere: dict[Written, None] = {}
        self.under: dict[Value, dict[Written, None]] = {}


_NO_PUTS = Puts()


class Containers:
    """All containers by name; sets of their items are computed again when something is put into them."""

    def __init__(self, solver: Solver, dataflow: Dataflow) -> None:
        self._solver = solver
        self._dataflow = dataflow
        self._containers: dict[Hashable, Container] = {}
        self._puts: dict[Hashable, Puts] = {}

    def forget(self) -> None:
        """Forget all containers."""
        self._containers.clear()
        self._puts.clear()

    def note(self, name: Hashable, origin: Origin, items: Values = EMPTY) -> Values:
        """Give the container that an expression or parameter makes."""
        return self._make(name, Container(origin, items))

    def collect(self, name: Hashable, items: Values) -> Values:
        """Give a container of given items; asked again, it takes those besides."""
        return self._make(name, Container(None, items))

    def _make(self, name: Hashable, container: Container) -> Values:
        before = self._containers.setdefault(name, container)
        if not container.items <= before.items:
            self._containers[name] = before._replace(items=before.items | container.items)
            self._dataflow.renew(name)
        return frozenset({(CONTAINER, name)})

    def derive(self, kind: str, container: Value, start: int = 0) -> Values:
        """Give a container that takes its items from another; of one that does so itself none is made."""
        if is_derived(container):
            return frozenset({container})
        return self._make((kind, start, container[1]), Container(None, EMPTY, frozenset({container}), start))

    def slice_all(self, values: Values, start: int) -> Values:
        """Give what is left of containers behind their first items; a slice of a slice is the slice itself."""
        found: set[Value] = set()
        for value in self._solver.spread(values):
            found |= self.derive("slice", value, start) if value[0] == CONTAINER else {value}
        return frozenset(found)

    def pair_items(self, container: Value) -> Values:
        """Give the pairs of a dict as a container of containers; the first of a pair is not followed."""
        if is_derived(container):
            return frozenset({container})
        return self.collect(("pairs", 0, container[1]), self.derive(PAIR, container))

    def put(self, container: Value, keys: Values | None, item: Written) -> None:
        """Note that an item is put into a container; without keys, or where one of them is not known, anywhere."""
        name = container[1]
        keys = self._solver.spread(keys) if keys is not None else None
        puts = self._puts.get(name)
        if puts is None:
            puts = self._puts[name] = Puts()
            self._dataflow.renew(name)
        self._dataflow.deliver(name)
        if keys is None or any(key[0] != CONSTANT and key != UNGIVEN for key in keys):
            if item not in puts.anywhere:
                puts.anywhere[item] = None
                self._solver.renew(q.PUT, name)
                self._solver.renew(q.KEYS, name)
            return
        for key in keys or (UNGIVEN,):
            items = puts.under.setdefault(key, {})
            if not items:
                self._solver.renew(q.KEYS, name)
            if item not in items:
                items[item] = None
                self._solver.renew(q.ITEM, name, key)
                self._solver.renew(q.ITEM, name, None)

    def put_all(self, container: Value, others: Values) -> None:
        """Note that a container takes the items of others."""
        name = container[1]
        self._dataflow.deliver(name)
        before, others = self._containers[name], self._solver.spread(others)
        inside = before.inside | frozenset(value for value in others if value[0] == CONTAINER and value != container)
        if inside != before.inside:
            self._containers[name] = before._replace(inside=inside)
            self._dataflow.renew(name)

    def get(self, name: Hashable) -> Container:
        """Give a container to a set of its items, which is computed again when something is put into it."""
        self._dataflow.note_reader(name)
        return self._containers[name]

    def holds(self, name: Hashable) -> bool:
        """Tell whether a container was made by now."""
        return name in self._containers

    def get_puts(self, name: Hashable) -> Puts:
        """Give what is put into a container."""
        return self._puts.get(name, _NO_PUTS)

    def find_written(self, container: Value) -> Written | None:
        """Give the expression that makes a container and where it stands, where one does."""
        origin = self._containers[container[1]].origin
        return origin if isinstance(origin, Written) else None

    def find_expression(self, container: Value) -> ast.expr | None:
        """Give the expression that makes a container, where one does."""
        written = self.find_written(container)
        return written.node if written is not None else None


def is_mapping(node: ast.expr | None) -> bool:
    """Tell whether an expression makes what has keys: of calls, only those are containers by themselves."""
    return isinstance(node, ast.Dict | ast.DictComp | ast.Call)


def is_pair(name: Hashable) -> bool:
    """Tell whether a container is made by enumerate, or stands for the pairs of a dict."""
    return isinstance(name, tuple) and PAIR in (name[0], name[-1])


def is_promised(container: Value) -> bool:
    """Tell whether an annotation alone says that there is a container."""
    name: tuple[object, ...] = container[1]
    return name[0] == ANNOTATED


def is_derived(container: Value) -> bool:
    """Tell whether a container takes its items from another."""
    return container[1][0] in _DERIVED
