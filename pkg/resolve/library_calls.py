"""Calls of libraries, and of the methods of containers: of some the result depends on the arguments (A-12)."""

from __future__ import annotations

import ast
from collections.abc import Callable

from pkg.resolve.abstract_values import (
    CLASS,
    CLASSES,
    CONSTANT,
    CONTAINER,
    DELETER,
    GENERATOR,
    GETTER,
    INSTANCE,
    OBJECTS,
    PROPERTY,
    SELF,
    SETTER,
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
from pkg.resolve.arguments import Arguments
from pkg.resolve.attributes import Attributes
from pkg.resolve.chosen_attributes import ChosenAttributes
from pkg.resolve.container_items import Items
from pkg.resolve.containers import PAIR, Containers
from pkg.resolve.methods import Methods
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

    def call(self, method: Value, arguments: Arguments) -> Values:
        """Give what a method gives back."""
        container, name = method[2], method[3]
        if name in _TAKING and arguments.nodes:
            return self._items.take_under(frozenset({container}), arguments.derive(0)) | arguments.derive(1)
        if name in _TAKING or name == "popitem":
            return self._items.take(frozenset({container}), None)
        if name == "values":
            return self._containers.derive("values", container)
        if name == "items":
            return self._containers.pair_items(container)
        return frozenset({container if name in _COPYING else library(f"builtins.list().{name}()")})

    def change(self, method: Value, arguments: Arguments) -> None:
        """Follow what a method puts into its container."""
        container, name = method[2], method[3]
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
        node = self._containers.find_expression(method[2])
        return f"builtins.{_TYPES.get(type(node), 'list') if node else 'list'}().{method[3]}"


_FOLLOWED = (CONTAINER, GENERATOR, *OBJECTS)  # what a copy or a list of it keeps items of


class LibraryCalls:
    """Call functions and classes of libraries."""

    def __init__(
        self,
        methods: Methods,
        attributes: Attributes,
        chosen: ChosenAttributes,
        containers: Containers,
        items: Items,
        annotations: Annotations,
    ) -> None:
        self._methods = methods
        self._attributes = attributes
        self._chosen = chosen
        self._containers = containers
        self._items = items
        self._annotations = annotations

    def call(self, name: str, arguments: Arguments) -> Values:
        """Give what a call gives back."""
        rule = _RULES.get(name) or _RULES_OF_LAST.get(name.rpartition(".")[2])
        if rule is None or not (arguments.nodes or arguments.keywords or name == "builtins.super"):
            return _make_object(name)
        return rule(self, name, arguments)

    def _make_super(self, name: str, arguments: Arguments) -> Values:
        if arguments.nodes:
            return frozenset(
                (SUPER, value[1], (SELF, value[1])) if value[0] in CLASSES else (UNKNOWN, Reason.EXPRESSION)
                for value in arguments.derive(0)
            )
        each: Scope | None = arguments.scope
        while each is not None and each.parent is not None:
            if each.kind == "function" and each.parent.kind == "class":
                return frozenset({(SUPER, each.parent, (SELF, each.parent))})
            each = each.parent
        return unknown(Reason.EXPRESSION)

    def _derive_type(self, name: str, arguments: Arguments) -> Values:
        if len(arguments.nodes) > 1:
            return _make_object(name)
        return self._attributes.derive_all(arguments.derive(0), "__class__")

    def _derive_attribute(self, name: str, arguments: Arguments) -> Values:
        if len(arguments.nodes) < 2:
            return _make_object(name)
        return self._chosen.derive_all(arguments.derive(0), arguments.derive(1)) | arguments.derive(2)

    def _advance(self, name: str, arguments: Arguments) -> Values:
        return self._items.iterate(arguments.derive(0))

    def _give_first(self, name: str, arguments: Arguments) -> Values:
        return arguments.derive(0)

    def _make_property(self, name: str, arguments: Arguments) -> Values:
        """Give a property of the functions that are given by position or name."""
        given = [*zip(_ROLES, arguments.nodes, strict=False)]
        given += [(_ROLES_BY_NAME[each.arg], each.value) for each in arguments.keywords if each.arg in _ROLES_BY_NAME]
        return frozenset((PROPERTY, role, value) for role, node in given for value in arguments.derive_node(node))

    def _cast(self, name: str, arguments: Arguments) -> Values:
        return self._annotations.derive(arguments.scope, arguments.nodes[0])

    def _make_new(self, name: str, arguments: Arguments) -> Values:
        return frozenset(
            (INSTANCE if value[0] == CLASS else SELF, value[1]) for value in arguments.derive(0) if value[0] in CLASSES
        )

    def _copy(self, name: str, arguments: Arguments) -> Values:
        return frozenset(value for value in arguments.derive(0) if value[0] in _FOLLOWED) | _make_object(name)

    def _map(self, name: str, arguments: Arguments) -> Values:
        """Collect what the functions among the arguments give back."""
        items: set[Value] = set()
        for node in arguments.nodes:
            items |= join(self._methods.call(value) for value in arguments.derive_node(node) if target_of(value))
        return self._containers.collect((*arguments.place, ""), frozenset(items))

    def _collect(self, name: str, arguments: Arguments) -> Values:
        """Collect what the first argument holds."""
        items = self._items.iterate(frozenset(value for value in arguments.derive(0) if value[0] in _FOLLOWED))
        if name.endswith("enumerate"):
            items = self._containers.collect((*arguments.place, PAIR), items)
        return _make_object(name) | self._containers.collect((*arguments.place, ""), items)


def _make_object(name: str) -> Values:
    return frozenset({library(f"{name}()")})


_Rule = Callable[[LibraryCalls, str, Arguments], Values]
_ROLES = (GETTER, SETTER, DELETER)  # of the arguments of property
_ROLES_BY_NAME = {"fget": GETTER, "fset": SETTER, "fdel": DELETER, "func": GETTER}
_FIRST = ("functools.partial", "functools.wraps()", "functools.update_wrapper", "builtins.staticmethod",
          "builtins.classmethod", "contextlib.closing")  # fmt: skip
_RULES: dict[str, _Rule] = {
    "builtins.super": LibraryCalls._make_super,
    "builtins.type": LibraryCalls._derive_type,
    "builtins.getattr": LibraryCalls._derive_attribute,
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
    **dict.fromkeys(("property", "cached_property", "abstractproperty"), LibraryCalls._make_property),
    **dict.fromkeys(_COLLECTING, LibraryCalls._collect),
}
