"""Calls of the methods of containers: what they give back, and what they put in (A-12)."""

from __future__ import annotations

import ast

from pkg.resolve.containers import Containers
from pkg.resolve.given import Given
from pkg.resolve.items import Items
from pkg.resolve.values import CONSTANT, Value, Values, library

_TAKING = frozenset(("get", "pop", "setdefault", "__getitem__"))
_COPYING = frozenset(("copy", "union", "difference", "intersection"))
_ADDING = frozenset(("append", "add", "appendleft"))
_TYPES = {ast.Dict: "dict", ast.DictComp: "dict", ast.Set: "set", ast.SetComp: "set", ast.Tuple: "tuple"}


class ContainerCalls:
    """Call methods of containers: values of the form (METHOD, None, container, name)."""

    def __init__(self, containers: Containers, items: Items) -> None:
        self._containers = containers
        self._items = items

    def call(self, method: Value, given: Given) -> Values:
        """Give what a method gives back."""
        container, name = method[2], method[3]
        if name in _TAKING and given.nodes:
            return self._items.take_under(frozenset({container}), given.read(0)) | given.read(1)
        if name in _TAKING or name == "popitem":
            return self._items.take(frozenset({container}), None)
        if name == "values":
            return self._containers.derive("values", container)
        if name == "items":
            return self._containers.pair_items(container)
        return frozenset({container if name in _COPYING else library(f"builtins.list().{name}()")})

    def change(self, method: Value, given: Given) -> None:
        """Follow what a method puts into its container."""
        container, name = method[2], method[3]
        if name in _ADDING and given.nodes:
            self._containers.put(container, None, given.write(given.nodes[0]))
        elif name in ("insert", "setdefault") and len(given.nodes) > 1:
            keys = given.read(0) if name == "setdefault" else None
            self._containers.put(container, keys, given.write(given.nodes[1]))
        elif name in ("extend", "update") and given.nodes:
            self._containers.put_all(container, given.read(0))
        for keyword in given.keywords if name == "update" else ():
            if keyword.arg is not None:
                self._containers.put(container, frozenset({(CONSTANT, keyword.arg)}), given.write(keyword.value))

    def name(self, method: Value) -> str:
        """Name a method by the builtin type that it is of."""
        node = self._containers.find_expression(method[2])
        return f"builtins.{_TYPES.get(type(node), 'list') if node else 'list'}().{method[3]}"
