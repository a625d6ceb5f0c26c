"""Distribution of values: lengths of answers (C-10) and ratings (C-22)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Spread(NamedTuple):
    """Summary of values; quartiles are interpolated as by numpy."""

    size: int  # number of values
    mean: float
    deviation: float  # sample standard deviation; 0 for one value
    least: float
    lower: float  # first quartile
    middle: float
    upper: float  # third quartile
    most: float


def describe_values(values: Sequence[float]) -> Spread | None:
    """Summarise values by mean, deviation and quartiles; None without values."""
    found = np.asarray(values, dtype=float)
    if not found.size:
        return None
    least, lower, middle, upper, most = (float(each) for each in np.percentile(found, (0, 25, 50, 75, 100)))
    deviation = float(found.std(ddof=1)) if found.size > 1 else 0.0
    return Spread(int(found.size), float(found.mean()), deviation, least, lower, middle, upper, most)


def count_scores(scores: Sequence[int], low: int, high: int) -> dict[int, int]:
    """Count each score of a scale, including scores that do not occur; raises ValueError for one outside the scale."""
    counts = dict.fromkeys(range(low, high + 1), 0)
    for score in scores:
        if score not in counts:
            raise ValueError(f"a score of {score}; expected {low} to {high}")
        counts[score] += 1
    return counts
