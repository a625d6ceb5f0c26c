"""Statistics of shares: pass@k, confidence intervals, paired tests by scipy, and win rates (Q-18, A-24)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, sqrt
from statistics import fmean, stdev
from typing import Any, Literal, NamedTuple

from pkg.errors import MissingExtraError

NORMAL_95 = 1.96  # standard errors on each side of a mean

Outcome = Literal["ours", "base", "no value", "tie bad", "tie good"]
OUTCOMES: tuple[Outcome, ...] = ("ours", "base", "no value", "tie bad", "tie good")


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


def import_stats() -> Any:
    """Import scipy.stats; raises MissingExtraError if it is not installed."""
    try:
        from scipy import stats
    except ImportError as fault:
        raise MissingExtraError("scipy", "eval", "the tests of an evaluation") from fault
    return stats


def compare_paired(before: Sequence[bool], after: Sequence[bool]) -> Paired:
    """Compare two systems on the same items by McNemar's exact test."""
    pairs = list(zip(before, after, strict=True))
    fixed, broken = sum(b > a for a, b in pairs), sum(a > b for a, b in pairs)
    if not fixed + broken:
        return Paired(0, 0, 1.0)
    return Paired(fixed, broken, float(import_stats().binomtest(fixed, fixed + broken).pvalue))


class WinRate(NamedTuple):
    """Mean share of all items over runs, in percent."""

    mean: float
    deviation: float | None  # sample deviation over runs; None for a single run


def average_win_rates(runs: Sequence[Sequence[Outcome]]) -> dict[Outcome, WinRate]:
    """Return the share of each outcome among all items of a run; ties and unparsed verdicts count as items.

    Raises ValueError without runs, or for one without items.
    """
    if not runs or not all(runs):
        raise ValueError("a run without items; expected one outcome or more in each")
    shares = {
        outcome: [100 * sum(each == outcome for each in run) / len(run) for run in runs] for outcome in OUTCOMES
    }  # fmt: skip
    return {
        outcome: WinRate(fmean(values), stdev(values) if len(values) > 1 else None)
        for outcome, values in shares.items()
    }


def weight_shares(shares: Mapping[str, float], counts: Mapping[str, int]) -> float:
    """Return the overall share from shares by type, weighted by their items (Q-22)."""
    return sum(share * counts[kind] for kind, share in shares.items()) / sum(counts[kind] for kind in shares)
