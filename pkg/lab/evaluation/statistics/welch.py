"""Compare two means of unequal variance by Welch's t test, with the marks of the paper (C-08)."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from pkg.lab.evaluation.statistics.scipy_extra import import_stats

MARKS = ((0.001, "‡"), (0.01, "†"), (0.05, "*"))
"""Marks of a mean by the bound of the p-value."""


class Welch(NamedTuple):
    """The test of a difference; None where there is no test."""

    difference: float
    t: float | None
    freedom: float | None  # degrees of freedom
    p_value: float | None  # two-sided
    mark: str
    note: str = ""  # reason why there is no test


def compare_means(first: Sequence[float], second: Sequence[float]) -> Welch:
    """Test whether two means differ; without a test for fewer than two values, or if neither side varies.

    Raises ValueError for a side without values.
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not (a.size and b.size):
        raise ValueError(f"{a.size} and {b.size} values; a mean needs one or more")
    difference = float(a.mean() - b.mean())
    if min(a.size, b.size) < 2:
        return Welch(difference, None, None, None, "", "fewer than two values")
    one, other = float(a.var(ddof=1)) / a.size, float(b.var(ddof=1)) / b.size
    if one + other == 0:
        return Welch(difference, None, None, None, "", "neither side varies")
    t = difference / sqrt(one + other)
    freedom = (one + other) ** 2 / (one**2 / (a.size - 1) + other**2 / (b.size - 1))
    p_value = float(2 * import_stats().t.sf(abs(t), freedom))
    return Welch(difference, t, freedom, p_value, next((mark for bound, mark in MARKS if p_value < bound), ""))
