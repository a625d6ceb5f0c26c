"""Methods that Python calls by itself for an object: of special names, and of properties (A-12).

The first where builtins ask the object, in loops, for items; the others when an attribute is read or assigned to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pkg.model import CERTAIN, LIKELY, POSSIBLE
from pkg.resolve.abstract_values import FUNCTION, INSTANCE, OBJECTS, SUPER, TYPED, UNKNOWN, Value
from pkg.resolve.evaluate import Evaluator
from pkg.resolve.outcomes import Library, Outcome, Target, Unbound
from pkg.resolve.scope_model import Scope, Site
from pkg.resolve.sites import OPERATIONS, find_sign
from pkg.units import DOTTED_NAME, NAME, Code

_ITERATING, _ADVANCING = ("__iter__", "__aiter__"), ("__next__", "__anext__")
_OPERATIONS = {
    Code.ITEM: "__getitem__", Code.PUT: "__setitem__", Code.DELETE: "__delitem__", Code.CONTAINS: "__contains__",
}  # fmt: skip
_LOOPING = ("all", "any", "enumerate", "frozenset", "iter", "list", "max", "min", "set", "sorted", "sum", "tuple")
_ASKING = {
    "bool": ("__bool__", "__len__"), "hash": ("__hash__",), "len": ("__len__",), "next": ("__next__",),
    "repr": ("__repr__",), "reversed": ("__reversed__",), "str": ("__str__", "__repr__"),
}  # fmt: skip
ASKING: dict[str, tuple[str, ...]] = {f"builtins.{name}": methods for name, methods in _ASKING.items()}
"""By builtin, the methods of which it calls the first that its argument has; none where it goes through that."""
ASKING |= {f"builtins.{name}": () for name in _LOOPING}

_ONLY_ARGUMENT = re.compile(rb"\(\s*(" + DOTTED_NAME + rb")\s*(?:\)|,\s*" + NAME + rb"\s*=)")  # beside those by name


class SpecialCalls:
    """Find the special methods of objects that Python calls by itself."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._hierarchy = evaluator.hierarchy
        self._methods = evaluator.methods
        self._expressions = evaluator.expressions

    def bind_operation(self, site: Site) -> Iterable[Target]:
        """Bind the use of an item, or the question whether there is one, to the method of the object that is asked."""
        values = self._expressions.evaluate(site.scope, site.start, site.end)
        names = (_OPERATIONS[site.code],)
        return [target for value in values if value[0] in OBJECTS for target in self.find(value, names)]

    def bind_operator(self, site: Site) -> list[Outcome]:
        """Bind an operator to the method of its left side, else to that of its right side."""
        methods = OPERATIONS[find_sign(site)]
        left = self._expressions.evaluate(site.scope, site.start, site.end)
        found = [target for value in left for target in self._operate(value, methods.left)]
        if any(isinstance(each, Target | Unbound) for each in found):
            return found
        right = self._expressions.evaluate(site.scope, *site.more)
        return [target for value in right for target in self._operate(value, (methods.right,))]

    def _operate(self, value: Value, methods: tuple[str, ...]) -> Iterator[Outcome]:
        """Give the method of one side, or that it has none, which makes the methods of its other values less sure."""
        known = self._find_first(value, methods) if value[0] in OBJECTS else ()
        if known:
            yield from self.find(value, known, "operator")
        else:
            yield Unbound(value[1]) if value[0] == UNKNOWN else Library("operator")

    def bind_builtin(self, site: Site, methods: tuple[str, ...]) -> Iterator[Target]:
        """Bind a call of a builtin to the method by which it asks its argument, where that is a name."""
        match = _ONLY_ARGUMENT.match(site.scope.module.text, *site.more)
        for value in self._expressions.follow(site.scope, match.group(1)) if match else ():
            if value[0] in OBJECTS:
                yield from self._ask(value, methods) if methods else self.iterate(value)

    def _ask(self, value: Value, methods: tuple[str, ...]) -> Iterator[Target]:
        return self.find(value, self._find_first(value, methods))

    def _find_first(self, value: Value, methods: tuple[str, ...]) -> tuple[str, ...]:
        """Give the first of some methods that an object has, alone; nothing where it has none."""
        return next(((name,) for name in methods if self._hierarchy.find(value[1], name) is not None), ())

    def iterate(self, value: Value) -> Iterator[Target]:
        """Find the methods of an object that give its items."""
        for method in self._list_methods(value, _ITERATING):
            yield _run(method, value)
            for iterator in self._methods.call(method):
                if iterator[0] in OBJECTS:
                    yield from (_run(each, value) for each in self._list_methods(iterator, _ADVANCING))

    def find(self, value: Value, names: tuple[str, ...], rule: str = "special method") -> Iterator[Target]:
        """Find all methods of some names that an object has."""
        return (_run(method, value, rule) for method in self._list_methods(value, names))

    def _list_methods(self, value: Value, names: tuple[str, ...]) -> Iterator[Value]:
        for name in names:
            yield from self._methods.find_special(value, name)


def _run(method: Value, owner: Value, rule: str = "special method") -> Target:
    return Target(method[1], rule, LIKELY if owner[0] == TYPED else CERTAIN)


class Properties:
    """Bind reads and assignments of properties to their functions."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._hierarchy = evaluator.hierarchy
        self._names = evaluator.names
        self._expressions = evaluator.expressions

    def bind_read(self, site: Site) -> Iterator[Target]:
        """Bind the read of a property to its function."""
        receiver, _, name = site.text.rpartition(b".")
        attribute = name.strip().decode("utf-8", "replace")
        for value in self._expressions.evaluate(site.scope, site.start, site.start + len(receiver.rstrip())):
            if value[0] in OBJECTS:
                yield from self.find(value, attribute)
            elif value[0] == SUPER:
                owner = self._hierarchy.find(value[1], attribute, after=value[1])
                yield from self._find_functions(owner, attribute, CERTAIN)

    def bind_write(self, site: Site) -> Iterator[Target]:
        """Bind an assignment to a property to the function of its setter."""
        for value in self._expressions.evaluate(site.scope, site.start, site.end):
            owner = self._hierarchy.find(value[1], site.name) if value[0] in OBJECTS else None
            for binding in owner.names[site.name] if owner is not None else ():
                if binding.scope is not None and "setter" in binding.scope.decorator_names:
                    yield Target(binding.scope, "property", LIKELY if value[0] == TYPED else CERTAIN)

    def find(self, value: Value, name: str) -> Iterator[Target]:
        """Find the functions of a property of an object: its own, and those that may take its place."""
        owner = self._hierarchy.find(value[1], name)
        yield from self._find_functions(owner, name, LIKELY if value[0] == TYPED else CERTAIN)
        if value[0] == INSTANCE:
            return
        for each in self._hierarchy.find_overrides(value[1], name):
            yield from self._find_functions(each, name, POSSIBLE)

    def _find_functions(self, owner: Scope | None, name: str, confidence: str) -> Iterator[Target]:
        for value in self._names.derive(owner, name) if owner is not None else ():
            if value[0] == FUNCTION and value[1].is_property:
                yield Target(value[1], "property", confidence)
