"""Find the best of many scores, and let the best of nodes of equal content stand for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

GROUP = 64  # scores that are compared with one another first


def find_score_bound(scores: npt.NDArray[Any], k: int) -> float:
    """Give a score that the k best of n reach, k from 1 to n, and hardly any others where k is small beside n.

    `scores` are of any float type, [n].

    Of groups of scores, the best of each is found, and of these the k-th best: k scores reach it. That takes a tenth
    of the time that a partition of all scores takes. Where groups would be fewer than k, all are partitioned.
    """
    size = len(scores) // GROUP
    if size > k:
        # Neighbours are of one file and score alike: so a group is made of scores that stand far apart.
        groups = scores[: size * GROUP].reshape(GROUP, size).max(axis=0)
        bound = float(np.partition(groups, size - k)[size - k])
        if bound > -np.inf:  # else there are too few groups of which any passes
            return bound
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


Rows = npt.NDArray[np.int64]
"""Places in columns of n entries: int64 [rows], in the order that each function says."""
Hashes = npt.NDArray[Any]
"""Hashes of contents, one for each entry: int64 or uint64 [n], or text of 16 hex digits."""


def pick_representatives(ids: npt.NDArray[Any], scores: npt.NDArray[Any], hashes: Hashes) -> Rows:
    """Give the places of the best of each content, best first, ties by id: int64 [distinct contents].

    `ids`, of any dtype that has an order, `scores`, of any float type, and `hashes` are all [n].
    """
    order = np.lexsort((ids, -scores))
    leaders: Rows = order[find_first_occurrences(hashes[order])]
    return leaders


def find_first_occurrences(hashes: Hashes) -> Rows:
    """Give the places where a content stands for the first time, ascending."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return np.sort(order[is_first])


def count_equal(hashes: Hashes, leaders: Rows, passes: Callable[[Rows], npt.NDArray[np.bool_]]) -> list[int]:
    """Count the entries of each leader's content that pass, itself included: as many counts as leaders.

    The last two bytes of a hash tell most others apart in one look-up each; the few that are left are compared.
    `passes` is asked about places, int64 [m], and answers with bool [m].
    """
    is_wanted = np.zeros(1 << 16, np.bool_)
    is_wanted[hashes[leaders].astype("<u2")] = True
    near = np.flatnonzero(is_wanted.take(np.ascontiguousarray(hashes).view("<u2")[::4]))
    near = near[passes(near)]
    found, wanted = np.sort(hashes[near]), hashes[leaders]
    counts: list[int] = (found.searchsorted(wanted, "right") - found.searchsorted(wanted)).tolist()
    return counts
