"""Methods that Python calls by itself for an object: of special names, and of properties (A-12).

The first where builtins ask the object, in loops, for items; the others when an attribute is read or assigned to.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from pkg.model import CERTAIN, LIKELY, POSSIBLE
from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import (
    CLASS,
    CLASSES,
    CONTAINER,
    DELETER,
    EMPTY,
    FUNCTION,
    GETTER,
    INSTANCE,
    OBJECTS,
    OF_CLASSES,
    PROMISED,
    PROPERTY,
    SETTER,
    SUPER,
    UNKNOWN,
    Value,
    Values,
    target_of,
)
from pkg.resolve.facts.scope_model import Scope, Site
from pkg.resolve.facts.special_names import (
    ASKING,
    DELETE,
    ENTRIES,
    EQUAL,
    FALLBACK,
    GET,
    HASH,
    ITEMS,
    LOOPING,
    OPERATIONS,
    QUESTIONS,
    SET,
    find_sign,
)
from pkg.resolve.outcomes import DESCRIPTOR, Outcome, Target, Unbound
from pkg.resolve.resolution_context import Context
from pkg.units import DOTTED_NAME, Code, Question, read_name

_LOOP, _ASYNC_LOOP = ("__iter__", "__next__"), ("__aiter__", "__anext__")
_CONTEXT, _ASYNC_CONTEXT = ("__enter__", "__exit__"), ("__aenter__", "__aexit__")
_ONLY_NAME = re.compile(rb"\(\s*(" + DOTTED_NAME + rb")\s*,?\s*\)")
_CONSTANT = re.compile(rb"\(\s*(?:[rRbBuU]?['\"][^'\"\\]*['\"]|[\d.]+)?\s*\)")  # or nothing, between brackets
_KEYED = ("builtins.set", "builtins.frozenset", "builtins.dict.fromkeys")  # whose items are keys
_OF_ALL = ("builtins.zip", "builtins.print")  # arguments
_BEHIND_FUNCTION = ("builtins.map", "builtins.filter")
_OF_ONE = ("builtins.max", "builtins.min", "builtins.iter")  # which mean something else with several


class SpecialCalls:
    """Find the special methods of objects that Python calls by itself."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._ask = context.ask
        self._solver = context.solver
        self._hierarchy = context.hierarchy
        self._containers = context.containers
        self._is_keyed = any(context.modules.totals.operators[name] for name in (HASH, EQUAL))
        context.answer(q.BUILTIN_CALLS, self.bind_builtin)
        context.answer(q.KEY_CALLS, self.find_of_keys)
        context.bind((Code.OPERATE,), self.bind_operator)
        context.bind((Code.ASK,), self.bind_question)
        context.bind(ITEMS, self.bind_operation)
        context.bind((Code.FOR, Code.ASYNC_FOR), self.bind_loop)
        context.bind((Code.WITH, Code.ASYNC_WITH), self.bind_context)

    def bind_operation(self, site: Site) -> Iterator[Outcome]:
        """Bind the use of an item, or the question whether there is one, to the method of the object that is asked."""
        name = ITEMS[site.code]
        containers = self._context.list_values(site.scope, site.start, site.end)
        yield from self._bind_all(containers, lambda value: self._use_item(value, name))
        if not self._is_keyed or not site.more[1]:
            return
        find = self._hierarchy.find
        asked = [each for each in containers if each[0] not in OBJECTS or find(each[1], name) is None]
        keys = self._context.list_values(site.scope, *site.more) if asked else EMPTY
        if site.code == Code.CONTAINS and all(map(self._is_sequence, asked)):
            yield from self._find_all(keys, EQUAL, LIKELY)
        else:
            yield from self.find_of_keys(keys)

    def _is_sequence(self, value: Value) -> bool:
        """Tell whether something is written as a list or tuple, whose items are compared one by one."""
        node = self._containers.find_expression(value) if value[0] == CONTAINER else None
        return isinstance(node, ast.List | ast.Tuple)

    def find_of_keys(self, keys: Values) -> Iterator[Target]:
        """Find what a dict or set asks of its keys, and of what is in a tuple among them."""
        if not self._is_keyed:
            return
        tuples = frozenset(each for each in keys if each[0] == CONTAINER)
        inside = self._solver.spread(self._ask(q.TAKEN, tuples, None)) if tuples else EMPTY
        yield from self._find_all(keys | inside, HASH, LIKELY)
        yield from self._find_all(keys | inside, EQUAL, POSSIBLE)

    def _find_all(self, values: Values, name: str, confidence: str) -> Iterator[Target]:
        for value in values:
            if value[0] in OBJECTS:
                yield from (each._replace(confidence=confidence) for each in self.find(value, (name,)))

    def _use_item(self, value: Value, name: str) -> Iterator[Target]:
        if name == ITEMS[Code.CONTAINS] and self._hierarchy.find_first(value[1], (name,)) is None:
            return self.iterate(value)
        return self.find(value, (name,))

    def bind_question(self, site: Site) -> Iterator[Outcome]:
        """Bind what Python asks for by itself to the method of the object that answers."""
        question = Question(site.more[0])
        if question == Question.WAIT:
            awaited = self._ask(q.AWAITED, site.scope, site.start, site.end)
            return self._bind_all(awaited, lambda value: self._ask_first(value, QUESTIONS[question]))
        if question == Question.ITEMS:
            return self._bind_values(site, self.iterate)
        if question == Question.ENTRIES:
            return self._bind_values(site, lambda value: self.find(value, ENTRIES))
        return self._bind_values(site, lambda value: self._ask_first(value, QUESTIONS[question]))

    def bind_loop(self, site: Site) -> Iterator[Outcome]:
        """Bind a loop over an object to the methods that give its items."""
        names = _ASYNC_LOOP if site.code == Code.ASYNC_FOR else _LOOP
        return self._bind_values(site, lambda value: self.iterate(value, names))

    def bind_context(self, site: Site) -> Iterator[Outcome]:
        """Bind a with statement to the methods that enter and leave its context."""
        names = _ASYNC_CONTEXT if site.code == Code.ASYNC_WITH else _CONTEXT
        return self._bind_values(site, lambda value: self.find(value, names))

    def _bind_values(self, site: Site, find: Callable[[Value], Iterator[Target]]) -> Iterator[Outcome]:
        return self._bind_all(self._context.list_values(site.scope, site.start, site.end), find)

    def _bind_all(self, values: Values, find: Callable[[Value], Iterator[Target]]) -> Iterator[Outcome]:
        """Find what is called of each value; one of which nothing is called makes the others less sure."""
        for value in values:
            found = list(find(value)) if value[0] in OBJECTS else []
            yield from found
            if not found:
                yield _describe_other(value)

    def bind_operator(self, site: Site) -> list[Outcome]:
        """Bind an operator to the method of its left side; where a value there has none, to that of the right one."""
        operation = OPERATIONS[find_sign(site)]
        left = self._context.list_values(site.scope, site.start, site.end)
        found = [target for value in left for target in self._operate(value, operation.left)]
        if _WITHOUT_METHOD not in found:
            return found
        right = self._context.list_values(site.scope, *site.more)
        answers = [target for value in right for target in self._operate(value, (operation.right,))]
        return [*(each for each in found if each != _WITHOUT_METHOD), *answers]

    def _operate(self, value: Value, methods: tuple[str, ...]) -> Iterator[Outcome]:
        """Give the method of one side, or that it has none, which makes the methods of its other values less sure."""
        known = self._hierarchy.find_first(value[1], methods) if value[0] in OBJECTS else None
        if known is not None:
            yield from self.find(value, (known,), "operator")
        else:
            yield _describe_other(value)

    def bind_builtin(self, site: Site, name: str) -> Iterator[Target]:
        """Bind a call of a builtin to the methods by which it asks its arguments."""
        methods = ASKING[name]
        for value in self._list_asked(site, name):
            if value[0] in OBJECTS:
                yield from self._ask_first(value, methods) if methods else self.iterate(value)
            if name in _KEYED and self._is_keyed:
                yield from self.find_of_keys(self._solver.spread(self._ask(q.ITERATED, frozenset({value}), False)))
            elif name == "builtins.hash" and value[0] == CONTAINER:
                yield from self._find_all(
                    self._solver.spread(self._ask(q.TAKEN, frozenset({value}), None)), HASH, LIKELY
                )

    def _list_asked(self, site: Site, name: str) -> Iterator[Value]:
        """Give the values of the arguments that a builtin asks; of one name alone, without parsing."""
        module = site.scope.module
        match = _ONLY_NAME.fullmatch(module.text, *site.more)
        if match is not None:
            yield from self._context.spell_out(site.scope, match.group(1), match.start(1))
        elif not _CONSTANT.match(module.text, *site.more):
            arguments = self._context.give(site.scope, site)
            for place in _find_asked(name, len(arguments.nodes)):
                yield from arguments.derive(place)

    def _ask_first(self, value: Value, methods: tuple[str, ...]) -> Iterator[Target]:
        """Find the first of some methods that an object has."""
        name = self._hierarchy.find_first(value[1], methods)
        return self.find(value, (name,) if name is not None else ())

    def iterate(self, value: Value, names: tuple[str, str] = _LOOP) -> Iterator[Target]:
        """Find the methods of an object that give its items."""
        first, following = names
        if first == LOOPING[0] and self._hierarchy.find_first(value[1], LOOPING) == LOOPING[1]:
            yield from self.find(value, LOOPING)
        for method in self._ask(q.SPECIAL_METHODS, value, first):
            yield _run(method, value)
            for iterator in self._solver.spread(self._ask(q.CALL, method)):
                if iterator[0] in OBJECTS:
                    yield from (_run(each, value) for each in self._ask(q.SPECIAL_METHODS, iterator, following))

    def find(self, value: Value, names: tuple[str, ...], rule: str = "special method") -> Iterator[Target]:
        """Find all methods of some names that an object has."""
        return (_run(method, value, rule) for method in self._list_methods(value, names))

    def _list_methods(self, value: Value, names: tuple[str, ...]) -> Iterator[Value]:
        for name in names:
            yield from self._ask(q.SPECIAL_METHODS, value, name)


