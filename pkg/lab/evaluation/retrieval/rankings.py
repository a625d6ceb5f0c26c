"""Define the rankings to compare: those of `pkg query`, their ablations, and plain BM25 (P-31)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pkg.encode.encoder import Encoder
from pkg.errors import MissingExtraError, QueryError
from pkg.graph.store import GraphStore
from pkg.lab.evaluation.retrieval.rank_scores import AnswerPlaces
from pkg.lab.lab_options import EvaluatedMode, RankingName
from pkg.model import Label, NodeFilter
from pkg.retrieval.file_ranking import find_files
from pkg.retrieval.query import open_search
from pkg.retrieval.query_options import QueryOptions, RankingMethod
from pkg.retrieval.question_fit import fits
from pkg.terms.term_weights import weigh_terms
from pkg.terms.words import blank_separators, fold_case, split_by_case

BASELINE: RankingName = "bm25"
"""The baseline of all other rankings."""


class PlainBM25:
    """Ranks whole texts by BM25 as implemented by the package rank-bm25, with its default constants.

    Raises MissingExtraError if it is not installed.
    """

    def __init__(self, places: Sequence[str], texts: Sequence[str]) -> None:
        try:
            from rank_bm25 import BM25Okapi
        except ImportError as fault:
            raise MissingExtraError("rank-bm25", "eval", "the ranking bm25") from fault
        self._places = places
        words = [_split_plainly(text) for text in texts]
        self._index = BM25Okapi(words) if any(words) else None  # rank-bm25 divides by the mean length

    def rank(self, question: str, k: int) -> list[str]:
        """Return the places of the k best texts, ties in the order of the texts."""
        if self._index is None:
            return []
        scores = self._index.get_scores(_split_plainly(question))
        return [self._places[row] for row in np.argsort(-scores, kind="stable")[:k]]


def _split_plainly(text: str) -> list[str]:
    identifiers = blank_separators(text.encode("utf-8", "replace")).split()
    return [fold_case(part) for identifier in identifiers for part in split_by_case(identifier)]


@dataclass(frozen=True, slots=True)
class Given:
    """The ids of the nodes returned by a ranking for a question, best first."""

    ids: Sequence[str]
    fits: bool | None = None  # whether any hit fits the question, if known


Search = Callable[[str, int], Given]  # called with a question and the number of answers


@dataclass(frozen=True, slots=True)
class RankingSystem:
    """One ranking of the answers of one mode."""

    name: str
    search: Search
    ranking: RankingName
    without: str = ""  # the flag of `pkg query` for an ablation


def list_systems(
    store: GraphStore,
    encoder: Encoder,
    mode: EvaluatedMode,
    places: AnswerPlaces,
    rankings: Sequence[RankingName],
    source: str | None = None,
) -> list[RankingSystem]:
    """Return the rankings of a mode with the defaults of `pkg query`, and the ablations of `linear`.

    `lexical` ranks functions only, because the other nodes have no terms.
    """
    systems = []
    for name in rankings:
        if name == "bm25":
            systems.append(RankingSystem(name, _ask_plainly(places), name))
        elif name == "lexical":
            if mode == "function":
                systems.append(RankingSystem(name, _ask_words(store, source), name))
        else:
            systems += _list_own(store, encoder, mode, name, source)
    return systems


def _list_own(
    store: GraphStore, encoder: Encoder, mode: EvaluatedMode, ranking: RankingMethod, source: str | None
) -> list[RankingSystem]:
    """Return one of the rankings of `pkg query` with its ablations."""
    options = {"": QueryOptions(mode, ranking=ranking, source=source)}
    if ranking == "linear" and mode != "file":
        options["--no-declarations"] = QueryOptions(mode, ranking=ranking, source=source, declarations=False)
    if ranking == "linear" and mode == "block":
        options["--blocks inner"] = QueryOptions(mode, ranking=ranking, source=source, blocks="inner")
        options["--blocks body"] = QueryOptions(mode, ranking=ranking, source=source, blocks="body")
    return [
        RankingSystem(f"{ranking} {flag}".strip(), _ask_graph(store, encoder, each), ranking, flag)
        for flag, each in options.items()
    ]


def _ask_plainly(places: AnswerPlaces) -> Search:
    plain = PlainBM25(list(places.texts), list(places.texts.values()))
    return lambda text, k: Given(plain.rank(text, k))


def _ask_words(store: GraphStore, source: str | None) -> Search:
    def search(text: str, k: int) -> Given:
        found = store.text_search(Label.FUNCTION, weigh_terms(text), k, NodeFilter(source))
        return Given([match.id for match in found.matches])

    return search


def _ask_graph(store: GraphStore, encoder: Encoder, options: QueryOptions) -> Search:
    def search(text: str, k: int) -> Given:
        try:
            _, find = open_search(store, encoder, text, options)
        except QueryError:
            return Given(())  # refused by `pkg query`, such as unknown words
        if options.mode == "file":
            return Given([hit.id for hit in find_files(store, find, k)[0]])
        found = find(k)
        judged = fits(found.evidence, encoder.name) if options.ranking == "linear" else None
        return Given([each.id for each in found.ranked], judged)

    return search
