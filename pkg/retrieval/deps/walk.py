"""Walk from a function, class or file to its dependencies and dependents (Q-23: any number of hops)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pkg.model import Label, RelationType
from pkg.retrieval.deps.answer import Dependencies, Dependency, DepsOptions, Entry, Link, Place, apply_limit
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
    order_link,
)
from pkg.retrieval.deps.unbound import count_same_name

_UNITS = (Label.FILE, Label.ROW)
_CONSTRUCTOR = "constructor"  # rule of the additional link from the call of a class to its __init__


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
            ends = dict.fromkeys(self._other(link) for _, link in links[:room])
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

    def _other(self, link: Link) -> str:
        return link.start.id if self.relation.direction == "in" else link.end.id

    def _read_level(self, level: list[tuple[str, str]], own: set[str]) -> list[tuple[str, Link]]:
        """Read the links from the nodes of a level, surest first, each with the place it is shown under."""
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
        is_in = self.relation.direction == "in"
        return sorted(links, key=lambda each: order_link(each[1], each[1].start if is_in else each[1].end))

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
