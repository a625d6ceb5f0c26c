"""Find the functions that call what was found, for those who ask how it is used (Q-23)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pkg.confidence import is_bound, rank_confidence
from pkg.model import Edge, Label, RelationType
from pkg.retrieval.reached import Calls, Reached
from pkg.retrieval.shown import Shown

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

MOST_CALLERS = 20  # of a hit: more would fill any budget, and are counted


def read_callers(store: GraphStore, texts: Sequence[Shown]) -> list[Calls]:
    """Give the callers of each text's function, surest first; calls that are only possible are counted alone."""
    owners = sorted({shown.owner for shown in texts})
    edges: dict[str, list[Edge]] = {owner: [] for owner in owners}
    for edge in store.neighbours(owners, (RelationType.CALLS,), "in"):
        edges[edge.end].append(edge)
    chosen = [_choose(edges[shown.owner]) for shown in texts]
    nodes = {node.id: node for node in store.get(sorted({edge.start for each in chosen for edge in each}))}
    found: list[Calls] = []
    for shown, kept in zip(texts, chosen, strict=True):
        calls = Calls(explain=list(_explain_rest(edges[shown.owner], kept)))
        for edge in kept:
            node, place = nodes[edge.start], f"{nodes[edge.start].path}:{edge.line}"
            if node.label is Label.FUNCTION:
                calls.reached.append(Reached(node, f"calls {shown.node.qualname} at {place} ({_tell(edge)})"))
            else:
                calls.explain.append(f"called by the code of a module at {place} ({_tell(edge)}), which is not shown")
        calls.reached.sort(key=lambda each: (each.node.path, each.node.start_line, each.node.id))
        found.append(calls)
    return found


def _choose(edges: Sequence[Edge]) -> list[Edge]:
    """Take the first call of each caller, of the surest callers."""
    first: dict[str, Edge] = {}
    for edge in sorted(edges, key=lambda edge: (rank_confidence(edge.confidence), edge.line or 0)):
        if is_bound(edge.confidence):
            first.setdefault(edge.start, edge)
    ranked = sorted(first.values(), key=lambda edge: (rank_confidence(edge.confidence), edge.start))
    return ranked[:MOST_CALLERS]


def _explain_rest(edges: Sequence[Edge], kept: Sequence[Edge]) -> list[str]:
    sure = {edge.start for edge in edges if is_bound(edge.confidence)}
    possible = {edge.start for edge in edges} - sure
    more = len(sure) - len(kept)
    return [
        *([f"callers above {MOST_CALLERS} of a hit, left out: {more}"] if more else []),
        *([f"callers that are only possible, left out: {len(possible)}"] if possible else []),
    ]


def _tell(edge: Edge) -> str:
    return f"{edge.confidence or 'certain'}: {edge.rule or 'name'}"
