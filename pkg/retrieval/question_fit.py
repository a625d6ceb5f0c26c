"""Judge whether anything in a graph fits a question: below a learned threshold, the nearest candidates do not help.

Features are the best cosine of the candidates, the largest share of the question's words, by rarity, that one of them
holds, the best product of the two, and the length of the question, as candidates hold less of a longer one. The weights
are trained on questions about many packages, asked of these and of others (training/train_floor.py), for the encoder
``static``; for other encoders, whose cosines differ, only the words count.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pkg.retrieval.candidate_pool import Pool, divide
from pkg.retrieval.features import asked_file, asked_name
from pkg.retrieval.ranking import choose_row, make_weights

WEIGHTS = Path(__file__).with_name("floor.json")
MEASURES = ("cosine", "held", "both", "length")
MAX_TERMS = 20
"""Of a question that is judged: those in training have 3 to 14. A longer one is an issue or a piece of code, and many
of its terms occur in no code."""
ALL = 1 - 1e-9  # of the words, allowing for rounding


class Evidence(NamedTuple):
    """Measurements of a question's candidates by which its fit is judged."""

    cosine: float  # of the best candidate
    held: float  # largest share of the question in a candidate, 0 to 1
    both: float  # largest product of the two
    terms: int
    is_named: bool  # whether the question names a candidate or its file

    @property
    def measures(self) -> tuple[float, float, float, float]:
        """Return the inputs of the weights, in their order."""
        return self.cosine, self.held, self.both, math.log1p(self.terms)


def measure_evidence(pools: Sequence[Pool]) -> Evidence | None:
    """Measure the candidates of a question; return None without any.

    Also None for a question of several lines: it is a piece of code or an issue, which training does not cover.
    """
    filled = [pool for pool in pools if pool.outlines]
    if not filled or "\n" in filled[0].question.text.strip():
        return None
    held = [divide((pool.words > 0) @ pool.rarities, pool.rarities.sum()) for pool in filled]
    return Evidence(
        max(float(pool.dense.max()) for pool in filled),
        max(float(each.max()) for each in held),
        max(float((each * pool.dense).max()) for each, pool in zip(held, filled, strict=True)),
        len(filled[0].question.weights),
        any(bool(asked_name(pool).any() or asked_file(pool).any()) for pool in filled),
    )


def fits(evidence: Evidence | None, encoder: str) -> bool | None:
    """Return whether anything fits; None where that cannot be judged, as for a long question.

    A candidate with every word of the question fits, however short the question is. encoder: the name of the encoder of
    the vectors.
    """
    if evidence is None or evidence.terms > MAX_TERMS:
        return None
    floors = load_fit_weights()
    weights = floors[choose_row(floors, encoder)]
    return evidence.is_named or evidence.held >= ALL or weights.score(evidence) >= 0


class FitWeights(NamedTuple):
    """Weights of one encoder; the threshold is a sum of 0."""

    weights: tuple[float, ...]
    offset: float

    def score(self, evidence: Evidence) -> float:
        """Return the distance of a question above the threshold, in log odds."""
        return self.offset + sum(a * b for a, b in zip(self.weights, evidence.measures, strict=True))


@lru_cache(maxsize=1)
def load_fit_weights() -> dict[str, FitWeights]:
    """Load the weights by the name of the encoder; raises StoreError if they are for other features."""
    rows = json.loads(WEIGHTS.read_text("utf-8"))["floors"]
    read = {name: make_weights(row, MEASURES, f"{WEIGHTS.name}, '{name}',") for name, row in rows.items()}
    return {name: FitWeights(weights.values, weights.offset) for name, weights in read.items()}


def explain_misfit(evidence: Evidence) -> str:
    """Return the message that nothing fits, and what to do."""
    return (
        f"nothing fits: the best candidate holds {evidence.held:.0%} of the question's words;"
        " ask in words that the code may use"
    )


def explain_evidence(evidence: Evidence) -> str:
    """Return the measurements by which the fit of a question was judged."""
    return f"fit of the candidates: {evidence.held:.2f} of the question's words by rarity, cosine {evidence.cosine:.2f}"
