"""How values are spread: lengths of answers (C-10) and ratings (C-22)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Spread(NamedTuple):
    """What there is to say of some values; quartiles as numpy interpolates them."""

    size: int  # how many
    mean: float
    deviation: float  # of a sample; 0 of one value
    least: float
    lower: float  # a quarter lies below
    middle: float
    upper: float  # a quarter lies above
    most: float


def describe_values(values: Sequence[float]) -> Spread | None:
    """Describe values by mean, deviation and quartiles; None without any."""
    found = np.asarray(values, dtype=float)
    if not found.size:
        return None
    least, lower, middle, upper, most = (float(each) for each in np.percentile(found, (0, 25, 50, 75, 100)))
    deviation = float(found.std(ddof=1)) if found.size > 1 else 0.0
    return Spread(int(found.size), float(found.mean()), deviation, least, lower, middle, upper, most)


def count_scores(scores: Sequence[int], low: int, high: int) -> dict[int, int]:
    """Count how often each score of a scale was given, none too; a ValueError for one outside of it."""
    counts = dict.fromkeys(range(low, high + 1), 0)
    for score in scores:
        if score not in counts:
            raise ValueError(f"a score of {score}; expected {low} to {high}")
        counts[score] += 1
    return counts
