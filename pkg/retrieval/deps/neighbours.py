"""Read the relationships around nodes, with a cache, and count the call sites in reach by confidence."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pkg.errors import NodeNotFoundError
from pkg.graph.generation_cache import GenerationCache
from pkg.graph.path_filter import is_product
from pkg.graph.store import Overflow
from pkg.model import Edge, Label, Node, RelationType, is_bound, rank_confidence
from pkg.resolution.reasons import Reason
from pkg.retrieval.deps.answer import UNRESOLVED_CALLS, CallCoverage, Link, Place, RelationKind, make_place
from pkg.retrieval.deps.paths import name_unit

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.retrieval.deps.names import Target


DEEP_STARTS = 8  # for more nodes than these, reading all links of the source is cheaper than walking

_DIRECT = (
    RelationType.CALLS, RelationType.RESOLVES_TO, RelationType.INHERITS, RelationType.OVERRIDES,
    RelationType.UNRESOLVED,
)  # fmt: skip
_THROUGH_IMPORTS = (RelationType.IMPORTS, RelationType.RESOLVES_TO)
_LAST_NAME = re.compile(r"([^\W\d]\w*)\s*\Z")

UnboundNames = Mapping[str, Counter[str]]
"""Number of unbound call sites of each name, by reason."""

_MEMORY = GenerationCache(8)  # sources


class Relation(NamedTuple):
    """One kind of step from a node: its name in answers, its relationship, and its direction."""

    name: str
    type: RelationType
    direction: str  # in: dependents of the node; out: its dependencies


MODULE_CALLEES = "module callees"
"""Callees of a file's code outside of definitions, which run when the file is imported."""
RELATIONS = (
    Relation("callers", RelationType.CALLS, "in"),
    Relation("importers", RelationType.RESOLVES_TO, "in"),
    Relation("subclasses", RelationType.INHERITS, "in"),
    Relation("overridden by", RelationType.OVERRIDES, "in"),
    Relation("callees", RelationType.CALLS, "out"),
    Relation(MODULE_CALLEES, RelationType.CALLS, "out"),
    Relation("imports", RelationType.RESOLVES_TO, "out"),
    Relation("bases", RelationType.INHERITS, "out"),
    Relation("overrides", RelationType.OVERRIDES, "out"),
    Relation(UNRESOLVED_CALLS, RelationType.UNRESOLVED, "out"),
)


KINDS: Mapping[RelationKind, RelationType] = {
    "calls": RelationType.CALLS, "imports": RelationType.RESOLVES_TO, "inherits": RelationType.INHERITS,
    "overrides": RelationType.OVERRIDES, "unresolved": RelationType.UNRESOLVED,
}  # fmt: skip


def choose_types(relations: Sequence[RelationKind]) -> frozenset[RelationType]:
    """Return the relationships to follow; all without a choice."""
    return frozenset(KINDS[each] for each in relations or KINDS)


class Step(NamedTuple):
    """One dependency by the ids of its ends; an import leads from its file, through the Import node, to its target."""

    type: str  # a RelationType, or one of the additional types of answers
    start: str
    end: str
    line: int | None
    rule: str | None
    confidence: str | None
    through: str | None = None  # id of the Import

    def other(self, direction: str) -> str:
        """Return the end that the step leads to."""
        return self.start if direction == "in" else self.end


