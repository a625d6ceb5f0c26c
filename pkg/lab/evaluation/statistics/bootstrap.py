"""Intervals of means without any assumption on how values are spread: drawn anew from the values themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pkg.lab.evaluation.statistics.proportions import Interval

DRAWS = 10_000  # the bounds then move by less than a hundredth of their distance from draw to draw
_TOGETHER = 2_000_000  # values drawn at one time, 16 MB


def find_mean_interval(values: Sequence[float], seed: int = 0, draws: int = DRAWS) -> Interval:
    """Give the 95 % percentile bootstrap interval of a mean, the same for the same seed; a ValueError of no values."""
    found = np.asarray(values, dtype=float)
    if not found.size:
        raise ValueError("no values; a mean needs one or more")
    generator = np.random.default_rng(seed)
    step = max(1, _TOGETHER // found.size)
    means = [
        found[generator.integers(0, found.size, (min(step, draws - start), found.size))].mean(axis=1)
        for start in range(0, draws, step)
    ]
    low, high = np.percentile(np.concatenate(means), (2.5, 97.5))
    return Interval(float(low), float(high))
