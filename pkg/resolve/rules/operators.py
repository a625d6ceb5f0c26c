"""What operators make of the values on their sides (A-12)."""

from __future__ import annotations

from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import (
    CONSTANT,
    CONTAINER,
    EMPTY,
    LIBRARY,
    MANY,
    OBJECTS,
    TEXT,
    Value,
    Values,
    library,
    unknown,
)
from pkg.resolve.facts.special_names import Operation
from pkg.resolve.resolution_context import Context


class Operators:
    """Tell what operators give."""

    def __init__(self, context: Context) -> None:
        self._ask = context.ask
        self._solver = context.solver
        self._hierarchy = context.hierarchy
        context.answer(q.OPERATED, self.operate)
        context.answer(q.COMPARED, self.compare)
        context.answer(q.SIGNED, self.sign)
        context.keep(q.ANSWERS_OF_MANY, lambda key, names: self._answer(self._solver.gather(key), names))
        context.keep(q.REST_OF_MANY, lambda key, names: self._pass_over(self._solver.gather(key), names))

    def operate(self, left: Values, right: Values, operation: Operation) -> Values:
        """Give what an operator makes of its sides: the answer of the left side's method, else of the right one's."""
        found, rest = self._answer(left, operation.left), self._pass_over(left, operation.left)
        if not rest:
            return found
        found |= rest | self._answer(right, (operation.right,))
        if any(value[0] == CONTAINER for value in rest):  # which takes the items of the other side as well
            others = self._pass_over(right, (operation.right,))
            found |= frozenset(value for value in others if value[0] == CONTAINER)
        return found

    def compare(self, left: Values, right: Values, operation: Operation) -> Values:
        """Give what a comparison makes of its sides: a truth value, but for methods that give something else."""
        return _TRUTH | self._answer(left, operation.left) | self._answer(right, (operation.right,))

    def sign(self, values: Values, name: str) -> Values:
        """Give what a sign before an expression makes of it."""
        return self._answer(values, (name,)) | self._pass_over(values, (name,))

    def _answer(self, values: Values, names: tuple[str, ...]) -> Values:
        """Give what the first of some methods gives back, of the values that have one."""
        found: set[Value] = set()
        for value in values:
            if value[0] == MANY:
                found |= self._solver.hand(q.ANSWERS_OF_MANY, value[1], names)
            elif value[0] in OBJECTS:
                answers = self._ask(q.FIRST_CALL, value, names)
                found |= answers or EMPTY
        return frozenset(found)

    def _pass_over(self, values: Values, names: tuple[str, ...]) -> Values:
        """Give what is made of the values that have none of some methods: of a builtin type, one of the same."""
        found: set[Value] = set()
        for value in values:
            if value[0] == MANY:
                found |= self._solver.get(q.REST_OF_MANY, self._solver.name(value[1]), names)
            elif value[0] not in OBJECTS or self._hierarchy.find_first(value[1], names) is None:
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
