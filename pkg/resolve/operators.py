"""What operators make of the values on their sides (A-12)."""

from __future__ import annotations

from pkg.resolve.abstract_values import (
    CONSTANT,
    CONTAINER,
    LIBRARY,
    OBJECTS,
    TEXT,
    Reason,
    Value,
    Values,
    join,
    library,
    unknown,
)
from pkg.resolve.methods import Methods
from pkg.resolve.special_names import Operation


class Operators:
    """Tell what operators give."""

    def __init__(self, methods: Methods) -> None:
        self._methods = methods

    def operate(self, left: Values, right: Values, operation: Operation) -> Values:
        """Give what an operator makes of its sides: the answer of the left side's method, else of the right one's."""
        found = join([self._operate_one(value, right, operation) for value in left])
        if any(value[0] == CONTAINER for value in left):  # which takes the items of the other side as well
            found |= frozenset(value for value in right if value[0] == CONTAINER)
        return found

    def _operate_one(self, value: Value, right: Values, operation: Operation) -> Values:
        if value[0] in OBJECTS:
            found = self._methods.call_first(value, operation.left)
            if found is not None:
                return found
        answers = (self._methods.call_first(each, (operation.right,)) for each in right if each[0] in OBJECTS)
        return _give_same(value) | join(each for each in answers if each is not None)

    def compare(self, left: Values, right: Values, operation: Operation) -> Values:
        """Give what a comparison makes of its sides: a truth value, but for methods that give something else."""
        answers = [self._methods.call_first(each, operation.left) for each in left if each[0] in OBJECTS]
        answers += [self._methods.call_first(each, (operation.right,)) for each in right if each[0] in OBJECTS]
        return _TRUTH | join(each for each in answers if each is not None)

    def sign(self, values: Values, name: str) -> Values:
        """Give what a sign before an expression makes of it."""
        return join([self._sign_one(value, name) for value in values])

    def _sign_one(self, value: Value, name: str) -> Values:
        found = self._methods.call_first(value, (name,)) if value[0] in OBJECTS else None
        return _give_same(value) if found is None else found


_TRUTH: Values = frozenset({library("builtins.bool()")})


def _give_same(value: Value) -> Values:
    """Give what an operator makes of a value that has no method for it: of a builtin type, one of the same."""
    if value[0] == CONSTANT:
        return frozenset({library(f"builtins.{type(value[1]).__name__}()")})
    if value[0] == TEXT:
        return frozenset({library("builtins.str()")})
    return frozenset({value}) if value[0] in (CONTAINER, LIBRARY) else unknown(Reason.EXPRESSION)
