"""Compare systems by ratings of shared samples: wins, ties and losses (C-11, C-20), best and worst (C-09)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

Sample = Mapping[str, float]
"""The ratings of one sample by system."""


class Wins(NamedTuple):
    """Counts of samples on which a system is rated higher than, the same as, or lower than another."""

    win: int
    tie: int
    lose: int


class Extremes(NamedTuple):
    """Counts of samples on which a system is best or worst, and of its samples."""

    best: int
    worst: int
    samples: int


def count_wins(samples: Iterable[Sample], system: str, baseline: str) -> Wins:
    """Count wins, ties and losses of a system against another, on samples with ratings of both."""
    pairs = [(each[system], each[baseline]) for each in samples if system in each and baseline in each]
    win, lose = sum(one > other for one, other in pairs), sum(one < other for one, other in pairs)
    return Wins(win, len(pairs) - win - lose, lose)


def list_extremes(samples: Iterable[Sample]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the systems with the best and with the worst rating of each sample; none if all are equal."""
    for each in samples:
        high, low = max(each.values(), default=0), min(each.values(), default=0)
        is_told = high > low
        yield (
            frozenset(system for system, rating in each.items() if is_told and rating == high),
            frozenset(system for system, rating in each.items() if is_told and rating == low),
        )


def count_extremes(samples: Iterable[Sample]) -> dict[str, Extremes]:
    """Count how often each system is best and worst; tied systems each count."""
    known = list(samples)
    places = list(list_extremes(known))
    return {
        system: Extremes(
            sum(system in best for best, _ in places),
            sum(system in worst for _, worst in places),
            sum(system in each for each in known),
        )
        for system in sorted({system for each in known for system in each})
    }
