"""The rules by which functions give something back: what they return, yield, or promise by an annotation (A-12)."""

from __future__ import annotations

from pkg.resolve.annotations import Annotations, is_silent
from pkg.resolve.context import Context
from pkg.resolve.expressions import Expressions
from pkg.resolve.items import Items
from pkg.resolve.model import Scope
from pkg.resolve.values import EMPTY, LIBRARY, UNKNOWN, Reason, Value, Values, unknown


class Results:
    """Read what functions give back; adds the rules of results and yielded values to the solver."""

    def __init__(self, context: Context, items: Items, annotations: Annotations, expressions: Expressions) -> None:
        self._items = items
        self._annotations = annotations
        self._expressions = expressions
        self._is_plain = context.is_plain
        self._solver = context.solver
        context.solver.add_rule("result", self._read_returned)
        context.solver.add_rule("yield", self._read_yielded)

    def _read_returned(self, function: Scope) -> Values:
        if self._is_plain:
            return self._annotations.read(function, function.signature.returns) or unknown(Reason.MANY)
        if function.kind == "lambda":
            return self._expressions.evaluate(function, function.head[1], function.code_end)
        found: set[Value] = set()
        for start, end in function.returns:
            found |= self._read_last(function, start, end)
        annotation = function.signature.returns
        if annotation is not None and not is_silent(annotation):
            kept = {value for value in found if value[0] not in (UNKNOWN, LIBRARY)}
            return self._annotations.read(function, annotation) | kept
        return frozenset(found)

    def _read_last(self, function: Scope, start: int, end: int) -> Values:
        """Give the values of a returned expression: of a name that was bound anew before, what it stands for last."""
        name = function.module.text[start:end].decode("utf-8", "replace")
        bindings = function.names.get(name, ())
        if len(bindings) < 2 or name in function.parameter_names or any(each.at > start for each in bindings):
            return self._expressions.evaluate(function, start, end)
        return self._solver.get(("final", function, name))

    def _read_yielded(self, function: Scope) -> Values:
        if self._is_plain:
            return unknown(Reason.MANY)
        found: set[Value] = set()
        for start, end, is_delegating in function.yields:
            values = self._expressions.evaluate(function, start, end) if end else EMPTY
            found |= self._items.iterate(values) if is_delegating else values
        return frozenset(found)
