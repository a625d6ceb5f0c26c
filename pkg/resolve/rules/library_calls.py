"""Calls of libraries, and of the methods of containers: of some the result depends on the arguments (A-12)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pkg.resolve import queries as q
from pkg.resolve.abstract_values import CONSTANT, CONTAINER, Value, Values, library
from pkg.resolve.arguments import Arguments
from pkg.resolve.outcomes import Run
from pkg.resolve.plugins import find_giving, find_running, make_object, may_call
from pkg.resolve.resolution_context import Context

_TAKING = frozenset(("get", "pop", "popleft", "setdefault", "__getitem__"))
_COPYING = frozenset(("copy", "union", "difference", "intersection"))
_ADDING = frozenset(("append", "add", "appendleft"))
_TYPES = {ast.Dict: "dict", ast.DictComp: "dict", ast.Set: "set", ast.SetComp: "set", ast.Tuple: "tuple"}


class ContainerCalls:
    """Call methods of containers: values of the form (METHOD, None, container, name)."""

    def __init__(self, context: Context) -> None:
        self._ask = context.ask
        self._containers = context.containers
        context.answer(q.CONTAINER_CALL, self.call)
        context.answer(q.CONTAINER_CHANGE, self.change)
        context.answer(q.CONTAINER_METHOD, self.name)

    def call(self, method: Value, arguments: Arguments) -> Values:
        """Give what a method gives back."""
        container, name = method[2], method[3]
        if name in _TAKING and arguments.nodes:
            return self._ask(q.TAKEN_UNDER, frozenset({container}), arguments.derive(0)) | arguments.derive(1)
        if name in _TAKING or name == "popitem":
            return self._ask(q.TAKEN, frozenset({container}), None)
        if name == "values":
            return self._containers.derive("values", container)
        if name == "items":
            return self._containers.pair_items(container)
        return frozenset({container if name in _COPYING else library(f"builtins.list().{name}()")})

    def change(self, method: Value, arguments: Arguments) -> None:
        """Follow what a method puts into its container."""
        container, name = method[2], method[3]
        if container[0] != CONTAINER:
            return
        if name in _ADDING and arguments.nodes:
            self._containers.put(container, None, arguments.write(arguments.nodes[0]))
        elif name in ("insert", "setdefault") and len(arguments.nodes) > 1:
            keys = arguments.derive(0) if name == "setdefault" else None
            self._containers.put(container, keys, arguments.write(arguments.nodes[1]))
        elif name in ("extend", "update") and arguments.nodes:
            self._containers.put_all(container, arguments.derive(0))
        for keyword in arguments.keywords if name == "update" else ():
            if keyword.arg is not None:
                self._containers.put(container, frozenset({(CONSTANT, keyword.arg)}), arguments.write(keyword.value))

    def name(self, method: Value) -> str:
        """Name a method by the builtin type that it is of."""
        if method[2][0] != CONTAINER:
            return f"builtins.dict().{method[3]}"
        node = self._containers.find_expression(method[2])
        return f"builtins.{_TYPES.get(type(node), 'list') if node else 'list'}().{method[3]}"


class LibraryCalls:
    """Call functions and classes of libraries."""

    def __init__(self, context: Context) -> None:
        self._context = context
        context.answer(q.LIBRARY_CALL, self.call)
        context.answer(q.LIBRARY_RUNS, self.run)
        context.answer(q.MAY_CALL, may_call)

    def call(self, name: str, arguments: Arguments) -> Values:
        """Give what a call gives back."""
        rule = find_giving(name)
        return rule(self._context, name, arguments) if rule is not None else make_object(name)

    def run(self, name: str, arguments: Arguments) -> Iterator[Run]:
        """Give what a call calls of what it is given."""
        rule = find_running(name)
        return rule(self._context, name, arguments) if rule is not None else iter(())
