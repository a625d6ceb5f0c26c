"""Statistics of shares: pass@k, confidence intervals, and paired tests by scipy."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, sqrt
from typing import NamedTuple

from pkg.lab.evaluation.statistics.scipy_extra import import_stats

NORMAL_95 = 1.96  # standard errors on each side of a mean


class Interval(NamedTuple):
    """The bounds of a 95 % confidence interval."""

    low: float
    high: float


class Paired(NamedTuple):
    """Items solved by only one of two systems."""

    fixed: int  # failed before, solved after
    broken: int  # solved before, failed after
    p_value: float  # exact, two-sided (McNemar)


def pass_at_k(samples: int, passed: int, k: int) -> float:
    """Return the unbiased estimate of the probability that one of k samples passes (Q-19, U-12).

    Raises ValueError for fewer samples than k.
    """
    if not 0 < k <= samples:
        raise ValueError(f"pass@{k} needs {k} samples or more, and there are {samples}")
    return 1.0 - comb(samples - passed, k) / comb(samples, k)


def find_share_interval(hits: float, count: int) -> Interval:
    """Return Wilson's interval of a share, which is not empty for shares of 0 and 1; (0, 1) without items."""
    if not count:
        return Interval(0.0, 1.0)
    share, square = hits / count, NORMAL_95**2 / count
    middle = (share + square / 2) / (1 + square)
    spread = NORMAL_95 * sqrt(share * (1 - share) / count + square / (4 * count)) / (1 + square)
    return Interval(max(0.0, middle - spread), min(1.0, middle + spread))


def compare_paired(before: Sequence[bool], after: Sequence[bool]) -> Paired:
    """Compare two systems on the same items by McNemar's exact test."""
    pairs = list(zip(before, after, strict=True))
    fixed, broken = sum(b > a for a, b in pairs), sum(a > b for a, b in pairs)
    if not fixed + broken:
        return Paired(0, 0, 1.0)
    return Paired(fixed, broken, float(import_stats().binomtest(fixed, fixed + broken).pvalue))
