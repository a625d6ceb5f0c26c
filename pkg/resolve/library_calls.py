"""Calls of libraries, and of the methods of containers: of some the result depends on the arguments (A-12)."""

from __future__ import annotations

import ast
from collections.abc import Callable

from pkg.resolve.abstract_values import (
    CLASS,
    CLASSES,
    CONSTANT,
    CONTAINER,
    GENERATOR,
    INSTANCE,
    OBJECTS,
    SELF,
    SUPER,
    UNKNOWN,
    Reason,
    Value,
    Values,
    join,
    library,
    target_of,
    unknown,
)
from pkg.resolve.annotations import Annotations
from pkg.resolve.arguments import Given
from pkg.resolve.attributes import Attributes
from pkg.resolve.containers import PAIR, Containers
from pkg.resolve.items import Items
from pkg.resolve.methods import Methods
from pkg.resolve.resolution_context import Context
from pkg.resolve.scope_model import Scope

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


_FOLLOWED = (CONTAINER, GENERATOR, *OBJECTS)  # what a copy or a list of it keeps items of


class LibraryCalls:
    """Call functions and classes of libraries."""

    def __init__(
        self,
        context: Context,
        methods: Methods,
        attributes: Attributes,
        containers: Containers,
        items: Items,
        annotations: Annotations,
    ) -> None:
        self._context = context
        self._methods = methods
        self._attributes = attributes
        self._containers = containers
        self._items = items
        self._annotations = annotations

    def call(self, name: str, given: Given) -> Values:
        """Give what a call gives back."""
        rule = _RULES.get(name) or _RULES_OF_LAST.get(name.rpartition(".")[2])
        if rule is None or not (given.nodes or name == "builtins.super"):
            return _make_object(name)
        return rule(self, name, given)

    def _make_super(self, name: str, given: Given) -> Values:
        if given.nodes:
            return frozenset(
                (SUPER, value[1], (SELF, value[1])) if value[0] in CLASSES else (UNKNOWN, Reason.EXPRESSION)
                for value in given.read(0)
            )
        each: Scope | None = given.scope
        while each is not None and each.parent is not None:
            if each.kind == "function" and each.parent.kind == "class":
                return frozenset({(SUPER, each.parent, (SELF, each.parent))})
            each = each.parent
        return unknown(Reason.EXPRESSION)

    def _read_type(self, name: str, given: Given) -> Values:
        if len(given.nodes) > 1:
            return _make_object(name)
        return self._attributes.read_all(given.read(0), "__class__")

    def _read_attribute(self, name: str, given: Given) -> Values:
        if len(given.nodes) < 2:
            return _make_object(name)
        values = given.read(0)
        return join(self._read_named(values, key) for key in given.read(1))

    def _read_named(self, values: Values, key: Value) -> Values:
        if key[0] != CONSTANT or not isinstance(key[1], str):
            return unknown(Reason.DYNAMIC)
        self._context.ask(key[1])
        return self._attributes.read_all(values, key[1])

    def _advance(self, name: str, given: Given) -> Values:
        return self._items.iterate(given.read(0))

    def _give_first(self, name: str, given: Given) -> Values:
        return given.read(0)

    def _cast(self, name: str, given: Given) -> Values:
        return self._annotations.read(given.scope, given.nodes[0])

    def _make_new(self, name: str, given: Given) -> Values:
        return frozenset(
            (INSTANCE if value[0] == CLASS else SELF, value[1]) for value in given.read(0) if value[0] in CLASSES
        )

    def _copy(self, name: str, given: Given) -> Values:
        return frozenset(value for value in given.read(0) if value[0] in _FOLLOWED) | _make_object(name)

    def _map(self, name: str, given: Given) -> Values:
        """Collect what the functions among the arguments give back."""
        items: set[Value] = set()
        for node in given.nodes:
            items |= join(self._methods.call(value) for value in given.read_node(node) if target_of(value))
        return self._containers.collect((*given.place, ""), frozenset(items))

    def _collect(self, name: str, given: Given) -> Values:
        """Collect what the first argument holds."""
        items = self._items.iterate(frozenset(value for value in given.read(0) if value[0] in _FOLLOWED))
        if name.endswith("enumerate"):
            items = self._containers.collect((*given.place, PAIR), items)
        return _make_object(name) | self._containers.collect((*given.place, ""), items)


def _make_object(name: str) -> Values:
    return frozenset({library(f"{name}()")})


_Rule = Callable[[LibraryCalls, str, Given], Values]
_FIRST = ("functools.partial", "functools.wraps()", "functools.update_wrapper", "builtins.property",
          "builtins.staticmethod", "builtins.classmethod", "contextlib.closing")  # fmt: skip
_RULES: dict[str, _Rule] = {
    "builtins.super": LibraryCalls._make_super,
    "builtins.type": LibraryCalls._read_type,
    "builtins.getattr": LibraryCalls._read_attribute,
    "builtins.next": LibraryCalls._advance,
    "builtins.map": LibraryCalls._map,
    "builtins.filter": LibraryCalls._map,
    "typing.cast": LibraryCalls._cast,
    "copy.copy": LibraryCalls._copy,
    "copy.deepcopy": LibraryCalls._copy,
    **dict.fromkeys(_FIRST, LibraryCalls._give_first),
}
_COLLECTING = ("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "enumerate", "deque")
_RULES_OF_LAST: dict[str, _Rule] = {
    "__new__": LibraryCalls._make_new,
    **dict.fromkeys(_COLLECTING, LibraryCalls._collect),
}
