"""Functions as methods: bound to the object or class they are read from, and what calls of them give (A-12)."""

from __future__ import annotations

from pkg.resolve.abstract_values import (
    CLASS,
    CLASSES,
    EMPTY,
    FUNCTION,
    GENERATOR,
    INSTANCE,
    METHOD,
    OBJECTS,
    SELF,
    SUBCLASS,
    Reason,
    Value,
    Values,
    join,
    unknown,
)
from pkg.resolve.name_lookup import Names
from pkg.resolve.resolution_context import Context
from pkg.resolve.scope_model import CLASS_METHOD, STATIC, Scope


class Methods:
    """Bind functions to what they are read from."""

    def __init__(self, context: Context, names: Names) -> None:
        self._hierarchy = context.hierarchy
        self._solver = context.solver
        self._names = names

    def bind(self, values: Values, receiver: Value) -> Values:
        """Bind what a class holds to an object: functions become methods, properties their result."""
        if len(values) == 1:
            (value,) = values
            if value[0] == FUNCTION:
                return self._bind_function(value, receiver)
        return join(
            self._bind_function(value, receiver) if value[0] == FUNCTION else frozenset({value}) for value in values
        )

    def _bind_function(self, value: Value, receiver: Value) -> Values:
        function: Scope = value[1]
        kinds = function.decorator_names
        if STATIC in kinds:
            return frozenset({value})
        if CLASS_METHOD in kinds:
            return frozenset({(METHOD, function, (CLASS if receiver[0] == INSTANCE else SUBCLASS, receiver[1]))})
        if function.is_property:
            return self._adapt(self._derive_result(function), receiver)
        return frozenset({(METHOD, function, receiver)})

    def find_special(self, value: Value, name: str) -> Values:
        """Give the methods of a special name that the repository defines for an object."""
        owner = self._hierarchy.find(value[1], name)
        if owner is None:
            return EMPTY
        found = self.bind(self._names.derive(owner, name), value)
        return frozenset(each for each in found if each[0] in (METHOD, FUNCTION))

    def call_special(self, value: Value, *names: str, reason: Reason) -> Values:
        """Give what the first of several special methods gives back that an object has; unknown where it has none."""
        name = next((name for name in names if self._hierarchy.find(value[1], name) is not None), None)
        return join(map(self.call, self.find_special(value, name))) if name is not None else unknown(reason)

    def call(self, callee: Value) -> Values:
        """Give what calling a value of the repository gives back."""
        kind = callee[0]
        if kind == FUNCTION:
            return self._derive_result(callee[1])
        if kind == METHOD:
            return self._adapt(self._derive_result(callee[1]), callee[2])
        if kind == CLASS:
            return frozenset({(INSTANCE, callee[1])})
        if kind == SUBCLASS:
            return frozenset({(SELF, callee[1])})
        if kind in OBJECTS:
            return self.call_special(callee, "__call__", reason=Reason.RESULT)
        return unknown(Reason.RESULT)

    def _derive_result(self, function: Scope) -> Values:
        if function.yields:
            return frozenset({(GENERATOR, function)})
        return self._solver.get(("result", function))

    def _adapt(self, values: Values, receiver: Value) -> Values:
        """Put the receiver in the place of self: a method that gives back self keeps the type of its caller."""
        kind, scope = receiver[0], receiver[1]
        if kind not in OBJECTS and kind not in CLASSES:
            return values
        has_base = self._hierarchy.has_base
        own = (INSTANCE if kind in (INSTANCE, CLASS) else kind if kind in OBJECTS else SELF, scope)
        return frozenset(own if value[0] == SELF and has_base(scope, value[1]) else value for value in values)
