"""What a call site may call, with the rule that tells it and how sure that rule is by itself (A-12)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pkg.model import CERTAIN, LIKELY, POSSIBLE
from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import (
    CLASS,
    CLASSES,
    CONTAINER,
    EMPTY,
    FUNCTION,
    GETTER,
    INSTANCE,
    LIBRARY,
    MANY,
    METHOD,
    MODULE,
    NARROWED,
    OBJECTS,
    OF_CLASSES,
    PROMISED,
    SELF,
    SUBCLASS,
    SUPER,
    TYPED,
    UNKNOWN,
    Group,
    Key,
    Value,
    Values,
    bare,
)
from pkg.resolve.facts.scope_model import Scope, Site
from pkg.resolve.facts.tested_names import is_told
from pkg.resolve.outcomes import Callee, Callees, Target
from pkg.resolve.resolution_context import Context
from pkg.units import DOTTED, NAME, Code, read_name, read_place

BASES = (SELF, SUBCLASS, *PROMISED)  # whose object or class may be a derived one
_LAST_NAME = re.compile(rb"\s*" + NAME)
_RULES = {
    MODULE: "module attribute", SELF: "self", SUPER: "super", CLASS: "class attribute", SUBCLASS: "cls",
    INSTANCE: "constructed object", TYPED: "annotated type", NARROWED: "narrowed type", CONTAINER: "container",
}  # fmt: skip


class CalleeFinder:
    """Find what call sites may call."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._ask = context.ask
        self._solver = context.solver
        self._hierarchy = context.hierarchy
        self._fields = context.fields
        self._property_names = context.property_names
        context.answer(q.CALLEES, self.find)
        context.keep(q.CALLEES_OF_MANY, self._derive_of_many)

    def find(self, site: Site) -> Iterator[Callees]:
        """Find the callees of a site: of a name, of an attribute of something, or of any other expression."""
        text = site.text
        receiver, dot, last = text.rpartition(b".")
        is_dotted = DOTTED.match(text)
        if is_dotted and not dot:
            yield from self._find_held(self._find_named(site.scope, read_name(text), site.start))
        elif is_dotted or (dot and _LAST_NAME.fullmatch(last)):
            end = site.start + len(receiver.rstrip())
            name = site.scope.mangle(read_name(last.strip()))
            if is_dotted and is_told(site.scope, name):
                yield from self._find_at_place(site, end, name, read_place(text))
                return
            for value in self._ask(q.EXPRESSION, site.scope, site.start, end):
                if value[0] == MANY:
                    yield Callees(EMPTY, "value", POSSIBLE, group=Group(self._solver.name(value[1]), name))
                else:
                    yield from self._find_methods(value, name)
        else:
            values = self._context.list_values(site.scope, site.start, site.end)
            yield from self._find_held(Callees(values, "result", CERTAIN))

    def _find_at_place(self, site: Site, end: int, name: str, place: str) -> Iterator[Callees]:
        """Find what an attribute may be that is called, of which more may be known where it stands."""
        scope, at = site.scope, site.start
        stored = self._ask(q.STORED_LAST, scope, place, at)
        if stored is not None:
            stored = self._solver.spread(self._ask(q.STILL_PASSING, scope, place, at, stored))
            yield Callees(stored, "assigned value", CERTAIN)
            return
        for value in self._context.list_values(scope, at, end):
            for callees in self._find_methods(value, name):
                yield callees._replace(values=self._ask(q.STILL_PASSING, scope, place, at, callees.values))

    def _find_held(self, callees: Callees) -> Iterator[Callees]:
        """Add the methods of derived classes to those that a name or expression has taken from an object."""
        overrides = [
            each
            for value in callees.values
            if value[0] == METHOD and value[1] is not None and value[2][0] in BASES
            for each in self._find_overrides(value[2], value[1].name)
        ]
        yield callees._replace(confidence=LIKELY) if overrides and callees.confidence == CERTAIN else callees
        yield from overrides

    def _find_named(self, scope: Scope, name: str, at: int) -> Callees:
        values = self._solver.spread(self._ask(q.NAME, scope, name, at))
        for value in values:
            if value[0] != LIBRARY:
                return Callees(values, *self._judge_name(scope, name, at))
        return Callees(values, "library", CERTAIN)

    def _judge_name(self, scope: Scope, name: str, at: int) -> tuple[str, str]:
        """Say by which rule a bare name is bound, and how sure that is."""
        owner, found = self._ask(q.IN_FORCE, scope, name, at)
        bindings = [binding for binding in found if binding.code != Code.ERASE]
        if name in owner.parameter_names:
            return "argument", LIKELY
        if not bindings:
            return "star import", CERTAIN
        confidence = CERTAIN if len(bindings) == 1 else LIKELY
        if all(binding.scope is not None for binding in bindings):
            return ("same module" if owner.parent is None else "enclosing scope"), confidence
        if all(binding.record is not None for binding in bindings):
            return "import", confidence
        return "assigned value", confidence

    def _find_methods(self, value: Value, name: str) -> Iterator[Callees]:
        """Find what an attribute of one value may be when it is called."""
        kind = value[0]
        found = self._solver.spread(self._ask(q.ATTRIBUTE, value, name))
        properties: tuple[Target, ...] = ()
        if kind in OBJECTS and name in self._property_names:
            properties = tuple(self._ask(q.PROPERTY_CALLS, value, name, GETTER))
        elif kind in CLASSES and name in self._property_names:
            properties = tuple(self._ask(q.CLASS_PROPERTY_CALLS, value, name))
        if (UNKNOWN, Reason.DYNAMIC) in found and kind in OF_CLASSES:
            properties += tuple(self._ask(q.FALLBACK_CALLS, value, name))
        is_base = kind in BASES
        if is_base and not self._fields.defines(value[1], name):
            yield Callees(found, "derived class", POSSIBLE, properties)
            return
        rule = _RULES.get(kind, "value")
        overrides = list(self._find_overrides(value, name)) if is_base else []
        abstract = frozenset(filter(_is_abstract, found)) if is_base else EMPTY
        yield Callees(found - abstract, rule, LIKELY if kind in PROMISED or overrides else CERTAIN, properties)
        if abstract:  # then one of the others is called
            yield Callees(abstract, rule, POSSIBLE)
            overrides = [each._replace(confidence=LIKELY) for each in overrides]
        if kind == SUPER:
            yield from self._find_siblings(value, name)
        yield from overrides

    def _derive_of_many(self, key: Key, name: str) -> frozenset[Callee]:
        """Give what an attribute of the values of a large set may be when it is called."""
        found: set[Callee] = set()
        for value in self._solver.gather(key):
            if value[0] == MANY:
                found |= self._solver.get(q.CALLEES_OF_MANY, self._solver.name(value[1]), name)
                continue
            for callees in self._find_methods(value, name):
                found |= {Callee(each, callees.rule, callees.confidence) for each in callees.values}
                found |= {Callee(None, "", "", target) for target in callees.properties}
        return frozenset(found)

    def _find_overrides(self, value: Value, name: str) -> Iterator[Callees]:
        """Find the methods of derived classes that may take the place of one that is called through a base type."""
        for each in self._hierarchy.find_overrides(value[1], name):
            methods = self._bind_functions(each, name, (value[0], each))
            classes = (made for made in self._solver.spread(self._ask(q.MEMBER, each, name)) if made[0] == CLASS)
            own = frozenset((*classes, *(method for method in methods if not method[1].is_property)))
            yield Callees(own, "override", POSSIBLE)

    def _find_siblings(self, value: Value, name: str) -> Iterator[Callees]:
        """Find what super() reaches in the order of derived classes: with several bases it may be a sibling."""
        own = self._hierarchy.find(value[1], name, after=value[1])
        for owner in self._hierarchy.find_siblings(value[1], name):
            if owner is not own:
                yield Callees(self._bind_functions(owner, name, value[2]), "super", POSSIBLE)

    def _bind_functions(self, owner: Scope, name: str, receiver: Value) -> Values:
        found = map(bare, self._solver.spread(self._ask(q.MEMBER, owner, name)))
        return frozenset((METHOD, value[1], receiver) for value in found if value[0] == FUNCTION)


def _is_abstract(value: Value) -> bool:
    """Tell whether a method is there to be overridden: an object has another in its place."""
    return value[0] == METHOD and value[1] is not None and value[1].is_abstract
