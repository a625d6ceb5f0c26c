"""Items of containers: under a key, in a loop, of generators and of objects with special methods (A-12)."""

from __future__ import annotations

from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import (
    CLASS,
    CLASSES,
    CONSTANT,
    CONTAINER,
    EMPTY,
    GENERATOR,
    INSTANCE,
    LIBRARY,
    MANY,
    NAMESPACE,
    OBJECTS,
    TEXT,
    UNGIVEN,
    Key,
    Value,
    Values,
    join,
    library,
    unknown,
)
from pkg.resolve.containers import is_mapping
from pkg.resolve.facts.text_ends import write_pattern
from pkg.resolve.resolution_context import Context

MAX_KEYS = 8  # that are told apart


class Items:
    """Take items out of values."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._ask = context.ask
        self._solver = context.solver
        self._hierarchy = context.hierarchy
        self._containers = context.containers
        context.answer(q.TAKEN, self.take)
        context.answer(q.TAKEN_UNDER, self.take_under)
        context.answer(q.UNPACKED, self.unpack)
        context.answer(q.ITERATED, self.iterate)
        context.answer(q.ENTERED, self.enter)
        context.keep(q.ITEM_OF_MANY, self._derive_taken)
        context.keep(q.ITEMS_OF_MANY, self._derive_iterated)
        context.keep(q.ENTERED_OF_MANY, self._derive_entered)

    def _derive_taken(self, key: Key) -> Values:
        """Give any item of the values of a large set."""
        return self.take(self._solver.gather(key), None)

    def _derive_iterated(self, key: Key, is_async: bool) -> Values:
        """Give what a loop over one of the values of a large set goes through."""
        return self.iterate(self._solver.gather(key), is_async)

    def _derive_entered(self, key: Key, name: str) -> Values:
        """Give what entering one of the values of a large set gives."""
        return join([self._enter_one(value, name) for value in self._solver.gather(key)])

    def take(self, values: Values, key: Value | None) -> Values:
        """Give an item of every value of a set; without a key, any."""
        return join([self._take_one(value, key) for value in values])

    def _take_one(self, value: Value, key: Value | None) -> Values:
        kind = value[0]
        if kind == CONTAINER:
            return self._solver.hand(q.ITEM, value[1], key if key is None or key[0] == CONSTANT else None)
        if kind == MANY:
            return self._solver.hand(q.ITEM_OF_MANY, value[1])
        if kind == NAMESPACE:
            return self._take_named(value[1], key)
        if kind in OBJECTS:
            return self._context.call_special(value, "__getitem__", Reason.ITEM)
        if kind in CLASSES:
            return frozenset({value})
        if kind == TEXT:
            return frozenset({library("builtins.str()[]")})
        return frozenset({library(f"{value[1]}[]")}) if kind == LIBRARY else unknown(Reason.ITEM)

    def _take_named(self, owner: Value, key: Value | None) -> Values:
        """Give what a name stands for that a text names, as far as that is known."""
        if key is None or not isinstance(key[1], str):
            return unknown(Reason.CHOSEN)
        text = key if key[0] == TEXT else (TEXT, key[1], "", True)
        self._context.note_asked(write_pattern(text))
        found: Values = self._solver.get(q.CHOSEN_ATTRIBUTE, owner, text)
        return found | (unknown(Reason.CHOSEN) if key[0] == TEXT else EMPTY)

    def take_under(self, values: Values, keys: Values) -> Values:
        """Give the items under keys; under one that cannot be told, or many, it may be any."""
        keys = self._solver.spread(keys)
        found = unknown(Reason.ITEM) if UNGIVEN in keys else EMPTY
        if len(keys) > MAX_KEYS:
            return found | self.take(values, None)
        for key in keys - {UNGIVEN}:
            found |= self.take(values, key if key[0] in (CONSTANT, TEXT) else None)
        return found

    def unpack(self, values: Values, step: int | str) -> Values:
        """Give the part of values that a target of several takes: at a position, or for a starred one a slice."""
        if isinstance(step, int):
            return self.take(values, (CONSTANT, step))
        return self._containers.slice_all(values, int(step.partition(":")[0]))

    def iterate(self, values: Values, is_async: bool = False) -> Values:
        """Give what a loop over the values goes through."""
        return join([self._iterate_one(value, is_async) for value in values])

    def _iterate_one(self, value: Value, is_async: bool) -> Values:
        kind = value[0]
        if kind == CONTAINER:
            has_keys = is_mapping(self._containers.find_expression(value))
            return self._solver.hand(q.KEYS, value[1]) if has_keys else self._solver.hand(q.ITEM, value[1], None)
        if kind == GENERATOR:
            return self._solver.hand(q.YIELD, value[1])
        if kind == MANY:
            return self._solver.hand(q.ITEMS_OF_MANY, value[1], is_async)
        if kind in OBJECTS:
            return self._iterate_object(value, is_async)
        if kind == CLASS and self._hierarchy.is_enumeration(value[1]):
            return frozenset({(INSTANCE, value[1])})
        if kind in (LIBRARY, CONSTANT, TEXT):
            return frozenset({library(f"{value[1] if kind == LIBRARY else 'builtins.str()'}[]")})
        return unknown(Reason.ITEM)

    def _iterate_object(self, value: Value, is_async: bool) -> Values:
        iterators = self._ask(q.FIRST_CALL, value, ("__aiter__" if is_async else "__iter__",))
        if iterators is not None:
            return join([self._advance(each, is_async) for each in self._solver.spread(iterators)])
        return self._take_one(value, None)

    def _advance(self, iterator: Value, is_async: bool) -> Values:
        if iterator[0] in OBJECTS:
            return self._ask(q.FIRST_CALL, iterator, ("__anext__" if is_async else "__next__",)) or EMPTY
        return self._iterate_one(iterator, is_async)

    def enter(self, values: Values, is_async: bool = False) -> Values:
        """Give what a with statement binds its target to."""
        name = "__aenter__" if is_async else "__enter__"
        return join([self._enter_one(value, name) for value in values])

    def _enter_one(self, value: Value, name: str) -> Values:
        if value[0] in OBJECTS:
            return self._context.call_special(value, name, Reason.RESULT)
        if value[0] == GENERATOR:
            return self._solver.hand(q.YIELD, value[1])
        if value[0] == MANY:
            return self._solver.hand(q.ENTERED_OF_MANY, value[1], name)
        if value[0] == CONTAINER:  # what a context of a library holds
            return self._take_one(value, None)
        if value[0] == LIBRARY:
            is_itself = value[1].endswith("ExitStack()")
            return frozenset({value if is_itself else library(f"{value[1]}.{name}()")})
        return unknown(Reason.RESULT)
