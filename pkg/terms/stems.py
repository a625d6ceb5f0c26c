"""Split text into terms: the words of its identifiers, brought to their stems.

A question for `parsing` and a function `parser_of` meet only where both sides are stemmed in the same way (snowball,
English), so all that compares words by equality calls split_terms or stem_cached.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from pkg.terms.compounds import load_compounds
from pkg.terms.words import blank_separators, fold_case, list_parts

if TYPE_CHECKING:
    from Stemmer import Stemmer

TABLE_LIMIT = 100_000  # identifiers remembered, some 15 MB
WORD_LIMIT = 50_000  # words remembered, some 6 MB: identifiers have few, and share their stems


def split_terms(text: bytes) -> list[str]:
    """List the terms of a text in order, repeats included."""
    return list(chain.from_iterable(map(stem_cached, blank_separators(text).split())))


class _StemTable(dict[bytes, tuple[str, ...]]):
    """Remember the terms of identifiers; a dictionary, because a function call for each would cost twice as much."""

    def __missing__(self, identifier: bytes) -> tuple[str, ...]:
        if len(self) > TABLE_LIMIT:
            self.clear()
        terms = self[identifier] = tuple(map(stem_word, list_parts(identifier)))
        return terms


class _WordTable(dict[str, str]):
    """Remember the stems of words as they are written, capitals and plurals included."""

    def __missing__(self, word: str) -> str:
        if len(self) > WORD_LIMIT:
            self.clear()
        stem: str = _load_stemmer().stemWord(fold_case(word))
        self[word] = stem
        return stem


@lru_cache(maxsize=1)
def _load_stemmer() -> Stemmer:
    """Load the stemmer when the first word comes; it keeps no words of its own, the table above does."""
    from Stemmer import Stemmer

    return Stemmer("english", 0)


_WORDS, _IDENTIFIERS = _WordTable(), _StemTable()

stem_word = _WORDS.__getitem__
"""Give the stem of a word as it is written, remembered."""

stem_cached = _IDENTIFIERS.__getitem__
"""Give the terms of one identifier, remembered: real code repeats its identifiers thousands of times."""


def forget_stems() -> None:
    """Let go of all that is remembered, for the memory."""
    _WORDS.clear()
    _IDENTIFIERS.clear()
    load_compounds.cache_clear()
