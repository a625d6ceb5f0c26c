"""Measures of agreement between raters: kappa with a tolerance (C-21, A-32), alpha, and Spearman's correlation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Level = Literal["nominal", "ordinal", "interval"]
"""Level of measurement: only equality counts, or ranks, or distances."""


def measure_kappa(first: Sequence[float], second: Sequence[float], tolerance: float = 0.0) -> float | None:
    """Return Cohen's kappa of two raters of the same items; ratings up to the tolerance apart agree.

    If the expected agreement is 1, kappa is 1 for perfect agreement and otherwise undefined (None). Without items it is
    None. Raises ValueError if the raters have different numbers of items.
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.shape != b.shape:
        raise ValueError(f"{a.size} ratings and {b.size}; expected both of the same items")
    if not a.size:
        return None
    observed = float(np.mean(np.abs(a - b) <= tolerance))
    values_a, counts_a = np.unique(a, return_counts=True)
    values_b, counts_b = np.unique(b, return_counts=True)
    agree = np.abs(values_a[:, None] - values_b[None, :]) <= tolerance  # (values_a, values_b)
    expected = float(counts_a @ agree @ counts_b) / a.size**2
    if expected == 1.0:
        return 1.0 if observed == 1.0 else None
    return (observed - expected) / (1 - expected)


def measure_alpha(items: Sequence[Sequence[float]], level: Level = "interval") -> float | None:
    """Return Krippendorff's alpha of the ratings of each item, from any number of raters.

    Items with one rating are ignored. Alpha is undefined (None) without pairs and if all ratings are equal.
    """
    paired = [np.asarray(ratings, dtype=float) for ratings in items if len(ratings) > 1]
    if not paired:
        return None
    values, places = np.unique(np.concatenate(paired), return_inverse=True)
    counts = np.zeros((len(paired), len(values)))  # ratings of an item by value
    np.add.at(counts, (np.repeat(np.arange(len(paired)), [len(each) for each in paired]), places), 1)
    sizes = counts.sum(axis=1, keepdims=True)
    together = (counts / (sizes - 1)).T @ counts - np.diag((counts / (sizes - 1)).sum(axis=0))
    totals = together.sum(axis=0)
    distances = _measure_distances(values, totals, level)
    expected = float(totals @ distances @ totals) / (totals.sum() - 1)
    return 1 - float((together * distances).sum()) / expected if expected else None


def _measure_distances(values: NDArray[np.float64], totals: NDArray[np.float64], level: Level) -> NDArray[np.float64]:
    """Return the squared differences of values as a matrix (values, values); both arguments have shape (values,)."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "interval":
        return np.asarray((values[:, None] - values[None, :]) ** 2, dtype=float)
    middles = np.cumsum(totals) - totals / 2  # the mean rank of each value
    return np.asarray((middles[:, None] - middles[None, :]) ** 2, dtype=float)


def measure_rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Spearman's correlation, with ties at their mean rank; None if either side is constant."""
    a, b = _rank(first), _rank(second)
    if len(a) < 2 or a.std() == 0 or b.std() == 0:
        return None
    return float(np.mean((a - a.mean()) * (b - b.mean())) / (a.std() * b.std()))


def _rank(values: Sequence[float]) -> NDArray[np.float64]:
    _, places, counts = np.unique(np.asarray(values, dtype=float), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[places], dtype=float)


def match_ratings(raters: Mapping[str, Mapping[str, float]], one: str, other: str) -> tuple[list[float], list[float]]:
    """Return the ratings of two raters for the items that both have rated, sorted by item."""
    shared = sorted(raters[one].keys() & raters[other].keys())
    return [raters[one][name] for name in shared], [raters[other][name] for name in shared]
