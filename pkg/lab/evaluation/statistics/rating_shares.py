"""Compare systems by ratings of samples that they share: wins, ties, losses (C-11, C-20), best and worst (C-09)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

Sample = Mapping[str, float]
"""The rating of each system for one sample."""


class Wins(NamedTuple):
    """How often a system is rated higher, the same, or lower than another on samples of both."""

    win: int
    tie: int
    lose: int


class Extremes(NamedTuple):
    """How often the answer of a system is the best or the worst, of the samples that it has a part in."""

    best: int
    worst: int
    samples: int


def count_wins(samples: Iterable[Sample], system: str, baseline: str) -> Wins:
    """Count wins, ties and losses of a system against another, where both have a rating."""
    pairs = [(each[system], each[baseline]) for each in samples if system in each and baseline in each]
    win, lose = sum(one > other for one, other in pairs), sum(one < other for one, other in pairs)
    return Wins(win, len(pairs) - win - lose, lose)


def list_extremes(samples: Iterable[Sample]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Give the systems with the best and with the worst rating of each sample; none where all are equal."""
    for each in samples:
        high, low = max(each.values(), default=0), min(each.values(), default=0)
        is_told = high > low
        yield (
            frozenset(system for system, rating in each.items() if is_told and rating == high),
            frozenset(system for system, rating in each.items() if is_told and rating == low),
        )


def count_extremes(samples: Iterable[Sample]) -> dict[str, Extremes]:
    """Count for each system how often it is best and worst; where several share the place it counts for each."""
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
