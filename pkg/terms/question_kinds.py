"""Learned log odds that a question asks for a constant: a value, default, limit, list, name or setting.

Constants hold few words, so that functions that use them score higher by words and cosine; how a question is asked says
more. training/question_kinds.py learns the weights of its words and of its first ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pkg.terms.term_weights import look_up_weights

FILE = "question_kinds.npy"
BIAS = ""  # the term of every question


def list_kind_terms(terms: Sequence[str]) -> list[str]:
    """List what decides the kind of a question, by its distinct terms: these, and its first and its first two again."""
    return [BIAS, *terms, "^" + "".join(terms[:1]), "^" + "_".join(terms[:2])]


@lru_cache(maxsize=8)
def measure_constant_odds(terms: tuple[str, ...]) -> float:
    """Return the log odds that a question asks for a constant, by its distinct terms in order."""
    return sum(look_up_weights(FILE, list_kind_terms(terms), default=0.0))
