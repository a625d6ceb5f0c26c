"""Name the rankings that are compared, and ask each: those of `pkg query`, what they are without a part, plain BM25."""

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
"""What every other ranking is compared with."""


@dataclass(frozen=True, slots=True)
class Given:
    """The ids of the nodes that a ranking gave for a question, best first."""

    ids: Sequence[str]
    fits: bool | None = None  # whether anything fits; None where that is not judged


Search = Callable[[str, int], Given]  # question and number of answers


@dataclass(frozen=True, slots=True)
class RankingSystem:
    """One ranking of the answers of one mode."""

    name: str
    search: Search
    ranking: RankingName
    without: str = ""  # the flag of `pkg query` that an ablation asks with


def list_systems(
    store: GraphStore,
    encoder: Encoder,
    mode: EvaluatedMode,
    places: AnswerPlaces,
    rankings: Sequence[RankingName],
    source: str | None = None,
) -> list[RankingSystem]:
    """List the rankings of a mode, each as `pkg query` asks it, and of the ranking `linear` its ablations.

    There are words in functions alone: `lexical` ranks no blocks and no files.
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
    """List one of the rankings of `pkg query` with what changes its order."""
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
            return Given(())  # what `pkg query` refuses, such as words that it does not know
        if options.mode == "file":
            return Given([hit.id for hit in find_files(store, find, k)[0]])
        found = find(k)
        judged = fits(found.evidence, encoder.name) if options.ranking == "linear" else None
        return Given([each.id for each in found.ranked], judged)

    return search
