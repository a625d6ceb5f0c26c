"""Bind calls: what they run, the callbacks that they hand over, and what they put into containers (A-12).

Beside them stand the sites where Python itself calls something: raised classes, decorators.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pkg.model import CERTAIN, LIKELY, POSSIBLE
from pkg.resolve.abstract_values import (
    CLASS,
    CLASSES,
    FUNCTION,
    LIBRARY,
    METHOD,
    OBJECTS,
    PROMISED,
    UNKNOWN,
    Reason,
    Value,
    target_of,
)
from pkg.resolve.callees import CalleeFinder
from pkg.resolve.evaluate import Evaluator
from pkg.resolve.function_values import Caller
from pkg.resolve.name_lookup import NAMELESS
from pkg.resolve.outcomes import MADE_DECORATOR, Library, Outcome, Target, Unbound
from pkg.resolve.scope_model import Site, name_decorator
from pkg.resolve.special_methods import ASKING, SpecialCalls
from pkg.units import DOTTED_NAME, NAME

_ARGUMENT = re.compile(rb"(?:[(,]|[(,]\s*" + NAME + rb"\s*=)\s*(" + DOTTED_NAME + rb")\s*(?=[,)])")
_CALLING = frozenset(("map", "filter", "sorted", "min", "max", "iter"))  # builtins that call what they are given
_NOT_CALLING = ("functools.wraps", "functools.update_wrapper", "functools.partial", "inspect.", "typing.", "logging.")


class CallSites:
    """Bind call sites; what they give to parameters and containers is noted on the way."""

    def __init__(self, evaluator: Evaluator, callees: CalleeFinder, special_calls: SpecialCalls) -> None:
        self._hierarchy = evaluator.hierarchy
        self._names = evaluator.names
        self._methods = evaluator.methods
        self._expressions = evaluator.expressions
        self._container_calls = evaluator.container_calls
        self._parameters = evaluator.parameters
        self._callees = callees
        self._special_calls = special_calls

    def bind(self, site: Site) -> Iterator[Outcome]:
        """Bind one call."""
        may_call = False
        for callees in self._callees.find(site):
            yield from callees.properties
            for value in callees.values:
                if value[0] == LIBRARY:
                    may_call = may_call or _may_call(value[1])
                    yield Library(value[1])
                    if value[1] in ASKING:
                        yield from self._special_calls.bind_builtin(site, value[1])
                else:
                    yield from self._bind_value(site, value, callees.rule, callees.confidence)
        if may_call:
            yield from self._bind_callbacks(site, LIKELY)

    def _bind_value(self, site: Site, value: Value, rule: str, confidence: str) -> Iterator[Outcome]:
        if value[0] == UNKNOWN:
            yield Unbound(value[1])
            yield from self._bind_callbacks(site, POSSIBLE)
        elif value[0] == METHOD and value[1] is None:
            self._container_calls.change(value, self._expressions.give(site))
            yield Library(self._container_calls.name(value))
            yield from self._bind_callbacks(site, POSSIBLE) if value[3] == "sort" else ()
        else:
            yield from self._run(site, value, rule, confidence)

    def _run(self, site: Site, value: Value, rule: str, confidence: str) -> Iterator[Outcome]:
        """Give what calling a value runs, and note the arguments."""
        kind = value[0]
        if kind in CLASSES:
            yield Target(value[1], rule, confidence)
            yield from self.construct(site, value, confidence)
        elif kind in (FUNCTION, METHOD):
            yield Target(value[1], rule, confidence)
            self._parameters.add_caller(value[1], Caller(site, int(kind == METHOD)))
        elif kind in OBJECTS:
            if self._hierarchy.find(value[1], "__call__") is None:
                yield Unbound(Reason.RESULT)
            for method in self._methods.find_special(value, "__call__"):
                yield from self._run(site, method, "__call__", LIKELY if kind in PROMISED else confidence)
        else:
            yield Unbound(Reason.EXPRESSION)

    def construct(self, site: Site, value: Value, confidence: str) -> Iterator[Target]:
        """Give the functions that make an object of a class, and note the arguments."""
        is_initialised = self._methods.may_make_own(value)
        for name in ("__init__", "__new__") if is_initialised else ("__new__",):
            owner = self._hierarchy.find(value[1], name)
            for each in self._names.derive(owner, name) if owner is not None else ():
                if each[0] == FUNCTION:
                    yield Target(each[1], "constructor", confidence)
                    self._parameters.add_caller(each[1], Caller(site, 1))

    def _bind_callbacks(self, site: Site, confidence: str) -> Iterator[Target]:
        """Give the functions that a call hands over by name to what is outside: they may be called there."""
        scope = site.scope
        for match in _ARGUMENT.finditer(scope.module.text, *site.more):
            for value in self._expressions.follow(scope, match.group(1), match.start(1)):
                if value[0] in (FUNCTION, METHOD) and value[1] is not None and value[1].kind == "function":
                    yield Target(value[1], "callback", confidence)


def _may_call(name: str) -> bool:
    """Tell whether something of a library may call a function that it is given."""
    if name.startswith("builtins."):
        return name.removeprefix("builtins.") in _CALLING
    return not name.startswith(_NOT_CALLING)


class ImplicitCalls:
    """Bind the sites where Python itself calls something."""

    def __init__(self, evaluator: Evaluator, call_sites: CallSites) -> None:
        self._expressions = evaluator.expressions
        self._decorators = evaluator.decorators
        self._call_sites = call_sites

    def bind_raise(self, site: Site) -> Iterator[Target]:
        """Bind the raise of a class, which makes an object of it; the raise of an object calls nothing."""
        for value in self._expressions.evaluate(site.scope, site.start, site.end):
            if value[0] in CLASSES:
                yield Target(value[1], "raise", CERTAIN)
                yield from self._call_sites.construct(site, value, CERTAIN)

    def bind_decorators(self, site: Site) -> Iterator[Outcome]:
        """Bind the calls of decorators, which the scope around the definition makes."""
        definition = site.definition
        if definition is None:
            return
        self._decorators.define(definition)  # which hands the function from one decorator to the next
        for text in reversed(definition.decorators):
            is_skipped = name_decorator(text) in NAMELESS
            rule = MADE_DECORATOR if "(" in text else "decorator"
            for value in self._decorators.evaluate(definition, text) if not is_skipped else ():
                if target_of(value) is None:
                    continue
                yield Target(value[1], rule, CERTAIN)
                if definition.kind == "class":
                    self._decorators.hand_over(value, frozenset({(CLASS, definition)}))
                if value[0] == CLASS:
                    yield from self._call_sites.construct(site, value, CERTAIN)
