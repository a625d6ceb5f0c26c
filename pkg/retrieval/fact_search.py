"""Find the facts of documents that answer a question, each with the branch below it, pruned (P-12, P-18)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pkg.errors import QueryError
from pkg.graph.graph_records import find_value
from pkg.model import Coverage, Hit, Label, Node, NodeFilter, QueryResult, RelationType
from pkg.retrieval.chunk_search import SEARCH_DEPTH, ask_texts, find_chunks
from pkg.retrieval.pruning.prune_facts import PrunedFact, prune_fact
from pkg.retrieval.query_options import QueryOptions, RankingMethod, node_filter, prune_choice
from pkg.retrieval.ranking import Ranked
from pkg.retrieval.search import Found, check_paths, explain_empty, find_ordered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pkg.encode.encoder import Encoder, Vectors
    from pkg.graph.store import GraphStore
    from pkg.retrieval.hit_order import HitOrder


def find_facts(
    store: GraphStore,
    query: Vectors,
    terms: Mapping[str, float],
    k: int,
    where: NodeFilter | None = None,
    ranking: RankingMethod = "linear",
) -> Found:
    """Find the k best facts for a question, best first: of a branch, the best fact alone.

    The arguments are those of find_chunks.
    """
    depth = max(SEARCH_DEPTH, 3 * k)
    found = find_chunks(store, query, terms, depth, where, ranking, Label.FACT)
    nodes = store.get([each.id for each in found.ranked])
    kept = list[tuple[Ranked, Node]]()
    for ranked, node in zip(found.ranked, nodes, strict=True):
        if not any(_overlap(node, other) for _, other in kept):
            kept.append((ranked, node))
        if len(kept) == k:
            break
    return replace(found, ranked=tuple(ranked for ranked, _ in kept))


def _overlap(one: Node, other: Node) -> bool:
    """Return whether a fact is part of another."""
    is_same = (one.source, one.path) == (other.source, other.path)
    return is_same and one.start < other.end and other.start < one.end and _is_branch(one, other)


def _is_branch(one: Node, other: Node) -> bool:
    """Return whether one of two facts is above the other, by their keys."""
    longer, shorter = (one, other) if len(one.qualname) >= len(other.qualname) else (other, one)
    return longer.qualname.startswith(shorter.qualname)


def run_fact_query(
    store: GraphStore, encoder: Encoder, text: str, options: QueryOptions, order: HitOrder | None = None
) -> QueryResult:
    """Answer a question by facts; order: reorders the best ones.

    Raises QueryError for an invalid question or a graph without facts, and UnknownWordsError where no word of the
    question is known.
    """
    question, query = ask_texts(store, encoder, text, options, Label.FACT)
    where = replace(node_filter(options), kinds=None)
    find = partial(find_facts, store, query, question.weights, where=where, ranking=options.ranking)
    found = find_ordered(store, encoder, question.text, find, order, options.top_k)
    if not found.searched:
        raise QueryError(
            f"the graph {store.address} holds no facts; make some of documents: pkg build PATH --reader structure"
        )
    check_paths(store, options, found)
    opener = FactOpener(store, encoder, query, prune_choice(options) != "none", options.prune_steps)
    nodes = store.get([each.id for each in found.ranked])
    hits = [
        _make_hit(rank, each, opener.open(node))
        for rank, (each, node) in enumerate(zip(found.ranked, nodes, strict=True), 1)
    ]
    coverage = Coverage(
        searched=found.searched,
        filtered=found.filtered,
        folded=found.folded,
        shown=len(hits),
        notes=explain_empty(store, found, options),
    )
    return QueryResult(text, options.mode, tuple(hits), coverage)


class OpenedFact(NamedTuple):
    """A fact with its value, and what pruning left of it."""

    node: Node
    value: str
    pruned: PrunedFact


class FactOpener:
    """Read facts with their branches, and prune them for one question."""

    def __init__(
        self, store: GraphStore, encoder: Encoder, query: Vectors, is_pruned: bool = True, steps: int = 1
    ) -> None:
        """Keep the question, whose vector is float32 [dimension]."""
        self._store, self._encoder, self._query = store, encoder, query
        self._is_pruned, self._steps = is_pruned, steps

    def open(self, node: Node) -> OpenedFact:
        """Return a fact without the branches that do not help."""
        value = find_value(node)
        content = node.content.encode("utf-8", "replace")
        is_whole = value == node.content and len(content) == node.end - node.start
        branches = self._list_branches(node) if is_whole and self._is_pruned else []
        pruned = prune_fact(self._encoder, self._query, node, value, branches, self._steps)
        return OpenedFact(node, value, pruned)

    def _list_branches(self, node: Node) -> Sequence[Node]:
        """Return the facts directly below a fact, in the order of the text."""
        edges = self._store.neighbours([node.id], [RelationType.CHILD], "out", 1)
        below = self._store.get([edge.end for edge in edges if edge.start == node.id])
        return sorted(below, key=lambda each: each.start)


def _make_hit(rank: int, match: Ranked, opened: OpenedFact) -> Hit:
    node, value, pruned = opened
    return Hit(
        rank=rank,
        label=node.label.value,
        id=node.id,
        source=node.source,
        path=node.path,
        qualname=node.qualname,
        kind=node.kind,
        start_line=node.start_line,
        end_line=node.end_line,
        score=match.score,
        score_pruned=match.raise_score(pruned.gain) if pruned.gain else match.score,
        content=value,
        pruned_content=pruned.text,
        pruned=pruned.cuts,
        same_content=match.same_content,
        cosine=match.cosine,
    )
