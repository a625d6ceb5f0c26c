"""Orders of the best candidates of a search by a model: a cross-encoder, or a second encoder (U-04).

An encoder that is too slow for a whole graph can still compare the question with the best candidates. Their vectors are
cached by content, so each text is encoded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pkg.encode.headings import Headings
from pkg.encode.registry import KINDS, load_encoder
from pkg.quoting.data_marks import quote_data
from pkg.retrieval.candidate_pool import standardise
from pkg.retrieval.ranking import Ranked, reorder

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore
    from pkg.retrieval.hit_order import HitOrder

RERANK_DEPTH = 50  # candidates that a cross-encoder reads; each costs some 20 ms of CPU time
LOOK_DEPTH = 30
"""Best candidates that an encoder compares with the question: on seven packages, with 50 or 100 no more questions have
their answer among the first five."""
MAX_READ = 1_200  # characters of a candidate: signature, docstring and the first lines say what it does
SMALLEST = 1e-6  # of a score whose odds are taken


class PairModel(Protocol):
    """A model that scores how well a text answers a question."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the score of each text for the question, from 0 to 1, higher is better."""


def open_model_order(name: str) -> HitOrder:
    """Return the order by a model, which is loaded when it is first used."""
    return EncoderOrder(name) if names_encoder(name) else PairOrder(name)


def names_encoder(name: str) -> bool:
    """Return whether a model is named as an encoder: minilm, st:NAME and others; else it is a cross-encoder."""
    return name.partition(":")[0] in KINDS


class PairOrder:
    """Orders the best candidates by a cross-encoder, which reads each together with the question."""

    depth = RERANK_DEPTH
    notes: tuple[str, ...] = ()

    def __init__(self, name: str) -> None:
        self._name = name
        self.explain = (f"the best {RERANK_DEPTH} candidates were ordered by the model {name}",)

    def order(self, store: GraphStore, encoder: Encoder, text: str, ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
        """Return the candidates with the best ones reordered; raises the errors of loading the model."""
        from pkg.encode.sentence import load_pair_model

        return rerank_hits(store, load_pair_model(self._name), text, ranked)


class EncoderOrder:
    """Orders the best candidates by their scores and the cosines of another encoder together."""

    depth = RERANK_DEPTH
    notes: tuple[str, ...] = ()

    def __init__(self, name: str) -> None:
        self._name = name
        self.explain = (
            f"the best {LOOK_DEPTH} candidates were ordered by their scores and the encoder {name} together",
        )

    def order(self, store: GraphStore, encoder: Encoder, text: str, ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
        """Return the candidates with the best ones reordered; raises the errors of loading the encoder."""
        return look_again(store, load_encoder(self._name), text, ranked)


def rerank_hits(store: GraphStore, model: PairModel, text: str, ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """Order the best candidates by the model's score, ties in their previous order (U-04).

    Their scores are those of the model, without parts; the cosine is kept. Texts are quoted, as some of these models
    are chat models, which read them in a prompt.
    """
    read, rest = ranked[:RERANK_DEPTH], ranked[RERANK_DEPTH:]
    headings = Headings(store.sources())
    nodes = store.get([each.id for each in read])
    texts = [quote_data(f"{headings.of(node)}\n{node.content}") for node in nodes]
    scores = model.score(quote_data(text), texts) if texts else []
    order = sorted(range(len(read)), key=lambda place: (-scores[place], place))
    best = [replace(read[place], score=scores[place], parts=(), slope=0.0) for place in order]
    return (*best, *rest)


def look_again(store: GraphStore, encoder: Encoder, text: str, ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """Order the best candidates by the sum of the log odds of their scores and their standardised cosines.

    A candidate far ahead keeps its place unless its cosine is far lower. The score is that of the new place: only the
    order says what the other encoder found. Without scores from 0 to 1, as of the ranking ``dense``, these are
    standardised as well.
    """
    read, rest = ranked[:LOOK_DEPTH], ranked[LOOK_DEPTH:]
    nodes, headings = store.get([each.id for each in read]), Headings(store.sources())
    asked = encoder.encode_query(text)
    if not read or not asked.any():
        return tuple(ranked)
    texts = [node.content[:MAX_READ].encode() for node in nodes]
    vectors = encoder.encode(texts, [headings.of(node) for node in nodes])
    scores = np.array([each.score for each in read], np.float64)
    shares = np.clip(scores, SMALLEST, 1 - SMALLEST)
    base = np.log(shares / (1 - shares)) if all(each.parts for each in read) else standardise(scores)
    sums = np.round(base + standardise(np.asarray(vectors @ asked, np.float64)), 9)
    return (*reorder(read, sums.tolist()), *rest)
