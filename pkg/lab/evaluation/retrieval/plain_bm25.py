"""A baseline independent of the product: plain BM25 over the words of the code (P-31).

Identifiers are split at separators and case changes, as common tools do; the product splits further, which is part of
the comparison.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pkg.errors import MissingExtraError
from pkg.terms.words import blank_separators, fold_case, split_by_case


class PlainBM25:
    """Ranks whole texts by BM25 as implemented by the package rank-bm25, with its default constants.

    Raises MissingExtraError if it is not installed.
    """

    def __init__(self, places: Sequence[str], texts: Sequence[str]) -> None:
        try:
            from rank_bm25 import BM25Okapi
        except ImportError as fault:
            raise MissingExtraError("rank-bm25", "eval", "the ranking bm25") from fault
        self._places = places
        words = [_split_plainly(text) for text in texts]
        self._index = BM25Okapi(words) if any(words) else None  # rank-bm25 divides by the mean length

    def rank(self, question: str, k: int) -> list[str]:
        """Return the places of the k best texts, ties in the order of the texts."""
        if self._index is None:
            return []
        scores = self._index.get_scores(_split_plainly(question))
        return [self._places[row] for row in np.argsort(-scores, kind="stable")[:k]]


def _split_plainly(text: str) -> list[str]:
    identifiers = blank_separators(text.encode("utf-8", "replace")).split()
    return [fold_case(part) for identifier in identifiers for part in split_by_case(identifier)]
