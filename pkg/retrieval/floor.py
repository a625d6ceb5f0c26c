"""Tell whether anything in a graph fits a question: below a learned floor, what was found is only what is nearest.

Three things tell of it: the best cosine of the candidates, how much of the question the best of them holds, each word
by its rarity, and how far one candidate does both. Of a longer question less is held, so its length counts too. The
weights are learned from questions on many packages, asked of these and of others (training/train_floor.py), for the
encoder ``static``; with others, whose cosines lie elsewhere, the words alone decide.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pkg.retrieval.features import asked_file, asked_name
from pkg.retrieval.pool import Pool, divide
from pkg.retrieval.ranking import choose_row, make_weights

WEIGHTS = Path(__file__).with_name("floor.json")
MEASURES = ("cosine", "held", "both", "length")
MOST_TERMS = 20
"""Of a question, to be judged: those that were learned from have 3 to 14. A longer one is an issue or a piece of code,
which holds much that no code does."""
ALL = 1 - 1e-9  # of the words, but for rounding


class Evidence(NamedTuple):
    """What the candidates of a question tell of its fit."""

    cosine: float  # the best
    held: float  # the largest share of the question that a candidate holds, 0 to 1
    both: float  # the largest product of the two
    terms: int
    is_named: bool  # whether the question names a candidate or its file

    @property
    def measures(self) -> tuple[float, float, float, float]:
        """Give the numbers that weights are for, in their order."""
        return self.cosine, self.held, self.both, math.log1p(self.terms)


def measure_evidence(pools: Sequence[Pool]) -> Evidence | None:
    """Measure what the candidates of a question tell; None where there are none.

    Also None of a question of several lines: it is a piece of code or an issue, and the floor was learned from neither.
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
    """Tell whether anything fits; None where that cannot be judged, as of a long question.

    What holds every word of a question fits, however short it is.
    encoder: the name of what made the vectors.
    """
    if evidence is None or evidence.terms > MOST_TERMS:
        return None
    floors = load_floors()
    weights = floors[choose_row(floors, encoder)]
    return evidence.is_named or evidence.held >= ALL or weights.score(evidence) >= 0


class Floor(NamedTuple):
    """The weights of one encoder; a sum of 0 lies on the floor."""

    weights: tuple[float, ...]
    offset: float

    def score(self, evidence: Evidence) -> float:
        """Give how far above the floor a question lies, in the logarithm of odds."""
        return self.offset + sum(a * b for a, b in zip(self.weights, evidence.measures, strict=True))


@lru_cache(maxsize=1)
def load_floors() -> dict[str, Floor]:
    """Read the weights by the name of the encoder; a StoreError where they are of other measures."""
    rows = json.loads(WEIGHTS.read_text("utf-8"))["floors"]
    read = {name: make_weights(row, MEASURES, f"{WEIGHTS.name}, '{name}',") for name, row in rows.items()}
    return {name: Floor(weights.values, weights.offset) for name, weights in read.items()}


def explain_misfit(evidence: Evidence) -> str:
    """Say that nothing fits, and why."""
    return (
        f"nothing fits: the best candidate holds {evidence.held:.0%} of the question's words, by their rarity, and the"
        f" nearest has a cosine of {evidence.cosine:.2f}; what is listed is nearest, and unlikely to help"
    )
