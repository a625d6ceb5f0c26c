"""Find the shortest chains of calls from one place to another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby, islice

from pkg.model import Edge, RelationType, is_bound, rank_confidence
from pkg.retrieval.deps.answer import Chains, DepsOptions, Link, apply_limit
from pkg.retrieval.deps.levels import walk_levels
from pkg.retrieval.deps.names import Target
from pkg.retrieval.deps.neighbours import LinkReader, count_calls, fetch_edges, make_step
from pkg.retrieval.deps.unbound import count_same_name

_TYPES = (RelationType.CALLS, RelationType.UNRESOLVED)


def find_chains(reader: LinkReader, start: Target, end: Target, options: DepsOptions) -> Chains:
    """Find every shortest chain of bound calls, or without any, chains that include possible calls.

    A class or file starts and ends chains with all definitions inside it.
    """
    ends = set(end.ids)
    starts = [node_id for node_id in start.ids if node_id not in ends] or list(start.ids)
    place = start.place
    edges = fetch_edges(reader.store, starts, _TYPES, "out", options.steps, place.source)
    calls = [edge for edge in edges if edge.type is RelationType.CALLS]
    search = _search([edge for edge in calls if is_bound(edge.confidence)], starts, ends, options.steps)
    notes: tuple[str, ...] = ()
    if not search.reached:
        search = _search(calls, starts, ends, options.steps)
        notes = ("no chain of bound calls; these have possible calls in them",) if search.reached else ()
    total = search.count()
    shown = apply_limit(options.limit, total)
    chains = sorted(_link_chains(reader, islice(search.walk(), shown)), key=_order)
    looked = [edge for edge in edges if edge.start in search.depths]
    scope = f"of the definitions and files passed ({len(search.depths):,})"
    coverage = count_calls(looked, scope, count_same_name(reader.unbound_names(place.source), [end]), notes)
    return Chains(place, end.place, options.steps, tuple(chains), total - shown, coverage)


@dataclass(slots=True)
class _Search:
    """A breadth-first search: the depth of each node, and the calls that lead to it on shortest paths."""

    starts: set[str]
    depths: dict[str, int] = field(default_factory=dict)
    leading: dict[str, dict[str, Edge]] = field(default_factory=dict)  # callee -> caller -> its surest call
    reached: tuple[str, ...] = ()  # the nearest ends
    hops: int = 0

    def count(self) -> int:
        """Return the number of chains without building them: there may be very many."""
        ways = [dict.fromkeys(self.reached, 1)]
        for _ in range(self.hops):
            before: dict[str, int] = defaultdict(int)
            for node_id, number in ways[-1].items():
                for caller in self.leading[node_id]:
                    before[caller] += number
            ways.append(before)
        return sum(ways[-1].values()) if self.reached else 0

    def walk(self) -> Iterator[tuple[Edge, ...]]:
        """Yield the chains one by one, built from their ends backwards."""
        open_chains: list[tuple[str, tuple[Edge, ...]]] = [(end, ()) for end in reversed(self.reached)]
        while open_chains:
            node_id, chain = open_chains.pop()
            if len(chain) == self.hops:
                yield chain
                continue
            for caller, edge in sorted(self.leading[node_id].items(), reverse=True):
                open_chains.append((caller, (edge, *chain)))


def _search(calls: Iterable[Edge], starts: list[str], ends: set[str], depth: int) -> _Search:
    """Search until the first end; an end that is also a start is reached by a call of itself."""
    outgoing: dict[str, list[Edge]] = defaultdict(list)
    for edge in calls:
        outgoing[edge.start].append(edge)
    search = _Search(set(starts), dict.fromkeys(starts, 0))
    known = search.starts - ends
    for found in islice(walk_levels(starts, known, outgoing.__getitem__, lambda edge: edge.end), depth):
        search.hops += 1
        for node_id, edges in found.items():
            by_caller = groupby(sorted(edges, key=lambda edge: (edge.start, _edge_rank(edge))), lambda edge: edge.start)
            search.leading[node_id] = {caller: next(some) for caller, some in by_caller}
            search.depths.setdefault(node_id, search.hops)
        search.reached = tuple(sorted(ends & found.keys()))
        if search.reached:
            break
    return search


def _edge_rank(edge: Edge) -> tuple[int, int, str]:
    return rank_confidence(edge.confidence), edge.line or 0, edge.rule or ""


def _link_chains(reader: LinkReader, chains: Iterable[tuple[Edge, ...]]) -> Iterator[tuple[Link, ...]]:
    known = list(chains)
    reader.nodes(sorted({end for chain in known for edge in chain for end in (edge.start, edge.end)}))
    return (tuple(link for edge in chain for link in reader.make_links([make_step(edge)])) for chain in known)


def _order(chain: tuple[Link, ...]) -> tuple[int, int, tuple[tuple[str, int, str], ...]]:
    """Sort by the weakest link of a chain, by the number of weak links, and by the places."""
    ranks = [rank_confidence(link.confidence) for link in chain]
    return max(ranks), sum(ranks), tuple((link.end.path, link.end.line, link.end.qualname) for link in chain)
