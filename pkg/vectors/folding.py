"""Let the best of nodes of equal content stand for all of them, the same way in dense and in lexical search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]
Hashes = npt.NDArray[Any]  # 64 bits each, signed or not, or 16 hex digits


def pick_leaders(ids: npt.NDArray[Any], scores: npt.NDArray[Any], hashes: Hashes) -> Rows:
    """Give the places of the best of each content, best first, ties by id."""
    order = np.lexsort((ids, -scores))
    leaders: Rows = order[find_firsts(hashes[order])]
    return leaders


def find_firsts(hashes: Hashes) -> Rows:
    """Give the places where a content stands for the first time, ascending."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return np.sort(order[is_first])


def count_equal(hashes: Hashes, leaders: Rows, passes: Callable[[Rows], npt.NDArray[np.bool_]]) -> list[int]:
    """Count the entries of each leader's content that pass, itself included.

    The last two bytes of a hash tell most others apart in one look-up each; the few that are left are compared.
    """
    is_wanted = np.zeros(1 << 16, np.bool_)
    is_wanted[hashes[leaders].astype("<u2")] = True
    near = np.flatnonzero(is_wanted.take(np.ascontiguousarray(hashes).view("<u2")[::4]))
    near = near[passes(near)]
    found, wanted = np.sort(hashes[near]), hashes[leaders]
    counts: list[int] = (found.searchsorted(wanted, "right") - found.searchsorted(wanted)).tolist()
    return counts