_WITHOUT_METHOD = Unbound(Reason.METHOD)


def _describe_other(value: Value) -> Outcome:
    """Describe a value of which nothing of the repository is called."""
    return Unbound(value[1]) if value[0] == UNKNOWN else _WITHOUT_METHOD


def _run(method: Value, owner: Value, rule: str = "special method") -> Target:
    return Target(method[1], rule, LIKELY if owner[0] in PROMISED else CERTAIN)


def _find_asked(name: str, count: int) -> Sequence[int]:
    """Give the places of the arguments that a builtin asks."""
    if name in _OF_ALL:
        return range(count)
    if name in _BEHIND_FUNCTION:
        return range(1, count)
    return range(min(count, 1)) if count == 1 or name not in _OF_ONE else ()


_DESCRIBING = {GETTER: GET, SETTER: SET, DELETER: DELETE}


class Properties:
    """Bind reads, assignments and deletions of properties and descriptors to their functions."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._ask = context.ask
        self._solver = context.solver
        self._hierarchy = context.hierarchy
        self._fields = context.fields
        context.answer(q.PROPERTY_CALLS, self.find)
        context.answer(q.CLASS_PROPERTY_CALLS, self.find_of_class)
        context.answer(q.FALLBACK_CALLS, self.find_fallback)
        context.bind((Code.READ,), self.bind_read)
        context.bind((Code.ASSIGN,), self.bind_write)
        context.bind((Code.ERASE,), self.bind_deletion)

    def bind_read(self, site: Site) -> Iterator[Outcome]:
        """Bind the read of a property to its function."""
        receiver, _, name = site.text.rpartition(b".")
        attribute = site.scope.mangle(read_name(name.strip()))
        end = site.start + len(receiver.rstrip())
        return self._bind(site.scope, (site.start, end), attribute, GETTER)

    def bind_write(self, site: Site) -> Iterator[Outcome]:
        """Bind an assignment to a property to the function of its setter."""
        return self._bind(site.scope, (site.start, site.end), site.name, SETTER)

    def bind_deletion(self, site: Site) -> Iterator[Outcome]:
        """Bind the deletion of a property to the function of its deleter."""
        return self._bind(site.scope, (site.start, site.end), site.name, DELETER)

    def _bind(self, scope: Scope, receiver: tuple[int, int], name: str, role: str) -> Iterator[Outcome]:
        for value in self._context.list_values(scope, *receiver):
            found: list[Target] = []
            if value[0] in OBJECTS:
                found += self.find(value, name, role)
            elif value[0] in CLASSES and role == GETTER:
                found += self.find_of_class(value, name)
            elif value[0] == SUPER:
                owner = self._hierarchy.find(value[1], name, after=value[1])
                found += self._find_functions(owner, name, role, CERTAIN)
            if not found and role == GETTER:
                found += self.find_fallback(value, name)
            yield from found
            if not found:
                yield _describe_other(value)

    def find_fallback(self, value: Value, name: str) -> Iterator[Target]:
        """Find the __getattr__ that Python asks for an attribute which an object does not have."""
        for method in self._ask(q.FALLBACK_METHODS, value, name) if value[0] in OF_CLASSES else ():
            is_sure = value[0] in (INSTANCE, CLASS) or not self._fields.find_lacking(value[1], name)
            if target_of(method) is not None:
                yield Target(target_of(method), FALLBACK, LIKELY if is_sure else POSSIBLE)

    def find(self, value: Value, name: str, role: str = GETTER) -> Iterator[Target]:
        """Find the functions of a property of an object: its own, and those that may take its place."""
        owner = self._hierarchy.find(value[1], name)
        overrides = list(self._hierarchy.find_overrides(value[1], name)) if value[0] != INSTANCE else []
        confidence = LIKELY if value[0] in PROMISED or overrides else CERTAIN
        for target in self._find_functions(owner, name, role, confidence):
            is_replaced = target.scope.is_abstract and value[0] != INSTANCE
            yield target._replace(confidence=POSSIBLE) if is_replaced else target
        for each in overrides:
            yield from self._find_functions(each, name, role, POSSIBLE)

    def find_of_class(self, value: Value, name: str) -> Iterator[Target]:
        """Find what reading an attribute of a class calls: a descriptor in it."""
        owner = self._hierarchy.find(value[1], name)
        for each in self._solver.spread(self._ask(q.MEMBER, owner, name)) if owner is not None else ():
            yield from self._find_describing(each, GETTER, CERTAIN if value[0] == CLASS else LIKELY)

    def _find_describing(self, value: Value, role: str, confidence: str) -> Iterator[Target]:
        """Find the method by which a value tells what reading, setting or deleting it as an attribute does."""
        for method in self._ask(q.SPECIAL_METHODS, value, _DESCRIBING[role]) if value[0] in OBJECTS else ():
            yield Target(method[1], DESCRIPTOR, confidence)

    def _find_functions(self, owner: Scope | None, name: str, role: str, confidence: str) -> Iterator[Target]:
        for value in self._solver.spread(self._ask(q.MEMBER, owner, name)) if owner is not None else ():
            if value[0] == FUNCTION and value[1].is_property and role == GETTER:
                yield Target(value[1], "property", confidence)
            elif value[0] == PROPERTY and value[1] == role and target_of(value[2]) is not None:
                yield Target(target_of(value[2]), "property", confidence)
            yield from self._find_describing(value, role, confidence)
        for binding in owner.names[name] if owner is not None and role != GETTER else ():
            if binding.scope is not None and role in binding.scope.decorator_names:
                yield Target(binding.scope, "property", confidence)
