"""What operators make of the values on their sides (A-12)."""

from __future__ import annotations

from pkg.resolve.abstract_values import (
    CONSTANT,
    CONTAINER,
    EMPTY,
    LIBRARY,
    MANY,
    OBJECTS,
    TEXT,
    Reason,
    Value,
    Values,
    library,
    unknown,
)
from pkg.resolve.methods import Methods
from pkg.resolve.resolution_context import Context
from pkg.resolve.special_names import Operation


class Operators:
    """Tell what operators give; adds the rules of those between large sets to the solver."""

    def __init__(self, context: Context, methods: Methods) -> None:
        self._methods = methods
        self._solver = context.solver
        context.solver.add_rule("answers of many", lambda key, names: self._ask(self._solver.gather(key), names))
        context.solver.add_rule("rest of many", lambda key, names: self._pass_over(self._solver.gather(key), names))

    def operate(self, left: Values, right: Values, operation: Operation) -> Values:
        """Give what an operator makes of its sides: the answer of the left side's method, else of the right one's."""
        found, rest = self._ask(left, operation.left), self._pass_over(left, operation.left)
        if not rest:
            return found
        found |= rest | self._ask(right, (operation.right,))
        if any(value[0] == CONTAINER for value in rest):  # which takes the items of the other side as well
            others = self._pass_over(right, (operation.right,))
            found |= frozenset(value for value in others if value[0] == CONTAINER)
        return found

    def compare(self, left: Values, right: Values, operation: Operation) -> Values:
        """Give what a comparison makes of its sides: a truth value, but for methods that give something else."""
        return _TRUTH | self._ask(left, operation.left) | self._ask(right, (operation.right,))

    def sign(self, values: Values, name: str) -> Values:
        """Give what a sign before an expression makes of it."""
        return self._ask(values, (name,)) | self._pass_over(values, (name,))

    def _ask(self, values: Values, names: tuple[str, ...]) -> Values:
        """Give what the first of some methods gives back, of the values that have one."""
        found: set[Value] = set()
        for value in values:
            if value[0] == MANY:
                found |= self._solver.hand(("answers of many", value[1], names))
            elif value[0] in OBJECTS:
                found |= self._methods.call_first(value, names) or EMPTY
        return frozenset(found)

    def _pass_over(self, values: Values, names: tuple[str, ...]) -> Values:
        """Give what is made of the values that have none of some methods: of a builtin type, one of the same."""
        found: set[Value] = set()
        for value in values:
            if value[0] == MANY:
                found |= self._solver.get(("rest of many", self._solver.name(value[1]), names))
            elif value[0] not in OBJECTS or self._methods.find_first(value, names) is None:
                found |= _give_same(value)
        return frozenset(found)


_TRUTH: Values = frozenset({library("builtins.bool()")})


def _give_same(value: Value) -> Values:
    """Give what an operator makes of a value that has no method for it: of a builtin type, one of the same."""
    if value[0] == CONSTANT:
        return frozenset({library(f"builtins.{type(value[1]).__name__}()")})
    if value[0] == TEXT:
        return frozenset({library("builtins.str()")})
    return frozenset({value}) if value[0] in (CONTAINER, LIBRARY) else unknown(Reason.EXPRESSION)
