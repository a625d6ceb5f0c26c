"""Definitions: what their names stand for once their decorators have run (A-12)."""

from __future__ import annotations

from pkg.resolve.context import Context
from pkg.resolve.expressions import Expressions
from pkg.resolve.methods import Methods
from pkg.resolve.model import CLASS_METHOD, STATIC, Scope, name_decorator
from pkg.resolve.names import NAMELESS, Names
from pkg.resolve.parameters import Caller, Parameters
from pkg.resolve.values import CLASS, CLASSES, EMPTY, FUNCTION, METHOD, UNKNOWN, Value, Values, target_of

_TRANSPARENT = frozenset((
    STATIC, CLASS_METHOD, "wraps", "lru_cache", "cache", "abstractmethod", "contextmanager", "asynccontextmanager",
    "final", "override", "singledispatch", "total_ordering", "dataclass", "runtime_checkable", "fixture", "property",
))  # fmt: skip


class Decorators:
    """Apply decorators."""

    def __init__(
        self, context: Context, names: Names, methods: Methods, expressions: Expressions, parameters: Parameters
    ) -> None:
        self._hierarchy = context.hierarchy
        self._names = names
        self._methods = methods
        self._expressions = expressions
        self._parameters = parameters

    def define(self, scope: Scope) -> Values:
        """Give what the name of a definition stands for: itself, or what its decorators make of it."""
        if scope.kind == "class":
            return frozenset({(CLASS, scope)})
        values: Values = frozenset({(FUNCTION, scope)})
        for text in reversed(scope.decorators):
            last = name_decorator(text)
            if last in NAMELESS:
                return EMPTY
            if last not in _TRANSPARENT and not last.endswith("property"):
                values = self._decorate(scope, text, values)
        return values

    def evaluate(self, definition: Scope, text: str) -> Values:
        """Give the values of a decorator of a definition, where it stands if its text is found there."""
        scope, module = definition.parent or definition, definition.module
        data = text.encode("utf-8", "replace")
        start = module.text.find(data, module.definitions[definition.definition].span.start, definition.head[0])
        if start < 0:
            return self._expressions.evaluate_text(scope, text)
        return self._expressions.evaluate(scope, start, start + len(data))

    def _decorate(self, scope: Scope, text: str, values: Values) -> Values:
        """Give what a decorator makes of values; one of which too little is known leaves them as they are."""
        if self._parameters.is_name_used_widely(name_decorator(text)):
            return values
        made: set[Value] = set()
        for decorator in self.evaluate(scope, text):
            target: Scope | None = target_of(decorator)
            if target is not None:
                self.hand_over(decorator, values)
                made |= _leave_decorators(target, self._methods.call(decorator))
            if target is None or self._is_vague(target):
                made |= values
        return frozenset(value for value in made if value[0] != UNKNOWN)

    def _is_vague(self, decorator: Scope) -> bool:
        gives_something = decorator.kind == "class" or decorator.returns
        return not gives_something or self._parameters.is_used_widely(decorator)

    def hand_over(self, decorator: Value, values: Values) -> None:
        """Give a decorator what it decorates: a function its first argument, a class that of its constructor."""
        target: Scope = decorator[1]
        if decorator[0] not in CLASSES:
            self._parameters.add_caller(target, Caller(None, int(decorator[0] == METHOD), values))
            return
        owner = self._hierarchy.find(target, "__init__")
        for value in self._names.read(owner, "__init__") if owner is not None else ():
            if value[0] == FUNCTION:
                self._parameters.add_caller(value[1], Caller(None, 1, values))


def _leave_decorators(decorator: Scope, values: Values) -> Values:
    """Leave out of what a decorator gives the decorators that it, or the function around it, gives to other calls.

    What a function gives is known of all its calls together: `return wrap` beside `return wrap(function)` is for those
    that give options alone.
    """
    return frozenset(
        value for value in values if not (value[0] == FUNCTION and _is_made_beside(value[1], decorator))
    )  # fmt: skip


def _is_made_beside(made: Scope, decorator: Scope) -> bool:
    maker = made.parent
    if maker is None or maker.kind != "function" or maker not in (decorator, decorator.parent):
        return False
    texts = {maker.module.text[start:end].strip() for start, end in maker.returns}
    name = made.name.encode("utf-8", "replace")
    return name in texts and (maker is not decorator or any(text.startswith(name + b"(") for text in texts))
