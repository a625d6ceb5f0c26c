"""Facts of documents as evidence for a question, with the branch below each, pruned (P-12, Q-06)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from pkg.model import Node
from pkg.retrieval.evidence.evidence import Evidence
from pkg.retrieval.evidence.evidence_options import EvidenceOptions, node_filter
from pkg.retrieval.fact_search import FactOpener, find_facts

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder, Vectors
    from pkg.graph.store import GraphStore
    from pkg.retrieval.search import Found

MAX_FACTS = 6  # of a question, as sections


class FactPieces(NamedTuple):
    """The facts for a question, best first, the number searched, and whether any of them fits."""

    pieces: tuple[Evidence, ...] = ()
    searched: int = 0
    fits: bool = False


def list_fact_pieces(
    store: GraphStore,
    encoder: Encoder,
    query: Vectors,
    terms: Mapping[str, float],
    options: EvidenceOptions,
    judge: Callable[[Found], bool],
    excess: float,
) -> FactPieces:
    """Return the best facts for a question, whose vector is float32 [dimension].

    judge: returns whether any of the found facts fits. excess: taken off their scores, to compare them with code.
    """
    found = find_facts(store, query, terms, MAX_FACTS, node_filter(options))
    if not found.ranked:
        return FactPieces((), found.searched)
    opener = FactOpener(store, encoder, query)
    nodes = store.get([each.id for each in found.ranked])
    pieces = (
        _make(opener.open(node).pruned.text, node, each.score - excess)
        for each, node in zip(found.ranked, nodes, strict=True)
    )
    return FactPieces(tuple(pieces), found.searched, judge(found))


def _make(text: str, node: Node, score: float) -> Evidence:
    title = f"fact {node.qualname}"
    return Evidence("fact", node.source, node.path, node.start_line, node.end_line, title, text, score)
