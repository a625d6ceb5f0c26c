"""Compare calls that happened with the CALLS edges of a graph.

Both are counted once for each statement, caller and callee, however often they happened. An edge is judged only when
its statement called something; functions that are handed over (rule callback) are judged apart, for such a line does
not call them itself. Edges to classes are not judged: a class is seen as its __init__, to which there is an edge too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pkg.confidence import BOUND, CONFIDENCES
from pkg.evaluation.trace.placing import Placed, Seen, place_calls
from pkg.evaluation.trace.reasons import explain_missed, explain_unseen
from pkg.evaluation.trace.results import Missed, Precision, Recall, TraceReport, Unseen
from pkg.evaluation.trace.run import TraceLog
from pkg.evaluation.trace.subject import Site, Subject, list_decorators
from pkg.model import Edge, Label, Node

HANDED_OVER = "callback"  # rule of functions that are passed on
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
    """Compare what a command called with what the graph of a source says."""
    placed = place_calls(subject, log)
    judged = list(_judge_edges(subject, placed, log))
    missed = sorted(_list_missed(subject, placed.direct))
    unseen = sorted(_list_unseen(subject, placed, judged))
    bound = [each for each in judged if each.edge.confidence in BOUND]
    called = [each for each in judged if each.edge.rule != HANDED_OVER]
    return TraceReport(
        subject.source.name,
        subject.source.root,
        command,
        log.exit_code,
        log.processes,
        tuple(sorted(log.versions)),
        tuple(sorted(log.hooks)),
        tuple(_count_seen(name, [e for e in called if e.edge.confidence == name]) for name in CONFIDENCES),
        tuple(_count_seen(rule, [e for e in bound if e.edge.rule == rule]) for rule in _list_rules(bound)),
        (_count_found(DIRECT, subject, placed.direct), _count_found(THROUGH, subject, placed.through)),
        _order_counts(each.reason for each in missed),
        _order_counts(each.instead for each in unseen if each.confidence in BOUND and each.rule != HANDED_OVER),
        tuple(sorted(placed.left_out.items())),
        tuple(missed),
        tuple(unseen),
    )


def _judge_edges(subject: Subject, placed: Placed, log: TraceLog) -> Iterator[Judged]:
    """Look at each edge to a function; what says nothing is counted as left out."""
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
    """Tell whether calls of a generator are not seen: below 3.12, and in 3.12 where a wrapper calls it with *args."""
    return "setprofile" in log.hooks or ("3.12" in log.versions and bool(list_decorators(suspending)))


def _list_edges(subject: Subject) -> Iterator[tuple[Site, Edge]]:
    """Give the surest edge from each statement to each function."""
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
    """Count the calls that certain or likely edges have, and those that possible ones have alone."""
    ranks = [_rank_call(subject, site, callee) for site, callees in seen.items() for callee in callees]
    return Recall(name, len(ranks), sum(rank < len(BOUND) for rank in ranks), ranks.count(len(BOUND)))


def _rank_call(subject: Subject, site: Site, callee: str) -> int:
    """Give the place of the surest edge for a call among the confidences; a place behind them when there is none."""
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
