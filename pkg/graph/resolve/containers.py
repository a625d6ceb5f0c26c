"""Containers: lists, dicts and the like by the place that makes them, and what is put into them (A-12)."""

from __future__ import annotations

import ast
from typing import NamedTuple

from pkg.graph.resolve.context import Context
from pkg.graph.resolve.model import Scope
from pkg.graph.resolve.solver import Key
from pkg.graph.resolve.values import CONTAINER, EMPTY, Value, Values

_DERIVED = frozenset(("slice", "values", "pair", "pairs"))


class Written(NamedTuple):
    """A parsed expression with the scope that it stands in and the offset from which its text was parsed."""

    scope: Scope
    at: int
    node: ast.expr


class Rest(NamedTuple):
    """A parameter that collects what is left of the arguments: *args or **kwargs."""

    scope: Scope
    place: int
    name: str


class Container(NamedTuple):
    """Where the items of a container come from."""

    origin: Written | Rest | None
    items: Values = EMPTY  # that are there beside those of its origin
    inside: Values = EMPTY  # containers whose items are its own
    skip: int = 0  # of a slice: items of `inside` that come before


class Put(NamedTuple):
    """An item that is put into a container; without keys, anywhere."""

    keys: Values | None
    item: Written


class Containers:
    """All containers by name; sets of their items are computed again when something is put into them."""

    def __init__(self, context: Context) -> None:
        self._solver = context.solver
        self._containers: dict[object, Container] = {}
        self._puts: dict[object, dict[Put, None]] = {}
        self._readers: dict[object, set[Key]] = {}

    def forget(self) -> None:
        """Forget all containers."""
        for held in (self._containers, self._puts, self._readers):
            held.clear()

    def note(self, name: object, origin: Written | Rest, items: Values = EMPTY) -> Values:
        """Give the container that an expression or parameter makes."""
        return self._make(name, Container(origin, items))

    def collect(self, name: object, items: Values) -> Values:
        """Give a container of given items; asked again, it takes those besides."""
        return self._make(name, Container(None, items))

    def _make(self, name: object, container: Container) -> Values:
        before = self._containers.setdefault(name, container)
        if not container.items <= before.items:
            self._containers[name] = before._replace(items=before.items | container.items)
            self._renew(name)
        return frozenset({(CONTAINER, name)})

    def derive(self, kind: str, container: Value, start: int = 0) -> Values:
        """Give a container that takes its items from another; of one that does so itself none is made."""
        if is_derived(container):
            return frozenset({container})
        return self._make((kind, start, container[1]), Container(None, EMPTY, frozenset({container}), start))

    def slice_all(self, values: Values, start: int) -> Values:
        """Give what is left of containers behind their first items; a slice of a slice is the slice itself."""
        found: set[Value] = set()
        for value in values:
            found |= self.derive("slice", value, start) if value[0] == CONTAINER else {value}
        return frozenset(found)

    def pair_items(self, container: Value) -> Values:
        """Give the pairs of a dict as a container of containers; the first of a pair is not followed."""
        if is_derived(container):
            return frozenset({container})
        return self.collect(("pairs", 0, container[1]), self.derive("pair", container))

    def put(self, container: Value, keys: Values | None, item: Written) -> None:
        """Note that an item is put into a container."""
        puts = self._puts.setdefault(container[1], {})
        put = Put(keys, item)
        if put not in puts:
            puts[put] = None
            self._renew(container[1])

    def put_all(self, container: Value, others: Values) -> None:
        """Note that a container takes the items of others."""
        before = self._containers[container[1]]
        inside = before.inside | frozenset(value for value in others if value[0] == CONTAINER and value != container)
        if inside != before.inside:
            self._containers[container[1]] = before._replace(inside=inside)
            self._renew(container[1])

    def _renew(self, name: object) -> None:
        for key in self._readers.get(name, ()):
            self._solver.renew(key)

    def read(self, name: object, reader: Key) -> Container:
        """Give a container to a set of its items, which is computed again when something is put into it."""
        self._readers.setdefault(name, set()).add(reader)
        return self._containers[name]

    def list_puts(self, name: object) -> list[Put]:
        """Give what is put into a container."""
        return list(self._puts.get(name, ()))

    def find_expression(self, container: Value) -> ast.expr | None:
        """Give the expression that makes a container, where one does."""
        origin = self._containers[container[1]].origin
        return origin.node if isinstance(origin, Written) else None


def is_derived(container: Value) -> bool:
    """Tell whether a container takes its items from another."""
    return container[1][0] in _DERIVED
