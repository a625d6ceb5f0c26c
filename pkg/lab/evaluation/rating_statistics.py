"""Statistics of ratings by people and judges: distributions, tests of means, and comparisons of systems."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from pkg.lab.evaluation.share_statistics import Interval, import_stats

DRAWS = 10_000  # the bounds then vary by less than a hundredth of their distance between seeds
_TOGETHER = 2_000_000  # values per batch of draws, 16 MB
_ROUNDS = 10_000
_CLOSE = 1e-10  # convergence threshold; strengths are shares of 1
UNBEATEN, BEATEN, UNCOMPARED = "never beaten by the others", "never wins against the others", "not compared with them"
ONE_WAY = "never beaten by those that it beats"
MARKS = ((0.001, "‡"), (0.01, "†"), (0.05, "*"))
"""Marks of a mean by the bound of the p-value."""

Sample = Mapping[str, float]
"""The ratings of one sample by system."""


class Spread(NamedTuple):
    """Summary of values, such as lengths of answers (C-10); quartiles are interpolated as by numpy."""

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
    """Count each score of a scale, also absent ones (C-22); raises ValueError for one outside the scale."""
    counts = dict.fromkeys(range(low, high + 1), 0)
    for score in scores:
        if score not in counts:
            raise ValueError(f"a score of {score}; expected {low} to {high}")
        counts[score] += 1
    return counts


def find_mean_interval(values: Sequence[float], seed: int = 0, draws: int = DRAWS) -> Interval:
    """Return the 95 % percentile bootstrap interval of a mean, by seed; raises ValueError without values."""
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


class Welch(NamedTuple):
    """Welch's t test of a difference of means (C-08); None where there is no test."""

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


class Wins(NamedTuple):
    """Counts of samples on which a system is rated higher than, the same as, or lower than another (C-11, C-20)."""

    win: int
    tie: int
    lose: int


class Extremes(NamedTuple):
    """Counts of samples on which a system is best or worst, and of its samples (C-09)."""

    best: int
    worst: int
    samples: int


def count_wins(samples: Iterable[Sample], system: str, baseline: str) -> Wins:
    """Count wins, ties and losses of a system against another, on samples with ratings of both."""
    pairs = [(each[system], each[baseline]) for each in samples if system in each and baseline in each]
    win, lose = sum(one > other for one, other in pairs), sum(one < other for one, other in pairs)
    return Wins(win, len(pairs) - win - lose, lose)


def list_extremes(
    samples: Iterable[Sample], truncated: Iterable[Collection[str]] = ()
) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the systems with the best and with the worst rating of each sample; none if all are equal.

    truncated: for each sample, the systems whose answers are truncated; they are neither, unless all are truncated.
    """
    for sample, cut in zip_longest(samples, truncated, fillvalue=()):
        each = {system: rating for system, rating in dict(sample).items() if system not in cut} or dict(sample)
        high, low = max(each.values(), default=0), min(each.values(), default=0)

        yield (
            frozenset(system for system, rating in each.items() if low < rating == high),
            frozenset(system for system, rating in each.items() if high > rating == low),
        )


def count_extremes(samples: Iterable[Sample], truncated: Iterable[Collection[str]] = ()) -> dict[str, Extremes]:
    """Count how often each system is best and worst, as list_extremes does; tied systems each count."""
    known = list(samples)
    places = list(list_extremes(known, truncated))
    return {
        system: Extremes(
            sum(system in best for best, _ in places),
            sum(system in worst for _, worst in places),
            sum(system in each for each in known),
        )
        for system in sorted({system for each in known for system in each})
    }


class Ranked(NamedTuple):
    """Maximum-likelihood strengths of systems (Bradley and Terry, 1952), and systems without one."""

    strengths: dict[str, float]  # log strengths with mean 0, the strongest first
    apart: dict[str, str]  # systems without a finite strength, with the reason


def rank_systems(wins: Mapping[tuple[str, str], float]) -> Ranked:
    """Rank systems by how often the first of a pair beats the second; a tie counts half for each.

    A system that never loses, or never wins, has no finite strength and is returned separately.
    """
    from networkx import DiGraph, ancestors, descendants, strongly_connected_components

    graph = DiGraph()
    for (winner, loser), count in wins.items():
        graph.add_nodes_from((winner, loser))
        if count > 0:
            graph.add_edge(winner, loser)
    groups = sorted(strongly_connected_components(graph), key=lambda group: (-len(group), sorted(group)))
    ranked = groups[0] if groups and len(groups[0]) > 1 else set()
    apart = {}
    for system in sorted(set(graph) - ranked):
        others = ranked or set(graph) - {system}
        beats, loses = others & descendants(graph, system), others & ancestors(graph, system)
        apart[system] = ONE_WAY if beats and loses else UNBEATEN if beats else BEATEN if loses else UNCOMPARED
    return Ranked(_fit(sorted(ranked), wins), apart)


def _fit(systems: list[str], wins: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """Fit the strengths by Zermelo's update, which increases the likelihood in each round (Hunter, 2004)."""
    if not systems:
        return {}
    won = np.array([[wins.get((one, other), 0.0) for other in systems] for one in systems])
    np.fill_diagonal(won, 0.0)
    games, totals = won + won.T, won.sum(axis=1)
    strengths = np.full(len(systems), 1 / len(systems))
    for _ in range(_ROUNDS):
        before = strengths
        strengths = totals / (games / (before[:, None] + before[None, :])).sum(axis=1)
        strengths /= strengths.sum()
        if np.abs(strengths - before).max() < _CLOSE:
            break
    logs = [log(each) for each in strengths]
    mean = sum(logs) / len(logs)
    found = {system: value - mean for system, value in zip(systems, logs, strict=True)}
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))
