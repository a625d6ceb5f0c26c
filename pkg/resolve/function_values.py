"""What goes into functions and comes out of them (A-12).

Parameters: what their annotation promises, their default, and what the known callers give them. Results: what functions
return, yield, or promise by an annotation.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from pkg.resolve.abstract_values import (
    CLASS,
    CONSTANT,
    CONTAINER,
    EMPTY,
    LIBRARY,
    SELF,
    SUBCLASS,
    TYPED,
    UNGIVEN,
    UNKNOWN,
    Reason,
    Value,
    Values,
    join,
    unknown,
)
from pkg.resolve.annotations import Annotations, is_open
from pkg.resolve.arguments import Arguments
from pkg.resolve.container_items import Items
from pkg.resolve.containers import REST, Containers, Rest
from pkg.resolve.expressions import Expressions
from pkg.resolve.fixtures import Fixtures
from pkg.resolve.record_classes import Records
from pkg.resolve.resolution_context import Context
from pkg.resolve.scope_model import SUBCLASS_HOOK, Scope, Site
from pkg.resolve.signatures import Parameter

MAX_USES = 6  # calls of a name up to which the arguments are followed into what it names
_NAMED_BY_CLASS = frozenset(("__init__", "__new__", "__call__"))


_REGISTERED = -1  # in the place of a number of parameters: the values are no arguments, but registered functions


class Caller(NamedTuple):
    """Where the arguments of a function come from: a call site, or values that a decorator is given."""

    site: Site | None
    shift: int  # parameters that are filled already: self
    values: Values = EMPTY
    made: Scope | None = None  # the class whose fields the arguments are for


class Parameters:
    """Follow arguments into parameters."""

    def __init__(
        self,
        context: Context,
        expressions: Expressions,
        annotations: Annotations,
        containers: Containers,
        items: Items,
        fixtures: Fixtures,
        records: Records,
    ) -> None:
        self._records = records
        self._fixtures = fixtures
        self._expressions = expressions
        self._annotations = annotations
        self._containers = containers
        self._items = items
        self._dataflow = context.dataflow
        self._hierarchy = context.hierarchy
        self._callers: dict[Scope, dict[Caller, None]] = {}
        context.solver.add_rule("registered", self._derive_registered)
        self.uses = context.modules.totals.calls
        self._most = 0 if context.is_plain else MAX_USES

    def forget(self) -> None:
        """Forget all callers."""
        self._callers.clear()

    def add_caller(self, function: Scope, caller: Caller) -> None:
        """Note where arguments of a function come from."""
        if self.is_used_widely(function) or (caller.site is not None and not caller.site.delivers):
            return
        callers = self._callers.setdefault(function, {})
        self._dataflow.deliver(function)
        if caller not in callers:
            callers[caller] = None
            self._dataflow.renew(function)

    def register(self, generic: Scope, values: Values) -> None:
        """Note functions that a generic one chooses among, or classes whose objects pass for those of another."""
        caller = Caller(None, _REGISTERED, values)
        callers = self._callers.setdefault(generic, {})
        self._dataflow.deliver(generic)
        if caller not in callers:
            callers[caller] = None
            self._dataflow.renew(generic)

    def _derive_registered(self, generic: Scope) -> Values:
        """Give the functions that were registered for a generic one, or the classes for an abstract one."""
        self._dataflow.note_reader(generic)
        return join(each.values for each in list(self._callers.get(generic, ())) if each.shift == _REGISTERED)

    def is_used_widely(self, function: Scope) -> bool:
        """Tell whether so many places call something of a function's name that their arguments say little."""
        return self._count_uses_of(function) > self._most

    def is_name_used_widely(self, name: str) -> bool:
        """Tell whether so many places call or decorate by a name that their arguments say little."""
        return self.uses.get(name, 0) > self._most

    def _count_uses_of(self, function: Scope) -> int:
        """Count the places that call something of a function's name; of a constructor, of its class's name.

        A function inside others is made by their calls, under whatever name: it is used as widely as they are.
        """
        name = function.name
        if name in _NAMED_BY_CLASS and function.parent is not None:
            name = function.parent.name
        count, each = self.uses.get(name, 0), function.parent
        while each is not None:
            if each.kind == "function":
                count = max(count, self.uses.get(each.name, 0))
            each = each.parent
        return count

    def derive(self, scope: Scope, name: str) -> Values:
        """Give the values of a parameter."""
        if scope.receiver == name:
            derived = self._hierarchy.list_derived(scope.parent) if scope.name == SUBCLASS_HOOK and scope.parent else ()
            if derived:
                return frozenset((CLASS, each) for each in derived)
            return frozenset({(SUBCLASS if scope.takes_class else SELF, scope.parent)})
        place, parameter = next((i, each) for i, each in enumerate(scope.parameters) if each.name == name)
        if parameter.kind:
            items = self._annotations.derive(scope.parent or scope, parameter.annotation)
            return self._containers.note((REST, scope, name), Rest(scope, place, name), items)
        promised = self._annotations.promise(scope.parent or scope, parameter.annotation)
        if promised is not None and not self._annotations.is_open(scope.parent or scope, parameter.annotation):
            if not self._is_any_class_promised(promised):
                return promised
            given = self._derive_given(scope, place, parameter)
            return promised | {UNGIVEN} | {value for value in given if value[0] != UNKNOWN}
        found = self._fixtures.derive(scope, name)
        given = found if found is not None else self._derive_given(scope, place, parameter)
        if parameter.annotation is not None:
            given |= self._annotations.derive_bound(scope.parent or scope, parameter.annotation)
        return given | promised if promised else given

    def _is_any_class_promised(self, values: Values) -> bool:
        """Tell whether an object, or one in a container, need not be of a class derived from that which is promised."""
        inside = (self._containers.get(value[1]).items for value in values if value[0] == CONTAINER)
        return any(
            value[0] in (TYPED, SUBCLASS) and any(each.is_protocol for each in self._hierarchy.order(value[1]))
            for value in join((values, *inside))
        )

    def _derive_given(self, scope: Scope, place: int, parameter: Parameter) -> Values:
        self._dataflow.note_reader(scope)
        is_followed = 0 < self._count_uses_of(scope) <= self._most
        found: set[Value] = {UNGIVEN if is_followed else (UNKNOWN, Reason.PARAMETER)}
        if parameter.default is not None and scope.parent is not None:
            found |= self._expressions.visit(scope.parent, parameter.default, scope.head[0] + 1)
        for caller in list(self._callers.get(scope, ())):  # reading may add more
            if caller.site is not None:
                found |= self._derive_argument(self._expressions.give(caller.site), place - caller.shift, parameter)
            elif place == caller.shift:  # which no place is of what is registered
                found |= caller.values
        return frozenset(found)

    def _derive_argument(self, arguments: Arguments, index: int, parameter: Parameter) -> Values:
        """Give what a call gives a parameter: by name, by position, or out of a starred argument."""
        for keyword in arguments.keywords:
            if keyword.arg == parameter.name:
                return arguments.derive_node(keyword.value)
        if parameter.is_keyword_only or index < 0:
            return EMPTY
        starred = arguments.find_starred()
        if starred is not None and starred <= index:
            return self._items.take(arguments.derive(starred), (CONSTANT, index - starred))
        return arguments.derive(index)

    def derive_field(self, record: Scope, name: str, annotation: ast.expr | None) -> Values:
        """Give what callers give to a field of a class whose constructor takes its fields."""
        promised = self._annotations.promise(record, annotation)
        if (
            promised is not None
            and not self._annotations.is_open(record, annotation)
            and not self._is_any_class_promised(promised)
        ):
            return EMPTY
        self._dataflow.note_reader(record)
        found: set[Value] = set()
        for caller in list(self._callers.get(record, ())):
            taken = self._records.find_parameter(caller.made, name) if caller.made is not None else None
            if caller.site is not None and taken is not None:
                arguments = self._expressions.give(caller.site)
                found |= self._derive_argument(arguments, taken[0] - caller.shift, taken[1])
        return frozenset(found)

    def derive_rest(self, rest: Rest, key: Value | None) -> Values:
        """Read what callers give to *args or **kwargs."""
        self._dataflow.note_reader(rest.scope)
        parameters = rest.scope.parameters
        known = frozenset(each.name for each in parameters)
        is_named = parameters[rest.place].kind == "**"
        found: set[Value] = set(unknown(Reason.PARAMETER))
        for caller in list(self._callers.get(rest.scope, ())):
            if caller.site is None:
                continue
            arguments = self._expressions.give(caller.site)
            if is_named:
                found |= _derive_named_rest(arguments, known, key)
            else:
                found |= _derive_placed_rest(arguments, rest.place - caller.shift, key)
        return frozenset(found)


