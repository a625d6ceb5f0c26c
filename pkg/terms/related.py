"""Tell which words are used like a word of a question: a table made of the trained rows of words (training/).

A question for a `picture` that is made `smaller` means a function that resizes an image. What is related is no term of
the question: it is looked up in what the searches have found, to measure how much of the question a candidate means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pkg.trained import WEIGHTS

FILE, WORDS = "related.npy", "related.txt"
MOST = 6
"""Words that are kept for each: the nearest. Those behind them are related to everything."""

FULL = 255  # likeness of a word to itself, as a byte
RELATED = np.dtype([("word", "<u2", (MOST,)), ("likeness", "u1", (MOST,))])

Related = Mapping[str, Mapping[str, float]]
"""For each term of a question, the terms that are used like it and how alike they are, from 0 to 1."""


def find_related(terms: Iterable[str]) -> Related:
    """Find the related words of each term, itself not among them; a term that was never learned has none."""
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
