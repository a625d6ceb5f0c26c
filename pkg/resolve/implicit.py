"""Calls that are not written as calls: loops, context managers, raised classes and decorators (A-12)."""

from __future__ import annotations

from collections.abc import Iterator

from pkg.model import CERTAIN
from pkg.resolve.call_sites import CallSites
from pkg.resolve.evaluate import Evaluator
from pkg.resolve.model import Site, name_decorator
from pkg.resolve.names import NAMELESS
from pkg.resolve.outcomes import MADE_DECORATOR, Outcome, Target
from pkg.resolve.special_calls import SpecialCalls
from pkg.resolve.values import CLASS, CLASSES, OBJECTS, Value, target_of

_ENTERING = ("__enter__", "__exit__", "__aenter__", "__aexit__")


class ImplicitCalls:
    """Bind the sites where Python itself calls something."""

    def __init__(self, evaluator: Evaluator, call_sites: CallSites, special_calls: SpecialCalls) -> None:
        self._expressions = evaluator.expressions
        self._decorators = evaluator.decorators
        self._call_sites = call_sites
        self._special_calls = special_calls

    def bind_loop(self, site: Site) -> Iterator[Target]:
        """Bind a loop over an object to the methods that give its items."""
        for value in self._find_objects(site):
            yield from self._special_calls.iterate(value)

    def bind_context(self, site: Site) -> Iterator[Target]:
        """Bind a with statement to the methods that enter and leave its context."""
        for value in self._find_objects(site):
            yield from self._special_calls.find(value, _ENTERING)

    def _find_objects(self, site: Site) -> Iterator[Value]:
        values = self._expressions.evaluate(site.scope, site.start, site.end)
        return (value for value in values if value[0] in OBJECTS)

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
