"""Find the sections of text files that answer a question, by words and by cosine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pkg.encode.encoder import knows_question
from pkg.errors import QueryError
from pkg.model import Coverage, Hit, Label, Matches, Node, NodeFilter, QueryResult
from pkg.retrieval.query_options import QueryOptions, RankingMethod, node_filter
from pkg.retrieval.question import Question, parse_question
from pkg.retrieval.ranking import RANK_OFFSET, Ranked
from pkg.retrieval.search import Found, check_paths, check_text, explain_empty, find_ordered, refuse_unknown

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder, Vectors
    from pkg.graph.store import GraphStore
    from pkg.retrieval.hit_order import HitOrder

SEARCH_DEPTH = 100  # chunks of each search that are ranked, or three for each hit


def find_chunks(
    store: GraphStore,
    query: Vectors,
    terms: Mapping[str, float],
    k: int,
    where: NodeFilter | None = None,
    ranking: RankingMethod = "linear",
) -> Found:
    """Find the k best chunks for a question, best first, ties by id, duplicates dropped.

    query: float32 [dimension]; terms: as returned by pkg.terms.term_weights.weigh_terms. ranking: the mean of cosine
    and share of the best lexical score, or reciprocal ranks, or the cosine alone.
    """
    depth = max(SEARCH_DEPTH, 3 * k)
    with store.snapshot():
        scored = score_texts(store, Label.CHUNK, query, terms, depth, where, _SCORES[ranking])
        hashes = [node.content_hash for node in store.get(scored.order[: 2 * k])]  # with duplicates across searches
    firsts: dict[str, Ranked] = {}
    for each, hashed in zip(scored.order, hashes, strict=False):
        firsts.setdefault(hashed, scored.rank(each, scored.scores[each], hashed))
    return scored.describe(tuple(firsts.values())[:k])


Scores = Mapping[str, float]
Mix = Callable[[Scores, Scores], dict[str, float]]
"""Computes the scores of texts by id from their cosines and lexical scores."""


@dataclass(frozen=True, slots=True)
class ScoredTexts:
    """The results of both searches among the texts of one label, by id."""

    near: Matches
    cosines: Scores
    scores: Scores
    order: Sequence[str]  # best first, ties by id
    counts: Mapping[str, int]  # nodes of the same content

    def rank(self, node_id: str, score: float, content_hash: str) -> Ranked:
        """Return the place of a text in an order by some score."""
        return Ranked(node_id, score, self.cosines.get(node_id, 0.0), content_hash, self.counts[node_id])

    def describe(self, ranked: Sequence[Ranked]) -> Found:
        """Return the chosen texts with the counts of the search."""
        folded = sum(each.same_content for each in ranked)
        return Found(tuple(ranked), self.near.searched, self.near.filtered, folded, self.near.is_approximate)


def score_texts(
    store: GraphStore,
    label: Label,
    query: Vectors,
    terms: Mapping[str, float],
    depth: int,
    where: NodeFilter | None,
    mix: Mix,
) -> ScoredTexts:
    """Search texts by vector, float32 [dimension], and by words, and mix the scores of both."""
    near = store.vector_search(label, query, depth, where)
    lexical = store.text_search(label, terms, depth, where) if terms else Matches((), 0, 0, 0)
    cosines = {match.id: match.score for match in near.matches}
    scores = mix(cosines, {match.id: match.score for match in lexical.matches})
    order = sorted(scores, key=lambda each: (-scores[each], each))
    counts = {match.id: match.same_content for match in (*lexical.matches, *near.matches)}
    return ScoredTexts(near, cosines, scores, order, counts)


def average_scores(cosines: Scores, lexical: Scores, share: float = 0.5) -> dict[str, float]:
    """Return the mean of cosine and lexical score; share: the weight of the cosine.

    On two sets of questions about texts it finds most in one, and as much as words alone in the other; reciprocal ranks
    find less, as the cosine is the weaker of the two for prose.
    """
    lowest, highest = min(cosines.values(), default=0.0), max(lexical.values(), default=1.0)
    ids = cosines.keys() | lexical.keys()
    return {each: share * cosines.get(each, lowest) + (1 - share) * lexical.get(each, 0.0) / highest for each in ids}


def add_ranks(cosines: Scores, lexical: Scores) -> dict[str, float]:
    """Return the sum of the reciprocal ranks in both lists."""
    scores: dict[str, float] = {}
    for found in (cosines, lexical):
        for rank, each in enumerate(found, start=1):
            scores[each] = scores.get(each, 0.0) + 1 / (RANK_OFFSET + rank)
    return scores


def copy_cosines(cosines: Scores, lexical: Scores) -> dict[str, float]:
    """Return the cosines alone."""
    return dict(cosines)


_SCORES: Mapping[RankingMethod, Mix] = {"linear": average_scores, "rrf": add_ranks, "dense": copy_cosines}


def run_chunk_query(
    store: GraphStore, encoder: Encoder, text: str, options: QueryOptions, order: HitOrder | None = None
) -> QueryResult:
    """Answer a question by chunks; order: reorders the best ones.

    Raises QueryError for an invalid question or a graph without text files, and UnknownWordsError where no word of the
    question is known.
    """
    question, query = ask_texts(store, encoder, text, options, Label.CHUNK)
    where = replace(node_filter(options), kinds=None)
    find = partial(find_chunks, store, query, question.weights, where=where, ranking=options.ranking)
    found = find_ordered(store, encoder, question.text, find, order, options.top_k)
    if not found.searched:
        raise QueryError(f"the graph {store.address} holds no text files; read those of a repository: pkg build PATH")
    check_paths(store, options, found)
    nodes = store.get([each.id for each in found.ranked])
    hits = [
        make_text_hit(rank, each, node) for rank, (each, node) in enumerate(zip(found.ranked, nodes, strict=True), 1)
    ]
    notes = explain_empty(store, found, options)
    coverage = Coverage(
        searched=found.searched, filtered=found.filtered, folded=found.folded, shown=len(hits), notes=notes
    )
    return QueryResult(text, options.mode, tuple(hits), coverage)


def ask_texts(
    store: GraphStore, encoder: Encoder, text: str, options: QueryOptions, label: Label
) -> tuple[Question, Vectors]:
    """Parse a question to texts; return it and its vector, float32 [dimension].

    Raises QueryError for an invalid question, and UnknownWordsError where no word of it is known.
    """
    check_text(text)
    question = parse_question(text)
    query = encoder.encode_query(question.text.encode("utf-8", "replace").decode())
    if not knows_question(encoder, question.text, query):
        is_in_texts = options.ranking != "dense" and store.text_search(label, question.weights, 1).matches
        if not is_in_texts and store.stats().nodes.get(label.value, 0):
            refuse_unknown(question.text, encoder.name, "occurs in the texts or is known to the encoder")
    return question, query


def make_text_hit(rank: int, match: Ranked, node: Node) -> Hit:
    """Return a text as a hit, whole."""
    return Hit(
        rank=rank,
        label=node.label.value,
        id=node.id,
        source=node.source,
        path=node.path,
        qualname=node.qualname,
        kind=None,
        start_line=node.start_line,
        end_line=node.end_line,
        score=match.score,
        score_pruned=match.score,
        content=node.content,
        pruned_content=node.content,
        same_content=match.same_content,
        cosine=match.cosine,
    )
