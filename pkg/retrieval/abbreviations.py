"""List what a name may say in short: a question for a `denominator` finds `den`, one for a root mean square `rms`.

No list of abbreviations is kept. The first letters of any word may stand for it, and the initials of words that follow
one another; whether code says so, the index of the graph tells.
"""

from __future__ import annotations

from collections.abc import Iterator

from pkg.terms.stems import stem_word
from pkg.terms.words import split_words

SHORTEST, LONGEST = 3, 6  # letters that a word is cut to; of two, most are words of their own
INITIALS = (3, 4)
MOST_WORDS = 100  # of a question, from its beginning; one with more is mostly code


def list_abbreviations(text: bytes) -> list[str]:
    """List the terms that may abbreviate words of a text, each once; many of them nobody ever wrote."""
    words = split_words(text)[:MOST_WORDS]
    return list(dict.fromkeys(map(stem_word, (*_list_starts(words), *_list_initials(words)))))


def _list_starts(words: list[str]) -> Iterator[str]:
    """Cut words; what is left must be shorter by two letters, or it is no abbreviation but another form."""
    for word in dict.fromkeys(words):
        for length in range(SHORTEST, min(LONGEST, len(word) - 2) + 1):
            yield word[:length]


def _list_initials(words: list[str]) -> Iterator[str]:
    """Give the initials of words that follow one another."""
    initials = "".join(word[0] for word in words)
    for length in INITIALS:
        for start in range(len(initials) - length + 1):
            yield initials[start : start + length]
