"""The rules by which containers hold items: those of their expression, what is put in, what callers give (A-12)."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeVar

from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import CONSTANT, CONTAINER, EMPTY, UNGIVEN, Value, Values, join, unknown
from pkg.resolve.containers import is_mapping, is_pair
from pkg.resolve.facts.scope_model import Store
from pkg.resolve.origins import Columns, Rest, Written
from pkg.resolve.resolution_context import Context

_FIRST, _SECOND = (CONSTANT, 0), (CONSTANT, 1)
MAX_WRITTEN = 1000  # of a table that is written out: what it holds anywhere says no more than that it may be anything
MAX_PLACE = 30  # of an item that is followed through slices, which may be slices of what holds them


class Contents:
    """Read what containers hold."""

    def __init__(self, context: Context) -> None:
        self._ask = context.ask
        self._solver = context.solver
        self._containers = context.containers
        self._trees = context.trees
        context.keep(q.ITEM, self._derive_item)
        context.keep(q.WRITTEN_ITEM, self._derive_first)
        context.keep(q.KEYS, self._derive_keys)
        context.keep(q.PUT, self._derive_anywhere)
        context.keep(q.STORE, self._put_store)
        context.keep(q.PART, self._derive_part_of_text)

    def _put_store(self, store: Store) -> Values:
        """Follow an assignment to an item into the containers that it may be of; nobody reads the set itself."""
        scope, module, binding = store.scope, store.scope.module, store.binding
        target = self._trees.parse(module, store.start, store.end)
        value = self._trees.parse(module, binding.start, binding.end)
        if not isinstance(target, ast.Subscript) or value is None or binding.path:
            return EMPTY
        keys = self._ask(q.NODE, scope, target.slice, store.start)
        for container in self._ask(q.NODE, scope, target.value, store.start):
            if container[0] == CONTAINER:
                self._containers.put(container, keys, Written(scope, binding.start, value))
        return EMPTY

    def _derive_keys(self, name: object) -> Values:
        """Give the keys that a dict is written with, and those under which something is put into it."""
        container, puts = self._containers.get(name), self._containers.get_puts(name)
        found = frozenset(puts.under)
        if puts.anywhere or container.inside:
            found |= unknown(Reason.ITEM)
        return found | self._derive_written_keys(container.origin) if isinstance(container.origin, Written) else found

    def _derive_written_keys(self, origin: Written) -> Values:
        node = origin.node
        if isinstance(node, ast.DictComp):
            return self._visit(origin, node.key)
        if isinstance(node, ast.Call):
            named = frozenset((CONSTANT, each.arg) for each in node.keywords if each.arg is not None)
            return named | unknown(Reason.ITEM) if node.args or len(named) < len(node.keywords) else named
        if not isinstance(node, ast.Dict):
            return EMPTY
        if _count_parts(node) > MAX_WRITTEN:
            return unknown(Reason.MANY)
        found = join([self._visit(origin, key) for key in node.keys if key is not None])
        return found | unknown(Reason.ITEM) if None in node.keys else found

    def _derive_item(self, name: object, key: Value | None) -> Values:
        """Give what a container holds under a key; without a key, anywhere."""
        container = self._containers.get(name)
        if key == _FIRST and is_pair(name):
            keys = [self._solver.get(q.KEYS, each[1]) for each in container.inside]
            return unknown(Reason.ITEM).union(*keys)  # a place that was counted, or a key, as far as it is written
        found: set[Value] = set(container.items)
        if isinstance(container.origin, Written):
            found |= self._derive_written(container.origin, key)
        elif isinstance(container.origin, Rest):
            found |= self._ask(q.GIVEN_REST, container.origin, key)
        elif isinstance(container.origin, Columns):
            parts = _pick(container.origin.parts, key)
            found |= self._ask(q.ITERATED, join([self._visit(part, part.node) for part in parts]), False)
        if container.inside:
            moved = None if is_pair(name) else _move(key, container.skip)  # the second of a pair is any item
            found |= self._ask(q.TAKEN, container.inside, moved)
        puts = self._containers.get_puts(name)
        if puts.anywhere or puts.under:
            found |= self._solver.get(q.PUT, name)
        for items in puts.under.values() if key is None else [puts.under.get(key, ())]:
            for item in list(items):
                found |= self._solver.get(q.PART, item)
        return frozenset(found)

    def _derive_first(self, name: object, key: Value) -> Values:
        """Give what a container is written with under a key."""
        origin = self._containers.get(name).origin
        return self._derive_written(origin, key) if isinstance(origin, Written) else EMPTY

    def _derive_anywhere(self, name: object) -> Values:
        """Give what is put into a container under keys that are not known."""
        return join([self._solver.get(q.PART, item) for item in list(self._containers.get_puts(name).anywhere)])

    def _derive_part_of_text(self, item: Written) -> Values:
        """Give the values of an expression whose value is put into containers."""
        return self._visit(item, item.node)

    def _derive_written(self, origin: Written, key: Value | None) -> Values:
        node = origin.node
        if key is None and _count_parts(node) > MAX_WRITTEN:
            return unknown(Reason.MANY)
        if isinstance(node, ast.Dict):
            return self._derive_dict(origin, node, key)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return self._visit(origin, node.elt)
        if isinstance(node, ast.DictComp):
            return self._visit(origin, node.value)
        if isinstance(node, ast.Call):
            return self._derive_made(origin, node, key)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return join([self._derive_part(origin, part) for part in _pick_items(node.elts, key)])
        return EMPTY

    def _derive_part(self, origin: Written, part: ast.expr) -> Values:
        values = self._visit(origin, part)
        return self._ask(q.ITERATED, values, False) if isinstance(part, ast.Starred) else values

    def _derive_dict(self, origin: Written, node: ast.Dict, key: Value | None) -> Values:
        found: set[Value] = set()
        for each, value in zip(node.keys, node.values, strict=True):
            if each is None:
                found |= self._ask(q.TAKEN, self._visit(origin, value), key)
            elif key is None or _may_be(self._solver.spread(self._visit(origin, each)), key):
                found |= self._visit(origin, value)
        return frozenset(found)

    def _derive_made(self, origin: Written, node: ast.Call, key: Value | None) -> Values:
        """Give what a dict holds that a call makes: what is given by name, in other dicts, and behind keys in pairs."""
        found: set[Value] = set()
        for each in node.keywords:
            if each.arg is None:
                found |= self._ask(q.TAKEN, self._visit(origin, each.value), key)
            elif key is None or key == (CONSTANT, each.arg):
                found |= self._visit(origin, each.value)
        for value in self._solver.spread(self._visit(origin, node.args[0])) if node.args else ():
            if value[0] != CONTAINER or is_mapping(self._containers.find_expression(value)):
                found |= self._ask(q.TAKEN, frozenset({value}), key)
            else:
                found |= self._ask(q.TAKEN, self._ask(q.ITERATED, frozenset({value}), False), _SECOND)
        return frozenset(found)

    def _visit(self, origin: Written, node: ast.expr) -> Values:
        return self._ask(q.NODE, origin.scope, node, origin.at)


def _may_be(values: Values, key: Value) -> bool:
    """Tell whether a key may be one of some values: it is, or one of them is not known."""
    return key in values or any(value[0] != CONSTANT and value != UNGIVEN for value in values)


def _move(key: Value | None, skip: int) -> Value | None:
    """Give the key of an item of a slice in what it is a slice of; any where that cannot be told."""
    if key is None or not isinstance(key[1], int) or not 0 <= key[1] <= MAX_PLACE - skip:
        return None
    return (CONSTANT, key[1] + skip)


def _count_parts(node: ast.expr) -> int:
    """Count what a container is written with, part by part."""
    if isinstance(node, ast.Dict):
        return len(node.values)
    return len(node.elts) if isinstance(node, ast.List | ast.Tuple | ast.Set) else 0


def _pick_items(parts: Sequence[ast.expr], key: Value | None) -> Sequence[ast.expr]:
    """Give the items that a key may mean."""
    return parts if any(isinstance(part, ast.Starred) for part in parts) else _pick(parts, key)


Listed = TypeVar("Listed")


def _pick(parts: Sequence[Listed], key: Value | None) -> Sequence[Listed]:
    """Give the parts that a key may mean, all where it is no position."""
    if key is None or not isinstance(key[1], int):
        return parts
    return [parts[key[1]]] if -len(parts) <= key[1] < len(parts) else []
