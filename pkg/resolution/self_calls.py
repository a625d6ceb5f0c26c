"""Select the overriding methods that a call on self may run (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pkg.extract.summary import operations as o
from pkg.model import LIKELY, POSSIBLE
from pkg.resolution.classes import ClassInfo, Hierarchy
from pkg.resolution.program import Code
from pkg.resolution.site_outcomes import OVERRIDE, OVERRIDE_OF_SELF, Outcome, Overriding, Target

_SITES = {o.ATTR: 3, o.CALL_ATTR: 5}
"""Index of the first site in operations on an attribute, by operation."""


class SelfCalls:
    """Separate likely from unlikely overriding methods of calls on self.

    In a method of a class, self is an object of a subclass only if that does not override the method, or
    calls it by super().
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self._code: Code | None = None  # of the last call
        self._callers: dict[int, Code] = {}  # method of the receiver, by site
        self._running: dict[tuple[Code, Code], tuple[bool, set[object]]] = {}
        self._super: dict[Code, bool] = {}

    def judge(self, code: Code, site: int, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
        """Yield the outcomes of a site, with the overriding methods of a call on self selected."""
        for each in outcomes:
            caller = self._find_caller(code, site) if isinstance(each, Overriding) else None
            if caller is None or not isinstance(each, Overriding):
                yield each
                continue
            for overriding in each.codes:
                if self._may_run(caller, overriding):
                    yield Target(overriding, OVERRIDE_OF_SELF, LIKELY)
                else:
                    yield Target(overriding, OVERRIDE, POSSIBLE)

    def _find_caller(self, code: Code, site: int) -> Code | None:
        """Return the method whose self is the receiver of a site; None for any other site."""
        if code is not self._code:
            self._code, self._callers = code, dict(_list_callers(code))
        return self._callers.get(site)

    def _may_run(self, caller: Code, overriding: Code) -> bool:
        """Return whether objects with an overriding method run a method of a base class."""
        key = caller, overriding
        return self._hierarchy.schedule.remember(self._running, key, lambda: self._search(caller, overriding))

    def _search(self, caller: Code, overriding: Code) -> bool:
        info = overriding.owner_class
        return info is not None and any(
            self._hierarchy.find(each, overriding.name) is info and self._runs(each, caller)
            for each in (info, *self._hierarchy.list_derived(info))
        )

    def _runs(self, info: ClassInfo, caller: Code) -> bool:
        """Return whether an object of a class runs a method: first in the MRO, or called by super()."""
        self._hierarchy.schedule.consulted.add(caller.name)
        for each in info.order:
            if each is caller.owner_class:
                return True
            if caller.name in each.members:
                code = each.methods.get(caller.name)
                if code is None or not self._calls_super(code):
                    return False
        return False

    def _calls_super(self, code: Code) -> bool:
        known = self._super.get(code)
        if known is None:
            known = self._super[code] = asks_super(code)
        return known


def asks_super(code: Code) -> bool:
    """Return whether a method calls super()."""
    return any(node[0] == o.GLOBAL and node[1] == "super" for node in code.summary.nodes)


def _list_callers(code: Code) -> Iterator[tuple[int, Code]]:
    nodes = code.summary.nodes
    for node in nodes:
        first = _SITES.get(node[0])
        if first is not None and node[1] >= 0:
            caller = _find_owner(code, nodes, node[1])
            if caller is not None:
                yield from ((site, caller) for site in node[first:])


def _find_owner(code: Code, nodes: Sequence[Any], number: int) -> Code | None:
    """Return the method whose self an operation yields, in it or in an inner function."""
    node = nodes[number]
    while node[0] == o.NARROW and node[1] >= 0:
        node = nodes[node[1]]
    if node[0] == o.PARAM:
        return code if node[1] == code.receiver_place else None
    owner = code.module.codes[node[1]] if node[0] == o.CELL else None
    if owner is None or owner.receiver_place < 0 or owner.owner_class is None:
        return None
    return owner if owner.summary.parameters[owner.receiver_place][0] == node[2] else None
