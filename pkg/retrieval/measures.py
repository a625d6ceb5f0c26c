"""Measure candidates against one another: spreads, ranks and shares, which all features are made of.

Scores of a search are measured in standard deviations of its best, which lie alike for every encoder, question and size
of graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pkg.model import Outline
from pkg.retrieval.pool import Pool, Scores
from pkg.terms.stems import split_terms

SPREAD_OF = 50  # best scores of which the spread is taken: all of a small pool are near, the tail of a large one is not
_SAME = 1e-9  # a smaller deviation is rounding


def spread(scores: Scores) -> Scores:
    """Measure scores in standard deviations of the best, from their mean."""
    best = np.sort(scores)[-SPREAD_OF:]
    measured: Scores = (scores - best.mean()) / _measure_deviation(best)
    return np.clip(measured, -5, 10)


def measure_unit(scores: Scores) -> float:
    """Measure one standard deviation of the best scores; endless where they are all the same."""
    return _measure_deviation(np.sort(scores)[-SPREAD_OF:])


def _measure_deviation(best: Scores) -> float:
    deviation = float(best.std()) if len(best) else 0.0
    return deviation if deviation > _SAME else math.inf


def rank_reciprocally(scores: Scores, offset: float) -> Scores:
    """Give 1 for the best and less for each that follows, half behind as many as the offset; equals rank alike."""
    ordered = np.sort(scores)
    better = len(scores) - np.searchsorted(ordered, scores, side="right")
    return np.asarray(offset / (offset + better), np.float64)


def count_better(scores: Scores, groups: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Count for each candidate those of its own group that score higher; groups are numbers from 0 on."""
    order = np.lexsort((-scores, groups))
    is_other_group = np.diff(groups[order], prepend=-1) != 0
    is_lower = is_other_group | (np.diff(scores[order], prepend=np.inf) != 0)
    places = np.arange(len(scores))
    first_of_group, first_of_equals = (
        np.maximum.accumulate(np.where(begins, places, 0)) for begins in (is_other_group, is_lower)
    )
    counts = np.empty(len(scores), np.int64)
    counts[order] = first_of_equals - first_of_group
    return counts


def divide(values: Scores, total: float) -> Scores:
    """Give values as shares of a total, or as they are where that is nothing."""
    return np.asarray(values / total if total > 0 else values, np.float64)


def zeros(pool: Pool) -> Scores:
    """Give nothing for every candidate."""
    return np.zeros(len(pool.outlines))


def map_owners(pool: Pool, measure: Callable[[Outline], float]) -> Scores:
    """Measure each function once, however many of its blocks are candidates."""
    return give_candidates(pool, np.array([measure(owner) for owner in number_owners(pool)[0]], np.float64))


def give_candidates(pool: Pool, values: npt.NDArray[np.int64] | Scores) -> Scores:
    """Give each candidate the value of its function; values are in the order of the distinct functions."""
    return np.asarray(values[number_owners(pool)[1]], np.float64)


@lru_cache(maxsize=2)
def number_owners(pool: Pool) -> tuple[list[Outline], npt.NDArray[np.int64]]:
    """Give the distinct functions of a pool, and the place of each candidate's among them: [candidates]."""
    owners = {each.id: each for each in pool.owners}
    places = {identity: place for place, identity in enumerate(owners)}
    return list(owners.values()), np.array([places[each.id] for each in pool.owners], np.int64)


@lru_cache(maxsize=30_000)
def split(text: str) -> tuple[str, ...]:
    """Give the terms of a name or path in their order."""
    return tuple(split_terms(text.encode("utf-8", "replace")))
