"""Find the best of many scores, and the best node of each content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pkg.model import Match

GROUP = 64  # scores in the first round of comparison


def find_score_bound(scores: npt.NDArray[Any], k: int) -> float:
    """Return a score that the k best of n reach, k from 1 to n, and few others where k is small compared to n.

    `scores` are of any float type, [n].

    The bound is the k-th best of the maxima of groups of scores: k scores reach it. That takes a tenth of the time that
    a partition of all scores takes. With fewer than k groups, all scores are partitioned.
    """
    size = len(scores) // GROUP
    if size > k:
        # Neighbours are of one file and have similar scores: so a group consists of distant scores.
        groups = scores[: size * GROUP].reshape(GROUP, size).max(axis=0)
        bound = float(np.partition(groups, size - k)[size - k])
        if bound > -np.inf:  # otherwise too few groups contain a finite score
            return bound
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


Rows = npt.NDArray[np.int64]
"""Indices into columns of n entries: int64 [rows], in the order documented by each function."""
Hashes = npt.NDArray[Any]
"""Content hashes, one for each entry: int64 or uint64 [n], or text of 16 hex digits."""


def pick_representatives(ids: npt.NDArray[Any], scores: npt.NDArray[Any], hashes: Hashes) -> Rows:
    """Return the indices of the best entry of each content, best first, ties by id: int64 [distinct contents].

    `ids`, of any dtype that has an order, `scores`, of any float type, and `hashes` are all [n].
    """
    order = np.lexsort((ids, -scores))
    leaders: Rows = order[find_first_occurrences(hashes[order])]
    return leaders


def find_first_occurrences(hashes: Hashes) -> Rows:
    """Return the indices of the first entry of each content, ascending."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return np.sort(order[is_first])


class Best(NamedTuple):
    """Nodes with their scores and content hashes, [n] each."""

    ids: npt.NDArray[np.uint64]
    scores: npt.NDArray[Any]
    contents: Hashes


def merge_best(found: Sequence[Best], k: int) -> tuple[Best, Rows]:
    """Return the k best nodes of distinct content of several indexes, ties by id, and the place of the index of each.

    found: the k best of distinct content of each index, at least one index.
    """
    ids, scores, contents = map(np.concatenate, zip(*found, strict=True))
    places = np.repeat(np.arange(len(found)), [len(each.ids) for each in found])
    top = pick_representatives(ids, scores, contents)[:k]
    return Best(ids[top], scores[top], contents[top]), places[top]


def count_equal(hashes: Hashes, wanted: Hashes, passes: Callable[[Rows], npt.NDArray[np.bool_]]) -> Rows:
    """Count the entries of each wanted content that pass.

    The last two bytes of a hash separate most contents by one look-up; only the rest is compared. `passes` takes
    indices, int64 [m], and returns bool [m].
    """
    is_wanted = np.zeros(1 << 16, np.bool_)
    is_wanted[wanted.astype("<u2")] = True
    near = np.flatnonzero(is_wanted.take(np.ascontiguousarray(hashes).view("<u2")[::4]))
    near = near[passes(near)]
    found = np.sort(hashes[near])
    counts: Rows = found.searchsorted(wanted, "right") - found.searchsorted(wanted)
    return counts


def make_matches(
    ids: npt.NDArray[np.uint64], scores: npt.NDArray[Any], counts: npt.NDArray[np.integer[Any]]
) -> tuple[Match, ...]:
    """Build the matches of n nodes from their ids, scores and counts of nodes of equal content, itself included: [n].

    ids: uint64; scores: any float; counts: int64.
    """
    found = zip(ids.tolist(), scores.tolist(), counts.tolist(), strict=True)
    return tuple(Match(f"{number:016x}", score, count - 1) for number, score, count in found)
