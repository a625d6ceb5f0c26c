"""Define the rankings to compare: those of `pkg query`, their ablations, and plain BM25."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pkg.encode.encoder import Encoder
from pkg.errors import QueryError
from pkg.graph.store import GraphStore
from pkg.lab.evaluation.retrieval.answer_places import AnswerPlaces
from pkg.lab.evaluation.retrieval.evaluation_options import EvaluatedMode, RankingName
from pkg.lab.evaluation.retrieval.plain_bm25 import PlainBM25
from pkg.model import Label, NodeFilter
from pkg.retrieval.file_ranking import find_files
from pkg.retrieval.query import open_search
from pkg.retrieval.query_options import QueryOptions, RankingMethod
from pkg.retrieval.question_fit import fits
from pkg.terms.term_weights import weigh_terms

FLOOR: RankingName = "bm25"
"""The baseline of all other rankings."""


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
            plain = PlainBM25(list(places.texts), list(places.texts.values()))
            systems.append(RankingSystem(name, _ask_plainly(plain), name))
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


def _ask_plainly(plain: PlainBM25) -> Search:
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
