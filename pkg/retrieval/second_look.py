"""Reorder the best candidates of a search by a model: a cross-encoder, or a second encoder (U-04).

An encoder that is too slow for a whole graph can still compare the question with the best candidates. Their vectors are
cached by content, so each text is encoded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pkg.encode.headings import Headings
from pkg.encode.registry import KINDS, load_encoder
from pkg.retrieval.candidate_pool import standardise
from pkg.retrieval.ranking import RERANK_DEPTH, Ranked, reorder, rerank_hits

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore

LOOK_DEPTH = 30
"""Best candidates that an encoder compares with the question: on seven packages, with 50 or 100 no more questions have
their answer among the first five."""
MAX_READ = 1_200  # characters of a candidate: signature, docstring and the first lines say what it does
SMALLEST = 1e-6  # of a score whose odds are taken


def names_encoder(name: str) -> bool:
    """Return whether a model is named as an encoder: minilm, st:NAME and others; else it is a cross-encoder."""
    return name.partition(":")[0] in KINDS


def explain_order(name: str) -> str:
    """Return a note of the model that ordered the hits, and of how many it read."""
    if names_encoder(name):
        return f"the best {LOOK_DEPTH} candidates were ordered by their scores and the encoder {name} together"
    return f"the best {RERANK_DEPTH} candidates were ordered by the model {name}"


def reorder_hits(store: GraphStore, name: str, text: str, ranked: Sequence[Ranked], k: int) -> tuple[Ranked, ...]:
    """Return the k best candidates in the order of a model, which reads the first ones."""
    if names_encoder(name):
        return look_again(store, load_encoder(name), text, ranked)[:k]
    from pkg.encode.sentence import load_pair_model

    return rerank_hits(store, load_pair_model(name), text, ranked, k)


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
