"""Bind calls: what they run, the callbacks that they hand over, and what they put into containers (A-12).

Beside them stand the sites where Python itself calls something: raised classes, decorators.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pkg.model import CERTAIN, LIKELY, POSSIBLE
from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import (
    CLASS,
    CLASSES,
    EMPTY,
    FUNCTION,
    LIBRARY,
    MAKER,
    METHOD,
    OBJECTS,
    PARTIAL,
    PROMISED,
    REGISTER,
    UNKNOWN,
    Group,
    Value,
    Values,
    bare,
    is_own_function,
    target_of,
)
from pkg.resolve.dataflow import Caller
from pkg.resolve.facts.binding_order import NAMELESS
from pkg.resolve.facts.scope_model import SUBCLASS_HOOK, Scope, Site, name_decorator
from pkg.resolve.facts.special_names import ASKING, NAME_HOOK
from pkg.resolve.outcomes import MADE_DECORATOR, Library, Outcome, Target, Unbound
from pkg.resolve.record_classes import AFTER_INIT, CONSTRUCTORS, list_factories
from pkg.resolve.resolution_context import Context
from pkg.units import DOTTED_NAME, NAME, Code

_MAKING = ("__prepare__", "__new__", "__init__")  # by which a metaclass makes a class
_ARGUMENT = re.compile(rb"(?:[(,]|[(,]\s*" + NAME + rb"\s*=)\s*(" + DOTTED_NAME + rb")\s*(?=[,)])")
_ALIKE = (*CLASSES, FUNCTION, METHOD, MAKER, *OBJECTS)
_KEYED = ("add", "get", "pop", "setdefault")  # methods of dicts and sets that look their first argument up
_CALLING = frozenset(("map", "filter", "sorted", "min", "max", "iter"))  # builtins that call what they are given
_NOT_CALLING = ("functools.wraps", "inspect.", "typing.", "logging.")


class CallSites:
    """Bind call sites; what they give to parameters and containers is noted on the way."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._ask = context.ask
        self._solver = context.solver
        self._callers = context.callers
        self._hierarchy = context.hierarchy
        self._records = context.records
        self._trees = context.trees
        context.bind((Code.CALL,), self.bind)
        context.answer(q.CONSTRUCTED, self.construct)
        context.keep(q.CALLED_OF_MANY, self._derive_of_many)

    def bind(self, site: Site) -> Iterator[Outcome]:
        """Bind one call."""
        is_handed = False
        for callees in self._ask(q.CALLEES, site):
            yield from callees.properties
            if callees.group is not None:
                yield from self._bind_many(site, callees.group)
            for value in callees.values:
                is_handed = is_handed or (value[0] == LIBRARY and self._may_call(value[1]))
                yield from self._bind_value(site, value, callees.rule, callees.confidence)
        if is_handed:
            yield from self._bind_callbacks(site, LIKELY)

    def _may_call(self, name: str) -> bool:
        """Tell whether something of a library may call a function that it is given; of most, all is told by a rule."""
        if name.startswith("builtins."):
            return name.removeprefix("builtins.") in _CALLING
        return self._ask(q.MAY_CALL, name) and not name.startswith(_NOT_CALLING)

    def _ask_keys(self, site: Site) -> Iterator[Target]:
        """Give what a dict or set asks of the first argument of one of its methods."""
        return self._ask(q.KEY_CALLS, self._context.give(site.scope, site).derive(0))

    def _bind_many(self, site: Site, group: Group) -> Iterator[Outcome]:
        """Bind the call of an attribute of a large set: what all such calls call is found once."""
        self._callers.add(group, Caller(site, 0))
        yield from self._solver.get(q.CALLED_OF_MANY, group)
        for callee in self._solver.get(q.CALLEES_OF_MANY, *group):
            if callee.value is not None and not _is_alike(callee.value):
                yield from self._bind_value(site, callee.value, callee.rule, callee.confidence)

    def _derive_of_many(self, group: Group) -> Values:
        """Give what all calls of an attribute of a large set call, whatever their arguments are."""
        found: set[Outcome] = set()
        for callee in self._solver.get(q.CALLEES_OF_MANY, *group):
            if callee.property is not None:
                found.add(callee.property)
            elif _is_alike(callee.value):
                found.update(self._run(group, callee.value, callee.rule, callee.confidence))
        return frozenset(found)

    def _run_in_library(self, site: Site, name: str) -> Iterator[Outcome]:
        """Give what a library calls of what it is given; where it only keeps it, the arguments are noted alone."""
        for run in self._ask(q.LIBRARY_RUNS, name, self._context.give(site.scope, site)):
            found = list(self._run(site, run.value, run.rule, run.confidence or POSSIBLE, run.shift))
            yield from found if run.confidence else ()

    def _bind_value(self, site: Site, value: Value, rule: str, confidence: str) -> Iterator[Outcome]:
        if value[0] == LIBRARY:
            yield Library(value[1])
            yield from self._run_in_library(site, value[1])
            yield from self._ask(q.BUILTIN_CALLS, site, value[1]) if value[1] in ASKING else ()
        elif value[0] == UNKNOWN:
            yield Unbound(value[1])
            yield from self._bind_callbacks(site, POSSIBLE)
        elif value[0] == METHOD and value[1] is None:
            self._ask(q.CONTAINER_CHANGE, value, self._context.give(site.scope, site))
            yield Library(self._ask(q.CONTAINER_METHOD, value))
            yield from self._ask_keys(site) if value[3] in _KEYED else ()
            yield from self._bind_callbacks(site, POSSIBLE) if value[3] == "sort" else ()
        elif value[0] == REGISTER:
            is_generic, arguments = value[1].kind == "function", self._context.give(site.scope, site)
            given = _keep_functions(arguments.derive(1)) if is_generic else _keep_classes(arguments.derive(0))
            self._callers.register(value[1], given)
            yield Library("functools.singledispatch().register" if is_generic else "abc.ABCMeta.register")
        else:
            yield from self._run(site, value, rule, confidence)

    def _run(
        self, site: Site | Group, value: Value, rule: str, confidence: str, shift: int | None = 0
    ) -> Iterator[Outcome]:
        """Give what calling a value runs, and note the arguments: the first is that for the parameter after `shift`.

        None where they are not for it.
        """
        kind = value[0]
        if kind in CLASSES:
            yield Target(value[1], rule, confidence)
            yield from self.construct(site, value, confidence, shift)
        elif is_own_function(value):
            yield self._run_function(site, value, rule, confidence, shift)
            for each in self._list_registered(value) if value[1].is_generic else ():
                sure = POSSIBLE if confidence == POSSIBLE else LIKELY
                if each[0] in CLASSES:
                    yield from self._run(site, each, "generic function", sure, shift)
                else:
                    yield self._run_function(site, each, "generic function", sure, shift)
        elif kind == MAKER:
            yield Library("builtins.object.__init__")
            yield from self._fill_fields(site, value, confidence, shift)
        elif kind == PARTIAL:
            given = value[2]
            yield from self._run(
                site, value[1], rule, confidence, None if shift is None or given is None else shift + given
            )
        elif kind in OBJECTS:
            if self._hierarchy.find(value[1], "__call__") is None:
                yield Unbound(Reason.RESULT)
            for method in self._ask(q.SPECIAL_METHODS, value, "__call__"):
                yield from self._run(site, method, "__call__", LIKELY if kind in PROMISED else confidence, shift)
        else:
            yield Unbound(Reason.EXPRESSION)

    def _note_arguments(self, site: Site | Group, function: Scope, taken: int, shift: int | None) -> None:
        """Note where the arguments come from for the parameters behind those that are taken, if they are for it."""
        if shift is not None:
            self._callers.add(function, Caller(site, taken + shift))

    def _run_function(self, site: Site | Group, value: Value, rule: str, confidence: str, shift: int | None) -> Target:
        """Give a function that a call runs, and note its arguments; of a generic one, others may run in its place."""
        self._note_arguments(site, value[1], int(value[0] == METHOD), shift)
        sure = LIKELY if value[1].is_generic and confidence == CERTAIN else confidence
        return Target(value[1], rule, sure)

    def _list_registered(self, generic: Value) -> Iterator[Value]:
        """Give the functions that a generic one chooses among by what it is given, and those that these choose among.

        Generic ones may be registered for one another.
        """
        seen, waiting = {generic}, [generic]
        while waiting:
            chosen = waiting.pop()
            for value in self._solver.get(q.REGISTERED, chosen[1]) if chosen[1].is_generic else ():
                is_bound = generic[0] == METHOD and value[0] == FUNCTION
                each = (METHOD, value[1], generic[2]) if is_bound else value
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
                    yield each

    def construct(self, site: Site | Group, value: Value, confidence: str, shift: int | None = 0) -> Iterator[Target]:
        """Give the functions that make an object of a class, and note the arguments."""
        for method in self._list_making(value[1]):
            yield Target(method, "metaclass", confidence)
            self._note_arguments(site, method, 1, shift)
            confidence = LIKELY if confidence == CERTAIN else confidence  # whether it makes an object is its own matter
        is_initialised = self._may_make_own(value)
        for name in CONSTRUCTORS if is_initialised else CONSTRUCTORS[1:]:
            made = self._records.find_generated(value[1], name)
            if made is not None:
                yield from self._fill_fields(site, (MAKER, made, value[1], 0), confidence, shift)
                continue
            for each in self._ask(q.FUNCTIONS, value[1], name, None):
                yield Target(each, "constructor", confidence)
                self._note_arguments(site, each, 1, shift)

    def _may_make_own(self, made: Value) -> bool:
        """Tell whether calling a class may give an object of it, which Python then initialises."""
        objects = (each[1] for each in self._solver.spread(self._ask(q.CALL, made)) if each[0] in OBJECTS)
        return any(self._hierarchy.has_base(each, made[1]) for each in objects)

    def _fill_fields(self, site: Site | Group, maker: Value, confidence: str, shift: int | None) -> Iterator[Target]:
        """Give what the constructor calls that is made of the fields of a class, which take the arguments."""
        _, made, scope, taken = maker
        for record in self._records.list_classes(made):
            if shift is not None:
                self._callers.add(record, Caller(site, taken + shift, made=made))
            for node, at in list_factories(self._trees, record):
                for each in self._solver.spread(self._ask(q.NODE, record, node, at)):
                    yield from self._make_default(each)
        for name in AFTER_INIT:
            yield from (Target(each, "constructor", confidence) for each in self._ask(q.FUNCTIONS, scope, name, None))

    def _make_default(self, value: Value) -> Iterator[Target]:
        """Give what makes the default of a field, which is given no arguments."""
        if value[0] in CLASSES:
            methods = self._ask(q.FUNCTIONS, value[1], CONSTRUCTORS[0], None)
            yield from (Target(each, "constructor", LIKELY) for each in methods)
        if target_of(value) is not None:
            yield Target(target_of(value), "constructor", LIKELY)

    def _list_making(self, scope: Scope) -> Iterator[Scope]:
        """Give the functions of a metaclass that calling a class runs."""
        for metaclass in self._hierarchy.metaclasses(scope)[:1]:
            yield from self._ask(q.FUNCTIONS, metaclass, "__call__", None)

    def _bind_callbacks(self, site: Site, confidence: str) -> Iterator[Target]:
        """Give the functions that a call hands over by name to what is outside: they may be called there."""
        scope = site.scope
        for match in _ARGUMENT.finditer(scope.module.text, *site.more):
            for value in self._context.spell_out(scope, match.group(1), match.start(1)):
                target = target_of(value)
                if value[0] not in CLASSES and target is not None and target.kind == "function":
                    yield Target(target, "callback", confidence)


