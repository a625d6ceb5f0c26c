"""The average win rate: shares of five outcomes of all items, over runs, with their deviation (Q-18, A-24)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Literal, NamedTuple

Outcome = Literal["ours", "base", "no value", "tie bad", "tie good"]
OUTCOMES: tuple[Outcome, ...] = ("ours", "base", "no value", "tie bad", "tie good")


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
