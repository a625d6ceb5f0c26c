"""Related words of a question's words, from a table of the trained word vectors (training/).

A question about a `picture` that is made `smaller` means a function that resizes an image. A related word is not a term
of the question: it is looked up in the results of a search, to measure how much of the question a candidate covers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pkg.trained import WEIGHTS

FILE, WORDS = "related.npy", "related.txt"
MOST = 6
"""Related words kept for each word: the nearest. Further ones are related to everything."""

FULL = 255  # similarity of a word to itself, as a byte
RELATED = np.dtype([("word", "<u2", (MOST,)), ("likeness", "u1", (MOST,))])

Related = Mapping[str, Mapping[str, float]]
"""For each term of a question, the terms used in the same way and their similarity, from 0 to 1."""


def find_related(terms: Iterable[str]) -> Related:
    """Return the related words of each term, itself excluded; an unknown term has none."""
    return {term: _read_row(term) for term in terms}


@lru_cache(maxsize=20_000)
def _read_row(term: str) -> Mapping[str, float]:
    words, numbers, rows = _load_table()
    number = numbers.get(term)
    if number is None:
        return {}
    row = rows[number]
    pairs = zip(row["word"].tolist(), row["likeness"].tolist(), strict=True)
    return {words[word]: likeness / FULL for word, likeness in pairs if likeness}


@lru_cache(maxsize=1)
def _load_table() -> tuple[list[str], dict[str, int], npt.NDArray[np.void]]:
    words = (WEIGHTS / WORDS).read_text("utf-8").splitlines()
    rows: npt.NDArray[np.void] = np.load(WEIGHTS / FILE, mmap_mode="r")
    return words, {word: number for number, word in enumerate(words)}, rows
