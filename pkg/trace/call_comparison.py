"""Compare traced calls with the CALLS edges of a graph, and explain each difference.

Both are counted once for each statement, caller and callee. An edge is judged only if its statement called something.
Edges to functions that are passed as arguments (rule callback) are counted separately, because their line does not call
them. Edges to classes are not judged: a class is traced as its __init__, which has an edge of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from pkg.model import BOUND, CONFIDENCES, Edge, Label, Node
from pkg.trace.subject import Site, Subject, list_decorators
from pkg.trace.traced_run import SeenCall, Spot, TraceLog


@dataclass(frozen=True, slots=True, order=True)
class Missed:
    """One traced call without an edge in the graph."""

    path: str
    line: int
    caller: str  # qualified name; the path for code outside functions
    callee_path: str
    callee: str
    reason: str


@dataclass(frozen=True, slots=True, order=True)
class Unseen:
    """One edge of the graph whose line made other calls only."""

    path: str
    line: int
    caller: str
    callee_path: str
    callee: str
    rule: str
    confidence: str
    instead: str  # category of the calls made there


@dataclass(frozen=True, slots=True)
class Precision:
    """Numbers of judged and of seen edges among those of one kind."""

    name: str  # of a confidence or a rule
    ran: int
    seen: int


@dataclass(frozen=True, slots=True)
class Recall:
    """Number of traced calls of one kind, and of those with an edge in the graph."""

    name: str  # direct, or through a library or generated code
    calls: int
    bound: int  # with a certain or likely edge
    possible: int  # with a possible edge only

    @property
    def missed(self) -> int:
        """Return the number of calls without an edge."""
        return self.calls - self.bound - self.possible


@dataclass(frozen=True, slots=True)
class TraceReport:
    """The comparison of the CALLS edges of a source with the calls made by a command."""

    source: str
    root: str
    command: str
    exit_code: int
    processes: int
    python: tuple[str, ...]
    hooks: tuple[str, ...]  # setprofile or monitoring
    precision: tuple[Precision, ...]  # certain, likely, possible
    rules: tuple[Precision, ...]  # of certain and likely edges
    recall: tuple[Recall, ...]
    missed_reasons: tuple[tuple[str, int], ...]  # most frequent first
    unseen_reasons: tuple[tuple[str, int], ...]  # of certain and likely edges
    left_out: tuple[tuple[str, int], ...]  # calls and edges that were not compared, by reason
    missed: tuple[Missed, ...]  # direct calls
    unseen: tuple[Unseen, ...]
    copies: tuple[str, ...] = ()  # other files that ran for modules of the source, one per package


CONSTRUCTORS = ("__init__", "__new__", "__call__", "__init_subclass__")


def explain_missed(subject: Subject, site: Site, callee: Node) -> str:
    """Return why a call is missed: the reason of the unbound call at its site, or the kind of implicit call."""
    unbound = subject.unbound.get(site, [])
    named = [call for call in unbound if call.name.rpartition(".")[2] == callee.name]
    special = callee.name.startswith("__") and callee.name.endswith("__")
    if not named and (callee.name in CONSTRUCTORS or not special):
        named = unbound
    if named:
        return str(named[0].properties.get("reason", "unknown"))
    same = [edge for edge in subject.calls.get(site, []) if subject.nodes[edge.end].name == callee.name]
    if same:
        return "bound to another of that name"
    if special:
        return "no site: special method that the interpreter calls"
    if site.statement in subject.outlines[subject.nodes[site.owner].path].decorated:
        return "no site: decorator"
    if any(name.endswith("property") for name in list_decorators(callee)):
        return "no site: property"
    return "no site"


def explain_unseen(subject: Subject, edge: Edge, seen: Set[str], names: Set[str]) -> str:
    """Return the category of the calls that the line of an edge made instead.

    seen: ids of the functions of the repository that it called; names: names of other functions that it called.
    """
    target = subject.nodes[edge.end]
    kin = {identity for identity in seen if edge.end in subject.find_overridden(identity)}
    if kin or subject.find_overridden(edge.end) & seen:
        return "another method of the hierarchy was called"
    if any(subject.nodes[identity].name == target.name for identity in seen):
        return "another function of that name was called"
    if target.name in names:
        return "something of that name outside of the repository was called"
    return "nothing of that name was called"


CHANGED = "calls in files that changed since the build"
UNKNOWN = "calls of functions that the graph does not have"

Seen = dict[Site, set[str]]  # ids of the called functions by statement


@dataclass(slots=True)
class Placed:
    """The calls of a log, by the statements that made them."""

    direct: Seen = field(default_factory=lambda: defaultdict(set))
    through: Seen = field(default_factory=lambda: defaultdict(set))
    names: dict[Site, set[str]] = field(default_factory=lambda: defaultdict(set))  # names of callees outside
    left_out: Counter[str] = field(default_factory=Counter)

    def functions(self, site: Site) -> set[str]:
        """Return all functions of the repository that a statement called, directly or indirectly."""
        return self.direct.get(site, set()) | self.through.get(site, set())

    def ran(self, site: Site) -> bool:
        """Return whether a statement called anything."""
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
            continue  # comprehensions and class bodies run in place, and lambdas have no nodes
        site = subject.place(call.caller, call.line)
        if {call.caller.path, call.callee.path} & subject.stale:
            left_out[CHANGED] += 1
        elif callee is None or site is None:
            left_out[UNKNOWN] += 1
        else:
            yield call, site, subject.nodes[callee]


def _wraps(subject: Subject, spot: Spot, identity: str) -> bool:
    """Return whether code is a wrapper made by a decorator of a function."""
    makers = subject.wrappers.get(spot)
    return makers is not None and not makers.isdisjoint(list_decorators(subject.nodes[identity]))


HANDED_OVER = "callback"  # rule of functions passed as arguments
DIRECT, THROUGH = "direct", "through a library or generated code"
CHANGED_EDGES = "edges in files that changed since the build"
SUSPENDING = "edges to generators and coroutines whose calls this Python does not tell (3.13 does)"
CACHES = frozenset(("cached_property", "cache", "lru_cache"))
CACHED = "edges to functions with a cache, which are not called each time"
NOT_RUN = "edges whose line called nothing"


class Judged(NamedTuple):
    """One edge whose statement called something."""

    site: Site
    edge: Edge
    is_seen: bool


def compare_calls(subject: Subject, log: TraceLog, command: str) -> TraceReport:
    """Compare the calls of a command with the edges of a source."""
    placed = place_calls(subject, log)
    judged = list(_judge_edges(subject, placed, log))
    missed = sorted(_list_missed(subject, placed.direct))
    unseen = sorted(_list_unseen(subject, placed, judged))
    bound = [each for each in judged if each.edge.confidence in BOUND]
    called = [each for each in judged if each.edge.rule != HANDED_OVER]
    return TraceReport(
        source=subject.source.name,
        root=subject.source.root,
        command=command,
        exit_code=log.exit_code,
        processes=log.processes,
        python=tuple(sorted(log.versions)),
        hooks=tuple(sorted(log.hooks)),
        precision=tuple(_count_seen(name, [e for e in called if e.edge.confidence == name]) for name in CONFIDENCES),
        rules=tuple(_count_seen(rule, [e for e in bound if e.edge.rule == rule]) for rule in _list_rules(bound)),
        recall=(_count_found(DIRECT, subject, placed.direct), _count_found(THROUGH, subject, placed.through)),
        missed_reasons=_order_counts(each.reason for each in missed),
        unseen_reasons=_order_counts(
            each.instead for each in unseen if each.confidence in BOUND and each.rule != HANDED_OVER
        ),
        left_out=tuple(sorted(placed.left_out.items())),
        missed=tuple(missed),
        unseen=tuple(unseen),
        copies=tuple(sorted(log.copies)),
    )


def _judge_edges(subject: Subject, placed: Placed, log: TraceLog) -> Iterator[Judged]:
    """Yield the edges to functions that can be judged; the others are counted in left_out."""
    for site, edge in _list_edges(subject):
        start, end = subject.nodes[edge.start], subject.nodes[edge.end]
        if {start.path, end.path} & subject.stale:
            placed.left_out[CHANGED_EDGES] += 1
        elif not CACHES.isdisjoint(list_decorators(end)):
            placed.left_out[CACHED] += 1
        elif not placed.ran(site):
            placed.left_out[NOT_RUN] += 1
        elif subject.suspends(end) and _is_untold(end, log):
            placed.left_out[SUSPENDING] += 1
        else:
            yield Judged(site, edge, edge.end in placed.functions(site))


def _is_untold(suspending: Node, log: TraceLog) -> bool:
    """Return whether calls of a generator are not traced: before 3.12, and in 3.12 if a wrapper calls it with *args."""
    return "setprofile" in log.hooks or ("3.12" in log.versions and bool(list_decorators(suspending)))


def _list_edges(subject: Subject) -> Iterator[tuple[Site, Edge]]:
    """Yield the most confident edge from each statement to each function."""
    for site, edges in subject.calls.items():
        best: dict[str, Edge] = {}
        for edge in sorted(edges, key=_rank):
            if subject.nodes[edge.end].label is Label.FUNCTION:
                best.setdefault(edge.end, edge)
        yield from ((site, edge) for edge in best.values())


def _rank(edge: Edge) -> int:
    return CONFIDENCES.index(edge.confidence) if edge.confidence in CONFIDENCES else len(CONFIDENCES)


def _count_seen(name: str, judged: list[Judged]) -> Precision:
    return Precision(name, len(judged), sum(each.is_seen for each in judged))


def _list_rules(judged: Iterable[Judged]) -> list[str]:
    return [rule for rule, _ in _order_counts(each.edge.rule or "" for each in judged)]


def _count_found(name: str, subject: Subject, seen: Seen) -> Recall:
    """Count the calls with certain or likely edges, and those with possible edges only."""
    ranks = [_rank_call(subject, site, callee) for site, callees in seen.items() for callee in callees]
    return Recall(name, len(ranks), sum(rank < len(BOUND) for rank in ranks), ranks.count(len(BOUND)))


def _rank_call(subject: Subject, site: Site, callee: str) -> int:
    """Return the rank of the most confident edge for a call; the number of confidences if there is none."""
    edges = (edge for edge in subject.calls.get(site, ()) if edge.end == callee)
    return min(map(_rank, edges), default=len(CONFIDENCES))


def _list_missed(subject: Subject, seen: Seen) -> Iterator[Missed]:
    for site, callees in seen.items():
        for identity in callees:
            if _rank_call(subject, site, identity) == len(CONFIDENCES):
                caller, callee = subject.nodes[site.owner], subject.nodes[identity]
                reason = explain_missed(subject, site, callee)
                place = (caller.path, site.statement, caller.qualname)
                yield Missed(*place, callee.path, callee.qualname, reason)


def _list_unseen(subject: Subject, placed: Placed, judged: Iterable[Judged]) -> Iterator[Unseen]:
    for site, edge, is_seen in judged:
        if not is_seen:
            caller, callee = subject.nodes[edge.start], subject.nodes[edge.end]
            instead = explain_unseen(subject, edge, placed.functions(site), placed.names.get(site, frozenset()))
            place = (caller.path, edge.line or 0, caller.qualname, callee.path, callee.qualname)
            yield Unseen(*place, edge.rule or "", edge.confidence or "", instead)


def _order_counts(reasons: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Count equal reasons, the most frequent first."""
    return tuple(sorted(Counter(reasons).items(), key=lambda each: (-each[1], each[0])))
