"""Bring the calls of a log to the nodes of a graph, those through decorators' wrappers to what is wrapped."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pkg.evaluation.trace.run import SeenCall, Spot, TraceLog
from pkg.evaluation.trace.subject import Site, Subject, list_decorators
from pkg.model import Node

CHANGED = "calls in files that changed since the build"
UNKNOWN = "calls of functions that the graph does not have"

Seen = dict[Site, set[str]]  # ids of the functions that a statement called


@dataclass(slots=True)
class Placed:
    """The calls of a log, by the statements that made them."""

    direct: Seen = field(default_factory=lambda: defaultdict(set))
    through: Seen = field(default_factory=lambda: defaultdict(set))
    names: dict[Site, set[str]] = field(default_factory=lambda: defaultdict(set))  # called outside of the repository
    left_out: Counter[str] = field(default_factory=Counter)

    def functions(self, site: Site) -> set[str]:
        """Give all functions of the repository that a statement called, in whatever way."""
        return self.direct.get(site, set()) | self.through.get(site, set())

    def ran(self, site: Site) -> bool:
        """Tell whether a statement called anything at all."""
        return site in self.names or site in self.direct or site in self.through


def place_calls(subject: Subject, log: TraceLog) -> Placed:
    """Find the statement and the function of each call."""
    placed = Placed()
    calls = list(_find_ends(subject, log.calls, placed.left_out))
    wrapped: Seen = defaultdict(set)
    for call, site, callee in calls:
        if call.kind == "wrapped":
            wrapped[site].add(callee.id)
            placed.direct[site].add(callee.id)
    inner = set[str]().union(*wrapped.values())
    for call, site, callee in calls:
        if call.kind == "through":
            placed.through[site].add(callee.id)
        elif call.kind == "direct":
            enters = any(_wraps(subject, call.callee, each) for each in wrapped.get(site, ()))
            leaves = callee.id in inner and _wraps(subject, call.caller, callee.id)
            if not enters and not leaves:
                placed.direct[site].add(callee.id)
    for caller, line, name in log.outside:
        found = None if caller.path in subject.stale else subject.place(caller, line)
        if found is not None:
            placed.names[found].add(name)
    return placed


def _find_ends(
    subject: Subject, calls: Iterable[SeenCall], left_out: Counter[str]
) -> Iterator[tuple[SeenCall, Site, Node]]:
    for call in calls:
        callee = subject.functions.get(call.callee)
        if callee is None and (call.callee.name.startswith("<") or call.callee in subject.classes):
            continue  # comprehensions and bodies of classes run where they stand, lambdas are no nodes
        site = subject.place(call.caller, call.line)
        if {call.caller.path, call.callee.path} & subject.stale:
            left_out[CHANGED] += 1
        elif callee is None or site is None:
            left_out[UNKNOWN] += 1
        else:
            yield call, site, subject.nodes[callee]


def _wraps(subject: Subject, spot: Spot, identity: str) -> bool:
    """Tell whether code is what a decorator of a function puts around it."""
    makers = subject.wrappers.get(spot)
    return makers is not None and not makers.isdisjoint(list_decorators(subject.nodes[identity]))
