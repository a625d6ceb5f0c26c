"""Split text into terms: the words of its identifiers, brought to their stems.

A question for `parsing` and a function `parser_of` meet only where both sides are stemmed in the same way (snowball,
English), so all that compares words by equality calls split_terms or stem_cached.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from pkg.encode.words import blank_separators, split_identifier

if TYPE_CHECKING:
    from Stemmer import Stemmer

TABLE_LIMIT = 100_000  # identifiers remembered, some 20 MB


def split_terms(text: bytes) -> list[str]:
    """List the terms of a text in order, repeats included."""
    return list(chain.from_iterable(map(stem_cached, blank_separators(text).split())))


class _StemTable(dict[bytes, tuple[str, ...]]):
    """Remember the terms of identifiers; a dictionary, because a function call for each would cost twice as much."""

    def __missing__(self, identifier: bytes) -> tuple[str, ...]:
        if len(self) > TABLE_LIMIT:
            self.clear()
        words = split_identifier(identifier)
        terms = self[identifier] = tuple(_load_stemmer().stemWords(words))
        return terms


@lru_cache(maxsize=1)
def _load_stemmer() -> Stemmer:
    """Load the stemmer when the first word comes; it keeps no words of its own, the table above does."""
    from Stemmer import Stemmer

    return Stemmer("english", 0)


stem_cached = _StemTable().__getitem__
"""Give the terms of one identifier, remembered: real code repeats its identifiers thousands of times."""
