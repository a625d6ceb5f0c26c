"""Who delivers to each place: arguments to functions, items to containers.

A set that is made of deliveries depends on the sites that deliver. Where only some sites of a repository are resolved
again, those are resolved as well that are known, from the last time, to deliver to what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import NamedTuple

from pkg.resolve import queries as q
from pkg.resolve.abstract_values import EMPTY, Group, Key, Values, join
from pkg.resolve.facts.scope_model import Scope, Site
from pkg.resolve.following import Following, rate_uses
from pkg.resolve.solver import Cell, Solver

Finder = Callable[[Hashable], Iterator[Key]]
"""Give the sets whose rules are known to deliver to a place."""

_NAMED_BY_CLASS = frozenset(("__init__", "__new__", "__call__"))
_REGISTERED = -1  # in the place of a number of parameters: the values are no arguments, but registered functions


class Dataflow:
    """Who delivers to each place, and which sets are made of what is delivered there."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._known: Finder | None = None
        self.origins: dict[Hashable, set[Cell]] = {}  # by place: the sets whose rules deliver
        self.readers: dict[Hashable, set[Cell]] = {}  # by place: the sets that are computed again after a delivery

    def forget(self) -> None:
        """Forget all deliveries."""
        self.origins.clear()
        self.readers.clear()

    def know(self, finder: Finder | None) -> None:
        """Take what is known of deliveries by sites that nobody asked for yet."""
        self._known = finder

    def note_reader(self, place: Hashable) -> None:
        """Note that the set that is being computed is made of what is delivered to a place."""
        reader = self._solver.current
        if reader is None:
            return
        readers = self.readers.get(place)
        if readers is None:
            readers = self.readers[place] = set()
            for key in self._known(place) if self._known is not None else ():
                self._solver.read(key)
        readers.add(reader)

    def deliver(self, place: Hashable) -> None:
        """Note that the set that is being computed delivers to a place."""
        origin = self._solver.current
        if origin is not None:
            self.origins.setdefault(place, set()).add(origin)

    def list_groups(self) -> Iterator[tuple[Hashable, list[Hashable]]]:
        """Give the places to which groups of calls deliver, with these; none of the calls delivers there by itself."""
        for place, origins in self.origins.items():
            groups = [each.key[1] for each in origins if each.key[0] is q.CALLED_OF_MANY]
            if groups:
                yield place, groups

    def renew(self, place: Hashable) -> None:
        """Compute again what is made of deliveries to a place, after a new one."""
        for reader in self.readers.get(place, ()):
            self._solver.queue(reader)


class Caller(NamedTuple):
    """Where the arguments of a function come from: a call site, many together, or values that a decorator is given."""

    site: Site | Group | None
    shift: int  # parameters that are filled already: self
    values: Values = EMPTY
    made: Scope | None = None  # the class whose fields the arguments are for


class Callers:
    """Who calls each function and each group of calls, as far as arguments are followed there."""

    def __init__(self, dataflow: Dataflow, uses: Mapping[str, int], following: Following) -> None:
        self._dataflow = dataflow
        self._uses = uses  # calls, by the name that is called
        self._following = following
        self._callers: dict[Scope | Group, dict[Caller, None]] = {}
        self._counts: dict[Scope, int] = {}  # of calls, by function

    def forget(self) -> None:
        """Forget all callers."""
        self._callers.clear()

    def add(self, function: Scope | Group, caller: Caller) -> None:
        """Note where arguments of a function come from."""
        if isinstance(caller.site, Site) and not caller.site.delivers:
            return
        if self._following != Following.ALL and isinstance(function, Scope) and self.rate_uses(function) == 2:
            return
        self._note(function, caller)

    def register(self, generic: Scope, values: Values) -> None:
        """Note functions that a generic one chooses among, or classes whose objects pass for those of another."""
        self._note(generic, Caller(None, _REGISTERED, values))

    def _note(self, place: Scope | Group, caller: Caller) -> None:
        callers = self._callers.setdefault(place, {})
        self._dataflow.deliver(place)
        if caller not in callers:
            callers[caller] = None
            self._dataflow.renew(place)

    def list_callers(self, place: Scope | Group) -> list[Caller]:
        """Give the callers to a set that is made of what they give; reading that may add more."""
        self._dataflow.note_reader(place)
        return list(self._callers.get(place, ()))

    def list_registered(self, generic: Scope) -> Values:
        """Give the functions that were registered for a generic one, or the classes for an abstract one."""
        return join(each.values for each in self.list_callers(generic) if each.shift == _REGISTERED)

    def rate_uses(self, function: Scope) -> int:
        """Tell how widely a function is used, as far as it decides whether arguments are followed into it."""
        return rate_uses(self._count_uses(function), self._following)

    def _count_uses(self, function: Scope) -> int:
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
