"""Properties: functions that run when an attribute is read or assigned to (A-12)."""

from __future__ import annotations

from collections.abc import Iterator

from pkg.model import CERTAIN, LIKELY, POSSIBLE
from pkg.resolve.evaluate import Evaluator
from pkg.resolve.model import Scope, Site
from pkg.resolve.outcomes import Target
from pkg.resolve.values import FUNCTION, INSTANCE, OBJECTS, SUPER, TYPED, Value


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
                yield from self._read(owner, attribute, CERTAIN)

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
        yield from self._read(owner, name, LIKELY if value[0] == TYPED else CERTAIN)
        if value[0] == INSTANCE:
            return
        for each in self._hierarchy.find_overrides(value[1], name):
            yield from self._read(each, name, POSSIBLE)

    def _read(self, owner: Scope | None, name: str, confidence: str) -> Iterator[Target]:
        for value in self._names.read(owner, name) if owner is not None else ():
            if value[0] == FUNCTION and value[1].is_property:
                yield Target(value[1], "property", confidence)