def _derive_named_rest(arguments: Arguments, known: frozenset[str], key: Value | None) -> Values:
    found: set[Value] = set()
    for keyword in arguments.keywords:
        if keyword.arg not in known and (key is None or (CONSTANT, keyword.arg) == key):
            found |= arguments.derive_node(keyword.value)
    return frozenset(found)


def _derive_placed_rest(arguments: Arguments, start: int, key: Value | None) -> Values:
    nodes = arguments.nodes[start:]
    if key is not None and isinstance(key[1], int):
        nodes = nodes[key[1] : key[1] + 1 or None]
    found: set[Value] = set()
    for node in nodes:
        found |= arguments.derive_node(node)
    return frozenset(found)


def rate_uses(count: int) -> int:
    """Tell calls of a name that count alike: 0 for none, 1 for those whose arguments are followed, 2 for too many."""
    return (count > 0) + (count > MAX_USES)


class Results:
    """Read what functions give back; adds the rules of results and yielded values to the solver."""

    def __init__(self, context: Context, items: Items, annotations: Annotations, expressions: Expressions) -> None:
        self._items = items
        self._annotations = annotations
        self._expressions = expressions
        self._is_plain = context.is_plain
        self._solver = context.solver
        context.solver.add_rule("result", self._derive_returned)
        context.solver.add_rule("yield", self._derive_yielded)

    def _derive_returned(self, function: Scope) -> Values:
        if self._is_plain:
            return self._annotations.derive(function, function.signature.returns) or unknown(Reason.MANY)
        if function.kind == "lambda":
            return self._expressions.evaluate(function, function.head[1], function.code_end)
        found: set[Value] = set()
        for start, end in function.returns:
            found |= self._expressions.evaluate(function, start, end)
        promised = self._annotations.promise(function, function.signature.returns)
        if promised is None or is_open(function.signature.returns):
            return frozenset(found) | (promised or EMPTY)
        return promised | {value for value in found if value[0] not in (UNKNOWN, LIBRARY)}

    def _derive_yielded(self, function: Scope) -> Values:
        if self._is_plain:
            return unknown(Reason.MANY)
        found: set[Value] = set()
        for start, end, is_delegating in function.yields:
            values = self._expressions.evaluate(function, start, end) if end else EMPTY
            found |= self._items.iterate(values) if is_delegating else values
        return frozenset(found)
