"""What goes into functions and comes out of them (A-12).

Parameters: what their annotation promises, their default, and what the known callers give them. Results: what functions
return, yield, or promise by an annotation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pkg.extract.code_pieces import Parameter
from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
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
    Group,
    Value,
    Values,
    join,
    unknown,
)
from pkg.resolve.arguments import Shape
from pkg.resolve.containers import REST
from pkg.resolve.dataflow import Caller
from pkg.resolve.facts.annotation_text import is_open
from pkg.resolve.facts.scope_model import SUBCLASS_HOOK, Scope, Site
from pkg.resolve.following import Following
from pkg.resolve.origins import Rest
from pkg.resolve.resolution_context import Context


class Parameters:
    """Follow arguments into parameters."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._ask = context.ask
        self._solver = context.solver
        self._callers = context.callers
        self._containers = context.containers
        self._hierarchy = context.hierarchy
        self._records = context.records
        self._shapes: dict[Site, Shape] = {}
        context.forget_with(self._shapes.clear)
        context.answer(q.PARAMETER, self.derive)
        context.answer(q.GIVEN_FIELD, self.derive_field)
        context.answer(q.GIVEN_REST, self.derive_rest)
        context.keep(q.REGISTERED, self._callers.list_registered)
        context.keep(q.GIVEN, self._derive_given)
        context.keep(q.GIVEN_TOGETHER, self._derive_given_together)
        context.keep(q.ARGUMENT, self._derive_argument)

    def derive(self, scope: Scope, name: str) -> Values:
        """Give the values of a parameter."""
        if scope.receiver == name:
            derived = self._hierarchy.list_derived(scope.parent) if scope.name == SUBCLASS_HOOK and scope.parent else ()
            if derived:
                return frozenset((CLASS, each) for each in derived)
            return frozenset({(SUBCLASS if scope.takes_class else SELF, scope.parent)})
        place, parameter = next((i, each) for i, each in enumerate(scope.parameters) if each.name == name)
        if parameter.kind:
            items = self._ask(q.PROMISED, scope.parent or scope, parameter.annotation)
            return self._containers.note((REST, scope, name), Rest(scope, place, name), items)
        promised = self._ask(q.PROMISE, scope.parent or scope, parameter.annotation)
        if promised is not None and not self._ask(q.LEFT_OPEN, scope.parent or scope, parameter.annotation):
            if not self._is_any_class_promised(promised):
                return promised
            given = self._read_given(scope, place, parameter)
            return promised | {UNGIVEN} | {value for value in given if value[0] != UNKNOWN}
        found = self._ask(q.FIXTURE, scope, name)
        given = found if found is not None else self._read_given(scope, place, parameter)
        if parameter.annotation is not None:
            given |= self._ask(q.BOUNDS, scope.parent or scope, parameter.annotation)
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
        is_given = self._callers.rate_uses(scope) == 1
        found: Values = frozenset({UNGIVEN}) if is_given else unknown(Reason.PARAMETER)
        if parameter.default is not None and scope.parent is not None:
            found |= self._ask(q.NODE, scope.parent, parameter.default, scope.head[0] + 1)
        return found | self._solver.hand(q.GIVEN, scope, place)

    def _derive_given(self, function: Scope, slot: int | str) -> Values:
        """Give what all callers give to a parameter, by its place, or to a field of a class, by its name."""
        found: set[Value] = set()
        for caller in self._callers.list_callers(function):
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
            return self._solver.hand(q.GIVEN_TOGETHER, site, index, name, is_keyword_only)
        shape = self._describe(site)
        if name in shape.names:
            return self._solver.hand(q.ARGUMENT, site, name)
        if is_keyword_only or index < 0:
            return EMPTY
        if shape.starred is not None and shape.starred <= index:
            return self._solver.hand(q.ARGUMENT, site, (shape.starred, index - shape.starred))
        return self._solver.hand(q.ARGUMENT, site, index) if index < shape.placed else EMPTY

    def _describe(self, site: Site) -> Shape:
        shape = self._shapes.get(site)
        if shape is None:
            shape = self._shapes[site] = self._context.give(site.scope, site).describe()
        return shape

    def _derive_given_together(self, group: Group, index: int, name: str, is_keyword_only: bool) -> Values:
        """Give what many calls that call the same give to a parameter."""
        sites = [each.site for each in self._callers.list_callers(group) if each.site is not None]
        return join([self._take(site, index, name, is_keyword_only) for site in sites])

    def _derive_argument(self, site: Site, which: int | str | tuple[int, int]) -> Values:
        """Give an argument of a call: by position, by name, or an item of a starred one."""
        arguments = self._context.give(site.scope, site)
        if isinstance(which, str):
            return join([arguments.hand(each.value) for each in arguments.keywords if each.arg == which])
        place, item = which if isinstance(which, tuple) else (which, None)
        node = arguments.nodes[place] if place < len(arguments.nodes) else None
        if node is None:
            return EMPTY
        values = arguments.hand(node)
        return values if item is None else self._ask(q.TAKEN, values, (CONSTANT, item))

    def derive_field(self, record: Scope, name: str, annotation: ast.expr | None) -> Values:
        """Give what callers give to a field of a class whose constructor takes its fields."""
        promised = self._ask(q.PROMISE, record, annotation)
        if (
            promised is not None
            and not self._ask(q.LEFT_OPEN, record, annotation)
            and not self._is_any_class_promised(promised)
        ):
            return EMPTY
        return self._solver.hand(q.GIVEN, record, name)

    def derive_rest(self, rest: Rest, key: Value | None) -> Values:
        """Read what callers give to *args or **kwargs."""
        parameters = rest.scope.parameters
        known = frozenset(each.name for each in parameters)
        is_named = parameters[rest.place].kind == "**"
        found: set[Value] = set()
        for caller in self._callers.list_callers(rest.scope):
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
            for each in self._callers.list_callers(caller.site):
                yield from self._list_sites(each._replace(shift=each.shift + caller.shift))

    def _take_named(self, site: Site, known: frozenset[str], key: Value | None) -> Values:
        names = [name for name in self._describe(site).names if name not in known]
        chosen = [name for name in names if key is None or (CONSTANT, name) == key]
        return join([self._solver.hand(q.ARGUMENT, site, name) for name in chosen])

    def _take_behind(self, site: Site, start: int, key: Value | None) -> Values:
        """Give the arguments that are given by position from a place on, or one of these."""
        places = range(self._describe(site).placed)[start:]
        if key is not None and isinstance(key[1], int):
            places = places[key[1] : key[1] + 1 or None]
        return join([self._solver.hand(q.ARGUMENT, site, place) for place in places])


