"""What people call things: the words of names that a question makes likelier, learned from docstrings (training/).

Who asks for `the number of rows` may mean `count_rows` or `num_rows`: no word of the question has to stand in the name.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pkg.terms.numbers import hash_term
from pkg.trained import WEIGHTS

FILE = "name_gains.npy"
NAME_GAIN = np.dtype([("asked", "<u4"), ("named", "<u4"), ("gain", "<f4")])
UNLEARNED_GAIN = 3e4  # of a word that was never learned, for itself: it is rare in names, so to meet it says much

Columns = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float32]]


@lru_cache(maxsize=8)
def gain_names(terms: tuple[str, ...]) -> Mapping[int, float]:
    """Tell how many times likelier a question, by its distinct terms, makes terms of names, by their numbers.

    A term stands for the mean over the terms of the question; one that is not told of becomes no likelier.
    """
    asked, named, gains = _load_columns()
    numbers = np.array([hash_term(term) for term in terms], np.uint32)
    lows, highs = np.searchsorted(asked, numbers, "left"), np.searchsorted(asked, numbers, "right")
    told: dict[int, float] = {}
    for number, low, high in zip(numbers.tolist(), lows.tolist(), highs.tolist(), strict=True):
        found = zip(named[low:high].tolist(), gains[low:high].tolist(), strict=True)
        for name, gain in found if low < high else ((number, UNLEARNED_GAIN),):
            told[name] = told.get(name, 0.0) + gain / len(terms)
    return told


@lru_cache(maxsize=1)
def _load_columns() -> Columns:
    """Read the table, ascending by the term that is asked: the terms that are asked, those of names, and the gains."""
    table = np.load(WEIGHTS / FILE)
    asked, named, gains = (np.ascontiguousarray(table[name]) for name in ("asked", "named", "gain"))
    return asked, named, gains
