"""Attributes whose name is put together: of objects, classes and modules all that it may be (A-12)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import (
    CLASS,
    CONSTANT,
    INSTANCE,
    MODULE,
    OF_CLASSES,
    SUPER,
    TEXT,
    UNKNOWN,
    Value,
    Values,
    join,
    unknown,
)
from pkg.resolve.facts.scope_model import Scope
from pkg.resolve.facts.text_ends import match_text, write_pattern
from pkg.resolve.resolution_context import Context


class ChosenAttributes:
    """Read attributes by texts."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._ask = context.ask
        self._hierarchy = context.hierarchy
        self._fields = context.fields
        context.answer(q.CHOSEN, self.derive_all)
        context.keep(q.CHOSEN_ATTRIBUTE, self._derive_chosen)

    def derive_all(self, values: Values, keys: Values) -> Values:
        """Give what values have under keys; of a text that is not known, only why."""
        values = self._context.solver.spread(values)
        return join([self._derive_under(values, key) for key in self._context.solver.spread(keys)])

    def _derive_under(self, values: Values, key: Value) -> Values:
        if key[0] == CONSTANT and isinstance(key[1], str):
            self._context.note_asked(key[1])
            return self._ask(q.ATTRIBUTES, values, key[1])
        if key[0] != TEXT:
            return unknown(Reason.CHOSEN)
        self._context.note_asked(write_pattern(key))
        found = [self._context.solver.get(q.CHOSEN_ATTRIBUTE, value, key) for value in values]
        return unknown(Reason.CHOSEN) | join(found)

    def _derive_chosen(self, value: Value, text: Value) -> Values:
        """Give all attributes of a value that a text may name, those of derived classes included."""
        found = [self._ask(q.ATTRIBUTE, each, name) for each, name in self._list_named(value, text)]
        return frozenset(each for each in self._context.solver.spread(join(found)) if each[0] != UNKNOWN)

    def _list_named(self, value: Value, text: Value) -> Iterator[tuple[Value, str]]:
        if value[0] == MODULE:
            module = self._context.modules.get(value[1])
            yield from _pick(value, module.root.names if module is not None else (), text)
        elif value[0] in (*OF_CLASSES, SUPER):
            order = list(self._hierarchy.order(value[1]))
            names = {name for each in order[value[0] == SUPER :] for name in self._list_names(each)}
            yield from _pick(value, names, text)
            for each in self._hierarchy.list_derived(value[1]) if value[0] not in (INSTANCE, CLASS, SUPER) else ():
                yield from _pick((value[0], each), self._list_names(each), text)

    def _list_names(self, scope: Scope) -> Collection[str]:
        return {*scope.names, *self._fields.list_names(scope)}


def _pick(value: Value, names: Iterable[str], text: Value) -> Iterator[tuple[Value, str]]:
    return ((value, name) for name in names if match_text(text, name))