class Results:
    """Read what functions give back."""

    def __init__(self, context: Context) -> None:
        self._ask = context.ask
        self._is_plain = context.following == Following.NONE
        context.keep(q.RESULT, self._derive_returned)
        context.keep(q.YIELD, self._derive_yielded)

    def _derive_returned(self, function: Scope) -> Values:
        if self._is_plain:
            return self._ask(q.PROMISED, function, function.signature.returns) or unknown(Reason.MANY)
        if function.kind == "lambda":
            return self._ask(q.EXPRESSION, function, function.head[1], function.code_end)
        found: set[Value] = set()
        for start, end in function.returns:
            found |= self._ask(q.EXPRESSION, function, start, end)
        promised = self._ask(q.PROMISE, function, function.signature.returns)
        if promised is None or is_open(function.signature.returns):
            return frozenset(found) | (promised or EMPTY)
        return promised | {value for value in found if value[0] not in (UNKNOWN, LIBRARY)}

    def _derive_yielded(self, function: Scope) -> Values:
        if self._is_plain:
            return unknown(Reason.MANY)
        found: set[Value] = set()
        for start, end, is_delegating in function.yields:
            values = self._ask(q.EXPRESSION, function, start, end) if end else EMPTY
            found |= self._ask(q.ITERATED, values, False) if is_delegating else values
        return frozenset(found)
