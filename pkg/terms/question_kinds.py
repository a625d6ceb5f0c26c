"""Learned log odds that a question asks for a constant: a value, default, limit, list, name or setting.

Constants hold few words, so that functions that use them score higher by words and cosine; how a question is asked says
more. training/question_kinds.py learns the weights of its words and of its first ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pkg.terms.words import hash_term
from pkg.trained import WEIGHTS

FILE = "question_kinds.npy"
KIND_WEIGHT = np.dtype([("term", "<u4"), ("weight", "<f4")])
BIAS = ""  # the term of every question


def list_kind_terms(terms: Sequence[str]) -> list[str]:
    """List what decides the kind of a question, by its distinct terms: these, and its first and its first two again."""
    return [BIAS, *terms, "^" + "".join(terms[:1]), "^" + "_".join(terms[:2])]


@lru_cache(maxsize=8)
def measure_constant_odds(terms: tuple[str, ...]) -> float:
    """Return the log odds that a question asks for a constant, by its distinct terms in order."""
    table = _load_table()
    numbers = np.array([hash_term(term) for term in list_kind_terms(terms)], np.uint32)
    places = np.minimum(np.searchsorted(table["term"], numbers), len(table) - 1)
    return float(table["weight"][places][table["term"][places] == numbers].sum())


@lru_cache(maxsize=1)
def _load_table() -> npt.NDArray[np.void]:
    """Map the learned weights: (number of the term, weight), ascending by number."""
    table: npt.NDArray[np.void] = np.asarray(np.load(WEIGHTS / FILE, mmap_mode="r"))
    return table
