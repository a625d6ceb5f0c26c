"""Read from the links of a graph which functions the calls of a text reach (A-12, P-06)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from pkg.confidence import BOUND
from pkg.model import UNFOLDED_TYPES, Edge, Label, Node, RelationType
from pkg.retrieval.reached import Calls, Loose, Reached
from pkg.retrieval.shown import Shown

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

_CONSTRUCTOR = "constructor"  # the rule by which the call of a class has an edge to its __init__ as well


class _Target(NamedTuple):
    """One edge of a call site: where the callee's name stands, and the callee."""

    line: int
    column: int
    name: str
    edge: Edge
    node: Node
    made: str  # of a constructor: the qualified name of its class


class LinkedCalls:
    """The calls of texts, as the build has resolved them; read for many texts with few questions to the store."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._edges: dict[str, list[Edge]] = {}  # by the definition that they start at
        self._nodes: dict[str, Node] = {}

    def read(self, texts: Sequence[Shown]) -> list[Calls]:
        """Give the calls of each text, those of functions inside of it too."""
        self._edges |= {shown.owner: list(shown.links) for shown in texts if shown.links is not None}
        self._read_edges({shown.owner for shown in texts})
        kept = [[edge for edge in self._list_edges(shown.owner) if shown.has_line(edge.line)] for shown in texts]
        self._read_nodes(edge.end for edges in kept for edge in edges)
        return [self._sort_out(shown, edges) for shown, edges in zip(texts, kept, strict=True)]

    def _read_edges(self, ids: set[str]) -> None:
        """Read what starts at definitions and at those inside of them, one question to the store for each depth."""
        while ids:
            if missing := sorted(ids - self._edges.keys()):
                self._edges |= {node_id: [] for node_id in missing}
                for edge in self._store.neighbours(missing, UNFOLDED_TYPES, "out"):
                    self._edges[edge.start].append(edge)
            inner = (edge for node_id in ids for edge in self._edges[node_id])
            ids = {edge.end for edge in inner if edge.type is RelationType.CONTAINS}

    def _list_edges(self, owner: str) -> Iterable[Edge]:
        for edge in self._edges[owner]:
            if edge.type is RelationType.CONTAINS:
                yield from self._list_edges(edge.end)
            else:
                yield edge

    def _read_nodes(self, ids: Iterable[str]) -> None:
        if missing := sorted(set(ids) - self._nodes.keys()):
            self._nodes |= {node.id: node for node in self._store.get(missing)}

    def _sort_out(self, shown: Shown, edges: Sequence[Edge]) -> Calls:
        """Take from each call site what it reaches for sure, else the single thing that it may reach."""
        calls = Calls()
        targets = [self._place(shown, edge) for edge in edges if edge.type is RelationType.CALLS]
        called = {(each.line, each.node.path, each.node.qualname) for each in targets}
        for (line, _, name), group in groupby(_drop_constructed(targets), key=lambda each: each[:3]):
            site = list(group)
            sure = [each for each in site if each.edge.confidence in BOUND]
            if not all(_is_inherited(each, called) for each in site):
                calls.bound += bool(sure)
                calls.possible += not sure
            if sure or len(site) == 1:
                calls.reached += [Reached(each.node, _explain(shown, each)) for each in sure or site]
            else:
                place = f"{name} at {shown.node.path}:{line}"
                calls.explain.append(f"{place} not guessed: {len(site)} functions are possible, none is likely")
        loose = [self._make_loose(shown, edge) for edge in edges if edge.type is RelationType.UNRESOLVED]
        calls.loose = sorted(loose, key=lambda each: (each.line, each.expression))
        return calls

    def _place(self, shown: Shown, edge: Edge) -> _Target:
        node, line = self._nodes[edge.end], edge.line or 0
        made = node.qualname.rpartition(".")[0] if edge.rule == _CONSTRUCTOR and node.label is Label.FUNCTION else ""
        name = made.rpartition(".")[2] or node.name
        return _Target(line, shown.find_column(line, name), name, edge, node, made)

    def _make_loose(self, shown: Shown, edge: Edge) -> Loose:
        call, line = self._nodes[edge.end], edge.line or 0
        return Loose(call.name, shown.node.source, shown.node.path, line, str(call.properties.get("reason", "")))


def _drop_constructed(targets: Sequence[_Target]) -> list[_Target]:
    """Leave out classes whose own __init__ is called with them, and order the rest as the text does."""
    made = {(each.line, each.node.path, each.made) for each in targets}
    kept = [each for each in targets if (each.line, each.node.path, each.node.qualname) not in made or each.made]
    return sorted(kept, key=lambda each: (*each[:3], each.node.qualname, each.node.path, each.node.id))


def _is_inherited(target: _Target, called: Container[tuple[int, str, str]]) -> bool:
    """Tell whether this is an __init__ of a base of the class that is called: the site is counted with the class."""
    return bool(target.made) and (target.line, target.node.path, target.made) not in called


def _explain(shown: Shown, target: _Target) -> str:
    edge = target.edge
    least = "" if edge.confidence in BOUND else "; nothing else is known"
    return f"called at {shown.node.path}:{target.line} ({edge.confidence or 'certain'}: {edge.rule or 'name'}{least})"
