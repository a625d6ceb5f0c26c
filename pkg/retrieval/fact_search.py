"""Find the facts of documents that answer a question, each with the branch below it, pruned (P-12, P-18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pkg.errors import QueryError
from pkg.graph.graph_records import find_value
from pkg.model import HEADINGS, Coverage, Hit, Label, Node, NodeFilter, QueryResult, RelationType
from pkg.retrieval.chunk_search import (
    Mix,
    add_ranks,
    ask_texts,
    average_scores,
    copy_cosines,
    make_text_hit,
    score_texts,
)
from pkg.retrieval.pruning.prune_facts import PrunedFact, prune_fact
from pkg.retrieval.query_options import QueryOptions, RankingMethod, node_filter, prune_choice
from pkg.retrieval.ranking import Ranked
from pkg.retrieval.search import Found, check_paths, explain_empty, find_ordered

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder, Vectors
    from pkg.graph.store import GraphStore
    from pkg.retrieval.hit_order import HitOrder


SEARCH_DEPTH = 200  # facts of each search that are ranked, or ten for each hit
COSINE_SHARE = 0.7
"""Share of the cosine in a score, beside that of the words: a fact is short, so that one rare word decides too much.

From 0.65 to 0.75 as many questions find their section (benchmarks/results/tutorials.json); they were used to choose it.
"""
SIBLINGS, SIBLING_SHARE = 3, 0.1
"""Further facts of a section whose mean raises its score, and their share: a section that says more comes first."""
_LEAVES = ("text", "code", "item", "row", "table")


def find_facts(
    store: GraphStore,
    query: Vectors,
    terms: Mapping[str, float],
    k: int,
    where: NodeFilter | None = None,
    ranking: RankingMethod = "linear",
) -> Found:
    """Find the k best facts for a question, best first: one for each section or term, duplicates dropped.

    query: float32 [dimension]; the arguments are those of find_chunks.
    """
    depth = max(SEARCH_DEPTH, 10 * k)
    with store.snapshot():
        scored = score_texts(store, Label.FACT, query, terms, depth, where, _SCORES[ranking])
        nodes = store.get(scored.order)
    scores = scored.scores
    groups: dict[tuple[str, str, str], list[Node]] = {}
    for node in nodes:
        groups.setdefault(_name_owner(node), []).append(node)
    ranked: list[Ranked] = []
    seen = set[str]()
    for score, _, node in sorted((-_rate(group, scores), group[0].id, group[0]) for group in groups.values()):
        if node.content_hash not in seen and len(ranked) < k:
            seen.add(node.content_hash)
            ranked.append(scored.rank(node.id, -score, node.content_hash))
    return scored.describe(ranked)


def _name_owner(node: Node) -> tuple[str, str, str]:
    """Return the place and keys of the section or term that a fact is, or that it belongs to."""
    above, _, _ = node.qualname.rpartition(HEADINGS)
    return node.source, node.path, above if above and node.kind in _LEAVES else node.qualname


def _rate(group: Sequence[Node], scores: Mapping[str, float]) -> float:
    """Return the score of a section: that of its best fact, and a little of the next ones."""
    best, *others = (scores[node.id] for node in group[: SIBLINGS + 1])
    return (best + SIBLING_SHARE * sum(others) / SIBLINGS) / (1 + SIBLING_SHARE)


def _mix(cosines: Mapping[str, float], lexical: Mapping[str, float]) -> dict[str, float]:
    return average_scores(cosines, lexical, COSINE_SHARE)


_SCORES: Mapping[RankingMethod, Mix] = {"linear": _mix, "rrf": add_ranks, "dense": copy_cosines}


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
    return replace(
        make_text_hit(rank, match, node),
        kind=node.kind,
        score_pruned=match.raise_score(pruned.gain) if pruned.gain else match.score,
        content=value,
        pruned_content=pruned.text,
        pruned=pruned.cuts,
    )