def _is_alike(value: Value) -> bool:
    """Tell whether calling a value runs the same whatever it is given, as far as that is told by the call."""
    return bare(value)[0] in _ALIKE and value[1] is not None


def _keep_functions(values: Values) -> Values:
    return frozenset(filter(is_own_function, values))


def _keep_classes(values: Values) -> Values:
    return frozenset(value for value in values if value[0] == CLASS)


class ImplicitCalls:
    """Bind the sites where Python itself calls something."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._ask = context.ask
        self._solver = context.solver
        self._callers = context.callers
        self._hierarchy = context.hierarchy
        self._named = context.property_names if context.modules.totals.operators[NAME_HOOK] else frozenset[str]()
        context.bind((Code.RAISE,), self.bind_raise)
        context.bind((Code.DEFINITION,), self.bind_decorators)

    def bind_raise(self, site: Site) -> Iterator[Target]:
        """Bind the raise of a class, which makes an object of it; the raise of an object calls nothing."""
        for value in self._context.list_values(site.scope, site.start, site.end):
            if value[0] in CLASSES:
                yield Target(value[1], "raise", CERTAIN)
                yield from self._ask(q.CONSTRUCTED, site, value, CERTAIN)

    def _bind_creation(self, definition: Scope) -> Iterator[Outcome]:
        """Bind what Python calls to make a class: its metaclass, the hook of a base, those of its attributes."""
        made = [(self._ask(q.FUNCTIONS, definition, SUBCLASS_HOOK, definition), SUBCLASS_HOOK)]
        for metaclass in self._hierarchy.metaclasses(definition)[:1]:
            made += [(self._ask(q.FUNCTIONS, metaclass, name, None), name) for name in _MAKING]
        for functions, name in made:
            yield from (Target(each, "class creation", CERTAIN, group=name) for each in functions)
        for name in definition.names if self._named else ():
            if name not in self._named or any(
                each.scope is not None and each.scope.is_property for each in definition.names[name]
            ):
                continue
            for value in self._solver.spread(self._ask(q.MEMBER, definition, name)):
                for method in self._ask(q.SPECIAL_METHODS, value, NAME_HOOK) if value[0] in OBJECTS else ():
                    yield Target(method[1], "class creation", CERTAIN)

    def bind_decorators(self, site: Site) -> Iterator[Outcome]:
        """Bind the calls of decorators, which the scope around the definition makes."""
        definition = site.definition
        if definition is None:
            return
        if definition.kind == "class":
            yield from self._bind_creation(definition)
        self._ask(q.DEFINED, definition)  # which hands the function from one decorator to the next
        for text in reversed(definition.decorators):
            is_skipped = name_decorator(text) in NAMELESS
            rule = MADE_DECORATOR if "(" in text else "decorator"
            decorators = self._ask(q.DECORATOR, definition, text) if not is_skipped else EMPTY
            for value in decorators:
                if value[0] == REGISTER:
                    kind = CLASS if definition.kind == "class" else FUNCTION
                    self._callers.register(value[1], frozenset({(kind, definition)}))
                if value[0] in OBJECTS:
                    for method in self._ask(q.SPECIAL_METHODS, value, "__call__"):
                        yield Target(method[1], rule, CERTAIN)
                if target_of(value) is None:
                    continue
                yield Target(target_of(value), rule, CERTAIN, group=text)
                if definition.kind == "class":
                    self._ask(q.HANDED, value, frozenset({(CLASS, definition)}))
                if value[0] == CLASS:
                    yield from self._ask(q.CONSTRUCTED, site, value, CERTAIN)