@dataclass(slots=True)
class LinkReader:
    """Cache of nodes and edges for one question."""

    store: GraphStore
    _edges: dict[str, list[Edge]] = field(default_factory=dict)
    _nodes: dict[str, Node] = field(default_factory=dict)
    _unbound: dict[str | None, UnboundNames] = field(default_factory=dict)

    def unbound_names(self, source: str | None) -> UnboundNames:
        """Return the unbound call sites of a source, by name."""
        if source not in self._unbound:
            self._unbound[source] = read_unbound_names(self.store, source)
        return self._unbound[source]

    def nodes(self, ids: Iterable[str]) -> dict[str, Node]:
        """Fetch existing nodes."""
        wanted = dict.fromkeys(ids)
        missing = [node_id for node_id in wanted if node_id not in self._nodes]
        self._nodes.update((node.id, node) for node in self.store.get(missing) if missing)
        return {node_id: self._nodes[node_id] for node_id in wanted}

    def read_edges(self, node_id: str) -> list[Edge]:
        """Read the resolved relationships of a node, in both directions."""
        if node_id not in self._edges:
            self._edges[node_id] = self.store.neighbours([node_id], _DIRECT, "both", 1)
        return self._edges[node_id]

    def list_steps(self, node_id: str, relation: Relation) -> list[Step]:
        """List the steps from a node along a relation."""
        if relation.type is RelationType.RESOLVES_TO:
            return self._list_importers(node_id) if relation.direction == "in" else self._list_imports(node_id)
        return [
            make_step(edge)
            for edge in self.read_edges(node_id)
            if edge.type is relation.type and node_id == (edge.end if relation.direction == "in" else edge.start)
        ]

    def _list_importers(self, node_id: str) -> list[Step]:
        if not any(edge.type is RelationType.RESOLVES_TO and edge.end == node_id for edge in self.read_edges(node_id)):
            return []
        edges = self.store.neighbours([node_id], _THROUGH_IMPORTS, "in", 2)
        return [step for step in join_imports(edges) if step.end == node_id]

    def _list_imports(self, node_id: str) -> list[Step]:
        """List the imports of a file; an unresolved import ends at itself."""
        if self.nodes([node_id])[node_id].label not in (Label.FILE, Label.ROW):
            return []
        edges = self.store.neighbours([node_id], _THROUGH_IMPORTS, "out", 2)
        found = [step for step in join_imports(edges) if step.start == node_id]
        led = {step.through for step in found}
        unresolved = [edge for edge in edges if edge.type is RelationType.IMPORTS and edge.end not in led]
        return found + [
            Step(RelationType.RESOLVES_TO.value, edge.start, edge.end, edge.line, "unknown", "possible", edge.end)
            for edge in unresolved
            if edge.start == node_id
        ]

    def file_of(self, node: Node) -> str | None:
        """Return the id of the file of a node; None for a library."""
        if node.label in (Label.FILE, Label.ROW):
            return node.id
        if node.path:
            with suppress(NodeNotFoundError):
                return next(iter(self.nodes([name_unit(node.source, node.path)])))
        return None

    def fetch_ends(self, steps: Iterable[Step]) -> dict[str, Node]:
        """Fetch the nodes of steps, all at once."""
        ends = {end for step in steps for end in (step.start, step.end, step.through) if end is not None}
        return self.nodes(sorted(ends))

    def count_dependents(self, ids: Iterable[str]) -> Counter[str]:
        """Count the callers and importing statements of each node."""
        found = self.store.neighbours(sorted(ids), (RelationType.CALLS, RelationType.RESOLVES_TO), "in", 1)
        return Counter(end for end, _ in {(edge.end, edge.start) for edge in found})

    def make_links(self, steps: Sequence[Step]) -> list[Link]:
        """Turn steps into links, one for each pair of ends, in the order of their first appearance."""
        nodes = self.fetch_ends(steps)
        merged: dict[tuple[str, str, str], list[Step]] = {}
        for step in steps:
            merged.setdefault((step.type, step.start, step.end), []).append(step)
        return [_make_link(same, nodes) for same in merged.values()]


def _make_link(same: Sequence[Step], nodes: dict[str, Node]) -> Link:
    best = min(same, key=lambda step: (rank_confidence(step.confidence), step.rule or "", step.line or 0))
    lines = tuple(sorted({step.line for step in same if step.line is not None}))
    end, text, rule = nodes[best.end], nodes[best.through].content if best.through else "", best.rule
    if end.label is Label.CALL:
        rule = str(end.properties.get("reason", "")) or rule
    start = make_place(nodes[best.start])
    return Link(
        type=best.type,
        start=start,
        end=make_place(end),
        lines=lines,
        rule=rule,
        confidence=best.confidence or "certain",
        text=text,
    )


def make_step(edge: Edge) -> Step:
    """Return a relationship as a step."""
    return Step(edge.type.value, edge.start, edge.end, edge.line, edge.rule, edge.confidence)


def join_imports(edges: Iterable[Edge]) -> list[Step]:
    """Join File -> Import and Import -> target to steps from file to target."""
    known = list(edges)
    owners: dict[str, list[Edge]] = {}
    for edge in known:
        if edge.type is RelationType.IMPORTS:
            owners.setdefault(edge.end, []).append(edge)
    return [
        Step(edge.type.value, owner.start, edge.end, owner.line, edge.rule, edge.confidence, edge.start)
        for edge in known
        if edge.type is RelationType.RESOLVES_TO
        for owner in owners.get(edge.start, ())
    ]


