"""What goes into functions and comes out of them (A-12).

Parameters: what their annotation promises, their default, and what the known callers give them. Results: what functions
return, yield, or promise by an annotation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
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
from pkg.resolve.arguments import Shape
from pkg.resolve.container_items import Items
from pkg.resolve.containers import REST, Containers, Rest
from pkg.resolve.expressions import Expressions
from pkg.resolve.fixtures import Fixtures
from pkg.resolve.record_classes import Records
from pkg.resolve.resolution_context import Context, Following
from pkg.resolve.scope_model import SUBCLASS_HOOK, Scope, Site
from pkg.resolve.signatures import Parameter
from pkg.resolve.solver import Key

MAX_USES = 6  # calls of a name up to which arguments are followed, where that is not done for all
_NAMED_BY_CLASS = frozenset(("__init__", "__new__", "__call__"))
_REGISTERED = -1  # in the place of a number of parameters: the values are no arguments, but registered functions


class Group(NamedTuple):
    """All calls of an attribute of what is in one large set: they call the same."""

    key: Key
    name: str


class Caller(NamedTuple):
    """Where the arguments of a function come from: a call site, many together, or values that a decorator is given."""

    site: Site | Group | None
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
        self._solver = context.solver
        self._callers: dict[Scope | Group, dict[Caller, None]] = {}
        self._shapes: dict[Site, Shape] = {}
        context.solver.add_rule("registered", self._derive_registered)
        context.solver.add_rule("given", self._derive_given)
        context.solver.add_rule("given together", self._derive_given_together)
        context.solver.add_rule("argument", self._derive_argument)
        self._uses = context.modules.totals.calls
        self._counts: dict[Scope, int] = {}  # of calls, by function
        self._following = context.following

    def forget(self) -> None:
        """Forget all callers."""
        self._callers.clear()
        self._shapes.clear()

    def add_caller(self, function: Scope | Group, caller: Caller) -> None:
        """Note where arguments of a function come from."""
        if isinstance(caller.site, Site) and not caller.site.delivers:
            return
        if self._following != Following.ALL and isinstance(function, Scope) and not self._is_followed(function):
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

    def _is_followed(self, function: Scope) -> bool:
        return rate_uses(self._count_uses_of(function), self._following) < 2

    def _count_uses_of(self, function: Scope) -> int:
        """Count the places that call something of a function's name; of a constructor, of its class's name.

        A function inside others is made by their calls, under whatever name: it is used as widely as they are.
        """
        count = self._counts.get(function)
        if count is None:
            name = function.name
            if name in _NAMED_BY_CLASS and function.parent is not None:
                name = function.parent.name
            count, each = self._uses.get(name, 0), function.parent
            while each is not None:
                if each.kind == "function":
                    count = max(count, self._uses.get(each.name, 0))
                each = each.parent
            self._counts[function] = count
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
            given = self._read_given(scope, place, parameter)
            return promised | {UNGIVEN} | {value for value in given if value[0] != UNKNOWN}
        found = self._fixtures.derive(scope, name)
        given = found if found is not None else self._read_given(scope, place, parameter)
        if parameter.annotation is not None:
            given |= self._annotations.derive_bound(scope.parent or scope, parameter.annotation)
        return given | promised if promised else given

    def _is_any_class_promised(self, values: Values) -> bool:
        """Tell whether an object, or one in a container, need not be of a class derived from that which is promised."""
        values = self._solver.spread(values)
        inside = (self._containers.get(value[1]).items for value in values if value[0] == CONTAINER)
        return any(
            value[0] in (TYPED, SUBCLASS) and any(each.is_protocol for each in self._hierarchy.order(value[1]))
            for value in self._solver.spread(join((values, *inside)))
        )

    def _read_given(self, scope: Scope, place: int, parameter: Parameter) -> Values:
        is_given = rate_uses(self._count_uses_of(scope), self._following) == 1
        found: Values = frozenset({UNGIVEN}) if is_given else unknown(Reason.PARAMETER)
        if parameter.default is not None and scope.parent is not None:
            found |= self._expressions.visit(scope.parent, parameter.default, scope.head[0] + 1)
        return found | self._solver.hand(("given", scope, place))

    def _derive_given(self, function: Scope, slot: int | str) -> Values:
        """Give what all callers give to a parameter, by its place, or to a field of a class, by its name."""
        self._dataflow.note_reader(function)
        found: set[Value] = set()
        for caller in list(self._callers.get(function, ())):  # reading may add more
            taken = self._find_taken(function, slot, caller)
            if taken is None:
                continue
            place, parameter = taken
            if caller.site is not None:
                found |= self._take(caller.site, place - caller.shift, parameter.name, parameter.is_keyword_only)
            elif place == caller.shift:  # which no place is of what is registered
                found |= caller.values
        return frozenset(found)

    def _find_taken(self, function: Scope, slot: int | str, caller: Caller) -> tuple[int, Parameter] | None:
        """Find the parameter by which a caller gives something, and its place."""
        if isinstance(slot, int):  # of an earlier version, there may be fewer
            return (slot, function.parameters[slot]) if slot < len(function.parameters) else None
        return self._records.find_parameter(caller.made, slot) if caller.made is not None else None

    def _take(self, site: Site | Group, index: int, name: str, is_keyword_only: bool) -> Values:
        """Give what a call gives a parameter: by name, by position, or out of a starred argument."""
        if isinstance(site, Group):
            return self._solver.hand(("given together", site, index, name, is_keyword_only))
        shape = self._describe(site)
        if name in shape.names:
            return self._solver.hand(("argument", site, name))
        if is_keyword_only or index < 0:
            return EMPTY
        if shape.starred is not None and shape.starred <= index:
            return self._solver.hand(("argument", site, (shape.starred, index - shape.starred)))
        return self._solver.hand(("argument", site, index)) if index < shape.placed else EMPTY

    def _describe(self, site: Site) -> Shape:
        shape = self._shapes.get(site)
        if shape is None:
            shape = self._shapes[site] = self._expressions.give(site).describe()
        return shape

    def _derive_given_together(self, group: Group, index: int, name: str, is_keyword_only: bool) -> Values:
        """Give what many calls that call the same give to a parameter."""
        self._dataflow.note_reader(group)
        callers = list(self._callers.get(group, ()))
        return join([self._take(each.site, index, name, is_keyword_only) for each in callers if each.site is not None])

    def _derive_argument(self, site: Site, which: int | str | tuple[int, int]) -> Values:
        """Give an argument of a call: by position, by name, or an item of a starred one."""
        arguments = self._expressions.give(site)
        if isinstance(which, str):
            return join([arguments.hand(each.value) for each in arguments.keywords if each.arg == which])
        place, item = which if isinstance(which, tuple) else (which, None)
        node = arguments.nodes[place] if place < len(arguments.nodes) else None
        if node is None:
            return EMPTY
        values = arguments.hand(node)
        return values if item is None else self._items.take(values, (CONSTANT, item))

    def derive_field(self, record: Scope, name: str, annotation: ast.expr | None) -> Values:
        """Give what callers give to a field of a class whose constructor takes its fields."""
        promised = self._annotations.promise(record, annotation)
        if (
            promised is not None
            and not self._annotations.is_open(record, annotation)
            and not self._is_any_class_promised(promised)
        ):
            return EMPTY
        return self._solver.hand(("given", record, name))

    def derive_rest(self, rest: Rest, key: Value | None) -> Values:
        """Read what callers give to *args or **kwargs."""
        self._dataflow.note_reader(rest.scope)
        parameters = rest.scope.parameters
        known = frozenset(each.name for each in parameters)
        is_named = parameters[rest.place].kind == "**"
        found: set[Value] = set()
        for caller in list(self._callers.get(rest.scope, ())):
            for site, shift in self._list_sites(caller):
                if is_named:
                    found |= self._take_named(site, known, key)
                else:
                    found |= self._take_behind(site, rest.place - shift, key)
        return frozenset(found) | unknown(Reason.PARAMETER)

    def _list_sites(self, caller: Caller) -> Iterator[tuple[Site, int]]:
        """Give the calls of a caller, and how many parameters are filled before their arguments."""
        if isinstance(caller.site, Site):
            yield caller.site, caller.shift
        elif caller.site is not None:
            self._dataflow.note_reader(caller.site)
            for each in list(self._callers.get(caller.site, ())):
                yield from self._list_sites(each._replace(shift=each.shift + caller.shift))

    def _take_named(self, site: Site, known: frozenset[str], key: Value | None) -> Values:
        names = [name for name in self._describe(site).names if name not in known]
        chosen = [name for name in names if key is None or (CONSTANT, name) == key]
        return join([self._solver.hand(("argument", site, name)) for name in chosen])

    def _take_behind(self, site: Site, start: int, key: Value | None) -> Values:
        """Give the arguments that are given by position from a place on, or one of these."""
        places = range(self._describe(site).placed)[start:]
        if key is not None and isinstance(key[1], int):
            places = places[key[1] : key[1] + 1 or None]
        return join([self._solver.hand(("argument", site, place)) for place in places])


def rate_uses(count: int, following: Following) -> int:
    """Tell calls of a name that count alike: 0 for none, 1 for those whose arguments are followed, 2 for all others."""
    is_followed = following == Following.ALL or (following == Following.FEW and count <= MAX_USES)
    return min(count, 1) if is_followed else 2


class Results:
    """Read what functions give back; adds the rules of results and yielded values to the solver."""

    def __init__(self, context: Context, items: Items, annotations: Annotations, expressions: Expressions) -> None:
        self._items = items
        self._annotations = annotations
        self._expressions = expressions
        self._is_plain = context.following == Following.NONE
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
