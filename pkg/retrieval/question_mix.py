"""Mix the order of a search with how well questions that a model wrote for the candidates match the user's question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pkg.graph.graph_records import find_questions
from pkg.retrieval.ranking import Ranked, reorder

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore


DEPTH = 15
"""Best candidates that are reordered: few enough to have their questions written while somebody waits."""


class StoredQuestions:
    """Orders the best candidates by the questions that the graph has for them."""

    depth = DEPTH
    notes: tuple[str, ...] = ()
    explain: tuple[str, ...] = ()

    def order(self, store: GraphStore, encoder: Encoder, text: str, ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
        """Return the candidates with the best ones reordered."""
        best = ranked[:DEPTH]
        nodes = store.get(list(dict.fromkeys(each.owner or each.id for each in best)))
        found = {node.id: known.texts for node in nodes if (known := find_questions(node.properties))}
        matches = match_questions(encoder, text, [found.get(each.owner or each.id, ()) for each in best])
        return (*mix_matches(best, matches), *ranked[DEPTH:])


def match_questions(encoder: Encoder, text: str, questions: Sequence[Sequence[str]]) -> list[float | None]:
    """Return for each candidate the highest cosine of its questions with the user's; None without questions."""
    asked = encoder.encode_query(text)
    return [max((float(encoder.encode_query(each) @ asked) for each in some), default=None) for some in questions]


def mix_matches(ranked: Sequence[Ranked], matches: Sequence[float | None]) -> tuple[Ranked, ...]:
    """Order candidates by the mean of their score and their match, each scaled to [0, 1]; ties keep their order.

    A candidate without a match keeps its scaled score. A candidate whose score is far above all others stays first
    unless its match is among the worst, so that a clear order holds. Scores are those of the places.
    """
    scores = _scale([each.score for each in ranked])
    known = [match for match in matches if match is not None]
    scaled = iter(_scale(known))
    mixed = [
        score if match is None else (score + next(scaled)) / 2 for score, match in zip(scores, matches, strict=True)
    ]
    return reorder(ranked, mixed)


def _scale(values: Sequence[float]) -> list[float]:
    """Scale values linearly to [0, 1]; equal ones become 0.5."""
    if not values:
        return []
    found = np.asarray(values, np.float64)
    low, high = float(found.min()), float(found.max())
    scaled: list[float] = ((found - low) / (high - low)).tolist() if high > low else [0.5] * len(values)
    return scaled