def fetch_edges(
    store: GraphStore, starts: Sequence[str], types: Sequence[RelationType], direction: str, depth: int, source: str
) -> list[Edge]:
    """Read the relationships within some steps of a few nodes, or all of the source for more nodes."""
    if len(starts) > DEEP_STARTS:
        return list(store.edges(types, source))
    return store.neighbours(starts, types, direction, depth)


def order_link(link: Link, other: Place, dependents: int = 0) -> tuple[bool, int, int, str, int, str, str]:
    """Return a sort key of links by the place that they lead to: code of the product before tests and examples,
    certain links first, then places with most dependents.
    """
    is_aside = not is_product(other.path)
    return is_aside, rank_confidence(link.confidence), -dependents, other.path, other.line, other.qualname, other.id


def count_calls(
    edges: Iterable[Edge], scope: str, same: SameName | None = None, notes: tuple[str, ...] = ()
) -> CallCoverage:
    """Count call sites by confidence: CALLS of one line by one rule are one site, bound if any of them is.

    A call of a class has one relationship to the class and one to its ``__init__``; both are the same site.
    """
    sites: dict[tuple[str, int | None, str | None], bool] = {}
    unbound: set[str] = set()
    for edge in edges:
        if edge.type is RelationType.CALLS:
            key = edge.start, edge.line, edge.rule
            sites[key] = sites.get(key, False) or is_bound(edge.confidence)
        elif edge.type is RelationType.UNRESOLVED:
            unbound.add(edge.end)
    bound = sum(sites.values())
    counts = bound, len(sites) - bound, len(unbound)
    if same is None:
        return CallCoverage(scope, *counts, notes=notes)
    return CallCoverage(scope, *counts, same.sites, same.names, notes, same.reasons)


class SameName(NamedTuple):
    """The unbound call sites with some names."""

    sites: int
    names: str  # the name, or whose names, in words
    reasons: tuple[tuple[str, int], ...]  # the commonest first


def read_unbound_names(store: GraphStore, source: str | None) -> UnboundNames:
    """Count the unbound call sites of a source by the last name of the called expression: ``a.b.run`` counts as run.

    The counts are cached for the generation of the graph.
    """
    return _MEMORY.get(store, (store.address, source), lambda: _read_unbound_names(store, source))


def _read_unbound_names(store: GraphStore, source: str | None) -> UnboundNames:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for node in store.nodes((Label.CALL,), source):
        matched = _LAST_NAME.search(node.name)
        if matched is not None:
            found[matched[1]][str(node.properties.get("reason", ""))] += 1
    return found


def list_overflows(store: GraphStore, source: str | None = None) -> tuple[Overflow, ...]:
    """List values with too many candidates, by the number of calls left unbound by them, the most first."""
    prefix = f"{Reason.MANY.value}: "
    reasons = (str(node.properties.get("reason", "")) for node in store.nodes((Label.CALL,), source))
    counts = Counter(reason.removeprefix(prefix) for reason in reasons if reason.startswith(prefix))
    return tuple(Overflow(*each) for each in sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def count_sites(unbound: UnboundNames, name: str) -> int:
    """Return the number of unbound call sites of one name."""
    return sum(unbound[name].values()) if name in unbound else 0


def count_same_name(unbound: UnboundNames, targets: Iterable[Target]) -> SameName:
    """Count the unbound call sites that may call some targets, or definitions inside them."""
    chosen = list(targets)
    names = {node.name for target in chosen for node in (*target.nodes, *target.inside)}
    reasons: Counter[str] = sum((unbound[name] for name in sorted(names) if name in unbound), Counter[str]())
    ordered = tuple(sorted(reasons.items(), key=lambda each: (-each[1], each[0])))
    if len(chosen) != 1:
        words = "the names of the targets" if chosen else "the target, which has no name here"
    elif len(names) > 1:
        words = f"the names inside {chosen[0].place.qualname}"
    else:
        words = f"the name {', '.join(names)}"
    return SameName(sum(reasons.values()), words, ordered)
