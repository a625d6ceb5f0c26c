"""Order the best candidates anew by a model that reads question and code together: slow, so off by default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from pkg.encode.headings import Headings
from pkg.retrieval.ranking import Ranked

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

LOOK = 50  # candidates that the model reads; each costs some 20 ms of a processor


class PairModel(Protocol):
    """A model that scores how well a text answers a question."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score each text for the question, from 0 to 1, higher is better."""


def rerank_hits(store: GraphStore, model: PairModel, text: str, ranked: Sequence[Ranked], k: int) -> tuple[Ranked, ...]:
    """Give the k candidates that the model finds best, ties in the order that they came in.

    Their scores are those of the model, so they no longer tell of words and cosines; the cosine stays beside.
    """
    read, rest = ranked[: max(LOOK, k)], ranked[max(LOOK, k) :]
    headings = Headings(store.sources())
    nodes = store.get([each.id for each in read])
    texts = [f"{headings.of(node)}\n{node.content}" for node in nodes]
    scores = model.score(text, texts) if texts else []
    order = sorted(range(len(read)), key=lambda place: (-scores[place], place))
    best = [replace(read[place], score=scores[place], parts=(), slope=0.0) for place in order]
    return (*best, *rest)[:k]
