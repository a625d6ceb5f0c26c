"""Walk from a function, class or file to its dependencies and dependents, or to another (Q-23: any number of hops)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import NamedTuple

from pkg.model import Edge, Label, RelationType, is_bound, rank_confidence
from pkg.retrieval.deps.answer import Chains, Dependencies, Dependency, DepsOptions, Entry, Link, Place, apply_limit
from pkg.retrieval.deps.levels import walk_levels
from pkg.retrieval.deps.named_sites import count_named_sites
from pkg.retrieval.deps.names import DEFINITIONS, Target
from pkg.retrieval.deps.neighbours import (
    MODULE_CALLEES,
    RELATIONS,
    LinkReader,
    Relation,
    Step,
    choose_types,
    count_calls,
    count_same_name,
    fetch_edges,
    make_step,
    order_link,
)

_UNITS = (Label.FILE, Label.ROW)
_CONSTRUCTOR = "constructor"  # rule of the additional link from the call of a class to its __init__
_TYPES = (RelationType.CALLS, RelationType.UNRESOLVED)


def walk_dependencies(reader: LinkReader, target: Target, options: DepsOptions) -> Dependencies:
    """List each relation of the target level by level, with the confidence of the calls on the way."""
    found, left_out, visited = walk_relations(reader, target, options)
    edges = [edge for node_id in sorted(visited) for edge in reader.read_edges(node_id) if edge.start == node_id]
    scope = f"of the definitions and files visited ({len(visited):,})"
    coverage = count_calls(edges, scope, count_same_name(reader.unbound_names(target.place.source), [target]))
    entries = () if options.direction == "out" else _list_entries(reader, target)
    if may_have_callers(options) and not any(each.relation == "callers" for each in found):
        named = count_named_sites(reader.store, target.place.source, [target])
        is_said = named is None or not (named.is_none and entries)  # code that a framework enters needs no caller
        coverage = replace(coverage, named=named if is_said else None)
    return Dependencies(target.place, options.direction, tuple(found), tuple(left_out), coverage, entries)


def may_have_callers(options: DepsOptions) -> bool:
    """Return whether a question includes callers."""
    return options.direction != "out" and RelationType.CALLS in choose_types(options.relations)


class Walked(NamedTuple):
    """Result of a walk along several relations: links, counts of those left out by relation, and visited nodes."""

    found: list[Dependency]
    left_out: list[tuple[str, int]]
    visited: set[str]


def walk_relations(reader: LinkReader, target: Target, options: DepsOptions) -> Walked:
    """Walk each relation of the target level by level; every node is visited once, hubs are truncated and counted."""
    reader.nodes(target.ids)
    found: list[Dependency] = []
    left_out: list[tuple[str, int]] = []
    visited = set(target.ids)
    types = choose_types(options.relations)
    for relation in RELATIONS:
        if options.direction in (relation.direction, "both") and relation.type in types:
            walk = _Walk(reader, target, relation, options.limit)
            walk.run(options.steps)
            found += walk.found
            visited |= walk.visited
            left_out += [(relation.name, walk.left_out)] if walk.left_out else []
    return Walked(found, left_out, visited)


def _list_entries(reader: LinkReader, target: Target) -> tuple[Entry, ...]:
    """List the entries into a function or class; none for a file or row, where each definition would be searched."""
    if target.nodes[0].label in _UNITS:
        return ()
    from pkg.retrieval.deps.entries import find_entries

    found = find_entries(reader.store, target.place.source, target.nodes)
    return tuple(entry for node in target.nodes for entry in found.get(node.id, ()))


@dataclass(slots=True)
class _Walk:
    """One walk along one relation."""

    reader: LinkReader
    target: Target
    relation: Relation
    limit: int
    found: list[Dependency] = field(default_factory=list)
    visited: set[str] = field(default_factory=set)
    left_out: int = 0

    def run(self, depth: int) -> None:
        """Walk level by level, only through shown links."""
        own = set(self.target.ids)
        level = [(self.target.place.id, node_id) for node_id in self._list_starts()]
        seen = set(own)
        for number in range(1, depth + 1):
            links = self._read_level(level, own if number == 1 else set())
            room = apply_limit(self.limit, len(self.found) + len(links)) - len(self.found)
            self.left_out += len(links) - room
            self.found += [
                Dependency(self.relation.name, number, of, link, self._find_inside(of, link))
                for of, link in links[:room]
            ]
            if number == depth:
                break
            ends = dict.fromkeys(self._other(link).id for _, link in links[:room])
            starts = {start: end for end in ends if end not in seen for start in self._list_next(end)}
            level = [(end, start) for start, end in starts.items() if start not in self.visited]
            seen |= ends.keys()
            if not level:
                break

    def _list_starts(self) -> list[str]:
        """Return the starts; for callees of a file, either its module code or its definitions."""
        unit = self.target.nodes[0]
        if unit.label not in _UNITS or self.relation.type is not RelationType.CALLS or self.relation.direction == "in":
            return [] if self.relation.name == MODULE_CALLEES else list(self.target.ids)
        is_module = self.relation.name == MODULE_CALLEES
        return [node_id for node_id in self.target.ids if (node_id == unit.id) is is_module]

    def _other(self, link: Link) -> Place:
        return link.start if self.relation.direction == "in" else link.end

    def _read_level(self, level: list[tuple[str, str]], own: set[str]) -> list[tuple[str, Link]]:
        """Read the links from the nodes of a level, in their order, each with the place it is shown under."""
        steps: list[tuple[str, Step]] = []
        for of, node_id in level:
            self.visited.add(node_id)
            found = self.reader.list_steps(node_id, self.relation)
            steps += [(of, step) for step in found if not self._is_inner(step, own)]
        self.reader.fetch_ends(step for _, step in steps)
        by_place: dict[str, list[Step]] = {}
        for of, step in steps:
            by_place.setdefault(of, []).append(step)
        links = [(of, link) for of, each in by_place.items() for link in self.reader.make_links(each)]
        counts = self.reader.count_dependents({self._other(link).id for _, link in links}) if len(links) > 1 else {}

        def order(each: tuple[str, Link]) -> tuple[object, ...]:
            other = self._other(each[1])
            return order_link(each[1], other, counts.get(other.id, 0))

        return sorted(links, key=order)

    def _is_inner(self, step: Step, own: set[str]) -> bool:
        """Return whether a step stays inside the target, so that it is not a link of the target as a whole.

        A function calls its inner functions, and may be called by them; but a call of these is not a call of it.
        """
        if self.relation.name == MODULE_CALLEES or not {step.start, step.end} <= own:
            return False
        is_function = self.target.nodes[0].label is Label.FUNCTION
        return not is_function or (self.relation.direction == "in" and step.end not in self._list_targets())

    def _list_targets(self) -> set[str]:
        return {node.id for node in self.target.nodes}

    def _find_inside(self, of: str, link: Link) -> Place | None:
        """Return the definition inside the target at which a link of the first level starts or ends.

        Callers of a class call its constructor too, and importers from a file import the file.
        """
        near = link.end if self.relation.direction == "in" else link.start
        is_own = near.id in self._list_targets() or link.rule == _CONSTRUCTOR
        if of != self.target.place.id or self.relation.type is RelationType.RESOLVES_TO or is_own:
            return None
        return near if near.id in self.target.ids else None

    def _list_next(self, node_id: str) -> list[str]:
        """Return the nodes from which the walk continues: imports lead from file to file."""
        if self.relation.type is RelationType.UNRESOLVED:
            return []
        if self.relation.type is not RelationType.RESOLVES_TO:
            return [node_id]
        file = self.reader.file_of(self.reader.nodes([node_id])[node_id])
        if file is None or self.relation.direction == "out":
            return [file] if file else []
        return [file, *(node.id for node in self.reader.store.subtree(file) if node.label in DEFINITIONS)]


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
