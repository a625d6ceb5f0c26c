"""What is left of one value where a test for one class holds, or fails (A-12).

Nothing goes that may pass the test, and what nothing is known of becomes an object of the class. A test for something
that is no class of the repository and no builtin of a fixed kind tells nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pkg.resolve import queries as q
from pkg.resolve.abstract_values import (
    CLASS,
    CLASSES,
    CONSTANT,
    CONTAINER,
    EMPTY,
    FUNCTION,
    GENERATOR,
    INSTANCE,
    LIBRARY,
    METHOD,
    MODULE,
    NARROWED,
    OBJECTS,
    SELF,
    SUBCLASS,
    UNKNOWN,
    Value,
    Values,
)
from pkg.resolve.containers import is_promised
from pkg.resolve.facts.scope_model import Scope
from pkg.resolve.queries import TestKind
from pkg.resolve.resolution_context import Context

_CONTAINERS = ("list", "tuple", "dict", "set", "frozenset")
_FIXED = frozenset(f"builtins.{name}" for name in (
    "str", "bytes", "bytearray", "int", "float", "complex", "bool", *_CONTAINERS,
))  # fmt: skip
"""Builtins that an object of a class is no object of, unless it is derived from something outside."""
_TYPE = "builtins.type"
_HOLDING = frozenset(f"builtins.{name}" for name in _CONTAINERS)
_NO_OBJECTS = (FUNCTION, METHOD, MODULE, GENERATOR, CONSTANT, CONTAINER, *CLASSES)
_NOT_CALLED = (CONSTANT, CONTAINER, MODULE, GENERATOR)
_DECIDING = ("__instancecheck__", "__subclasscheck__")


class Described(NamedTuple):
    """What tests ask of a class: its bases outside, whether one could not be told, and whether others may pass for it.

    By what they have, or because they are registered.
    """

    outer: frozenset[str]
    has_unknown: bool
    is_structural: bool
    takes_others: bool


class ClassTests:
    """Test values for classes."""

    def __init__(self, context: Context) -> None:
        self._hierarchy = context.hierarchy
        self._solver = context.solver
        self._described: dict[Scope, Described] = {}
        self._derived: dict[tuple[Scope, Scope], bool] = {}
        self._tests: dict[tuple[TestKind, bool], Callable[[Value, Value], Values]] = {
            (TestKind.INSTANCE, True): self._hold_instance, (TestKind.INSTANCE, False): self._fail_instance,
            (TestKind.SUBCLASS, True): self._hold_derived, (TestKind.SUBCLASS, False): self._fail_derived,
            (TestKind.TYPE, True): self._hold_exact, (TestKind.TYPE, False): self._fail_exact,
            (TestKind.CALL, True): self._hold_called, (TestKind.CALL, False): self._fail_called,
        }  # fmt: skip
        context.answer(q.TEST, self.test)
        context.forget_with(self._described.clear)
        context.forget_with(self._derived.clear)

    def test(self, value: Value, tested: Value, kind: TestKind, holds: bool) -> Values:
        """Give what is left of a value where a test of a kind holds, or fails."""
        return self._tests[kind, holds](value, tested)

    def _has_base(self, scope: Scope, base: Scope) -> bool:
        """Tell whether a class is another, or derived from it; of two it is asked for every value of every set."""
        found = self._derived.get((scope, base))
        if found is None:
            found = self._derived[scope, base] = self._hierarchy.has_base(scope, base)
        return found

    def _hold_instance(self, value: Value, tested: Value) -> Values:
        """Give what a value is that is an object of a class or of one derived from it."""
        if tested[0] in CLASSES:
            return self._hold_object(value, tested[1])
        if tested == (LIBRARY, _TYPE):
            return _keep(value, value[0] not in _NO_OBJECTS or value[0] in CLASSES)
        if tested[0] == LIBRARY and tested[1] in _FIXED:
            return self._hold_builtin(value, tested[1])
        return _keep(value)

    def _list_registered(self, scope: Scope) -> set[Scope]:
        """Give the classes that were registered for one, and those that were registered for these."""
        found: set[Scope] = set()
        waiting = [scope]
        while waiting:
            each = waiting.pop()
            if self._describe(each).takes_others:
                more = {value[1] for value in self._solver.get(q.REGISTERED, each)} - found
                found |= more
                waiting += more
        return found

    def _hold_object(self, value: Value, scope: Scope) -> Values:
        """Give what a value is that is an object of a class, of one derived from it, or of one registered for it."""
        found = self._hold_heir(value, scope)
        if value[0] not in OBJECTS:
            return found
        for each in self._list_registered(scope):
            if self._has_base(value[1], each):
                found |= {value}
            elif value[0] != INSTANCE and self._has_base(each, value[1]):
                found |= {(value[0], each)}
        return found

    def _hold_heir(self, value: Value, scope: Scope) -> Values:
        kind, has_base = value[0], self._has_base
        if kind in OBJECTS:
            if has_base(value[1], scope) or self._is_structural(scope):
                return _keep(value)
            if kind == INSTANCE:
                return _keep(value, self._has_unknown(value[1]))
            if has_base(scope, value[1]):
                return frozenset({(kind, scope)})
            return frozenset({value, (NARROWED, scope)} if kind == SELF else {(NARROWED, scope)})
        if kind in (UNKNOWN, LIBRARY) or (kind == CONTAINER and is_promised(value)):
            return frozenset({(NARROWED, scope)})  # an annotation may say too little
        if kind in _NO_OBJECTS:
            return _keep(value, self._is_structural(scope) or (kind in CLASSES and self._hierarchy.is_open(scope)))
        return EMPTY

    def _hold_builtin(self, value: Value, name: str) -> Values:
        kind = value[0]
        if kind in OBJECTS:
            return _keep(value, self._may_be_builtin(value[1], name))
        if kind == CONTAINER:
            return _keep(value, name in _HOLDING)
        if kind in _NO_OBJECTS:
            return _keep(value, kind == CONSTANT)
        return frozenset({(LIBRARY, f"{name}()")}) if kind == UNKNOWN else _keep(value)

    def _fail_instance(self, value: Value, tested: Value) -> Values:
        """Give what a value is that is no object of a class, nor of one derived from it."""
        kind = value[0]
        if tested[0] == CLASS and kind in OBJECTS:
            is_told = self._has_base(value[1], tested[1]) and not self._decides(tested[1])
            return _keep(value, not is_told)
        if tested == (LIBRARY, _TYPE):
            return _keep(value, kind not in CLASSES)
        if tested[0] != LIBRARY:
            return _keep(value)
        is_told = tested[1] in self._list_outer(value[1]) if kind in OBJECTS else value == (LIBRARY, f"{tested[1]}()")
        return _keep(value, not is_told)

    def _hold_exact(self, value: Value, tested: Value) -> Values:
        """Give what a value is whose class is this one."""
        kind, scope = value[0], tested[1]
        if tested[0] != CLASS:
            return self._hold_instance(value, tested)
        if kind == INSTANCE:
            return _keep(value, value[1] is scope)
        if kind in OBJECTS:
            return frozenset({(INSTANCE, scope)}) if self._has_base(scope, value[1]) else EMPTY
        if kind in CLASSES:
            return _keep(value, self._hierarchy.is_open(scope))  # a metaclass
        return frozenset({(INSTANCE, scope)}) if kind in (UNKNOWN, LIBRARY) else EMPTY

    def _fail_exact(self, value: Value, tested: Value) -> Values:
        """Give what a value is whose class is another."""
        return _keep(value, tested[0] != CLASS or value != (INSTANCE, tested[1]))

    def _hold_derived(self, value: Value, tested: Value) -> Values:
        """Give what a value is that is a class or one derived from it."""
        if tested[0] not in CLASSES:
            return _keep(value)
        kind, scope = value[0], tested[1]
        if kind in CLASSES:
            others = self._list_registered(scope)
            if self._is_structural(scope) or any(self._has_base(value[1], each) for each in (scope, *others)):
                return _keep(value)
            return _keep(value, self._has_unknown(value[1])) if kind == CLASS else frozenset({(SUBCLASS, scope)})
        return frozenset({(SUBCLASS, scope)}) if kind in (UNKNOWN, LIBRARY) else EMPTY

    def _fail_derived(self, value: Value, tested: Value) -> Values:
        """Give what a value is that is no class derived from one, nor that itself."""
        if tested[0] != CLASS or value[0] not in CLASSES:
            return _keep(value)
        return _keep(value, self._decides(tested[1]) or not self._has_base(value[1], tested[1]))

    def _hold_called(self, value: Value, _: Value) -> Values:
        """Give what a value is that can be called."""
        is_told = value[0] in _NOT_CALLED or (value[0] == INSTANCE and not self._may_be_called(value[1]))
        return _keep(value, not is_told)

    def _fail_called(self, value: Value, _: Value) -> Values:
        """Give what a value is that cannot be called."""
        is_told = value[0] in (FUNCTION, METHOD, *CLASSES)
        return _keep(value, not (is_told or (value[0] in OBJECTS and self._defines(value[1], "__call__"))))

    def _may_be_called(self, scope: Scope) -> bool:
        is_known = not self._has_unknown(scope) and self._list_outer(scope) <= _FIXED
        return self._defines(scope, "__call__") or not is_known

    def _may_be_builtin(self, scope: Scope, name: str) -> bool:
        """Tell whether objects of a class may be some of a builtin: it has no base outside, or only other builtins."""
        outer = self._list_outer(scope)
        return self._has_unknown(scope) or name in outer or not outer <= _FIXED

    def _list_outer(self, scope: Scope) -> frozenset[str]:
        """Give the bases of a class outside of the repository."""
        return self._describe(scope).outer

    def _describe(self, scope: Scope) -> Described:
        found = self._described.get(scope)
        if found is None:
            facts = [self._hierarchy.facts(each) for each in self._hierarchy.order(scope)]
            found = self._described[scope] = Described(
                frozenset(name for each in facts for name in each.libraries),
                any(each.has_unknown for each in facts),
                self._find_structural(scope),
                self._hierarchy.takes_others(scope),
            )
        return found

    def _defines(self, scope: Scope, name: str) -> bool:
        return self._hierarchy.find(scope, name) is not None

    def _decides(self, scope: Scope) -> bool:
        """Tell whether the metaclass of a class says itself what its objects are."""
        metaclasses = self._hierarchy.metaclasses(scope)
        return any(self._defines(each, name) for each in metaclasses for name in _DECIDING)

    def _find_structural(self, scope: Scope) -> bool:
        return self._decides(scope) or self._defines(scope, "__subclasshook__") or scope.is_protocol

    def _is_structural(self, scope: Scope) -> bool:
        """Tell whether objects of other classes may pass for a class: by what they have, or as somebody says."""
        return self._describe(scope).is_structural

    def _has_unknown(self, scope: Scope) -> bool:
        """Tell whether a class has a base that could not be told."""
        return self._describe(scope).has_unknown


def _keep(value: Value, is_kept: bool = True) -> Values:
    return frozenset({value}) if is_kept else EMPTY
