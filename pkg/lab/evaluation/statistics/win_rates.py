"""The average win rate: shares of five outcomes of all items, over runs, with their deviation (Q-18, A-24)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Literal, NamedTuple

Outcome = Literal["ours", "base", "no value", "tie bad", "tie good"]
OUTCOMES: tuple[Outcome, ...] = ("ours", "base", "no value", "tie bad", "tie good")


class WinRate(NamedTuple):
    """A share in percent of all items, on average over runs."""

    mean: float
    deviation: float | None  # of the runs, as of a sample; None of a single run


def average_win_rates(runs: Sequence[Sequence[Outcome]]) -> dict[Outcome, WinRate]:
    """Give the share of each outcome, of all items of a run: ties and unread verdicts count as items.

    A ValueError for no runs, or one without items.
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
    """Give the share of all items from those of their kinds, each weighted by its items (Q-22)."""
    return sum(share * counts[kind] for kind, share in shares.items()) / sum(counts[kind] for kind in shares)
