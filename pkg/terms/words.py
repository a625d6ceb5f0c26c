"""Split text into terms: identifiers, the words that they are made of, the stems of these, and their numbers.

A question for `parsing` and a function `parser_of` meet only where both sides are stemmed in the same way (snowball,
English), so all that compares words by equality calls split_terms or stem_cached.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, groupby, pairwise
from typing import TYPE_CHECKING

from pkg.terms.compounds import LONGEST, load_compounds

if TYPE_CHECKING:
    from Stemmer import Stemmer


@lru_cache(maxsize=50_000)
def hash_term(term: str) -> int:
    """Give the number of a term: unsigned 32 bit, the same on every machine."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "little")


MAX_WORD = LONGEST  # longer runs are encoded data, not words

_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") | frozenset(range(0x80, 0x100))
_SEPARATORS = bytes(code if code in _LETTERS else ord(" ") for code in range(256))
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PARTS_AND_ENDS = re.compile(rf"{_PARTS.pattern}| ")
_UNSPACED = r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # scripts written without spaces
_RUNS = re.compile(rf"{_UNSPACED}|(?:(?!{_UNSPACED})[^\W\d_])+")


def blank_separators(text: bytes) -> bytes:
    """Replace every byte that is not part of an identifier by a space; the length stays."""
    return text.translate(_SEPARATORS)


def split_identifier(identifier: bytes) -> tuple[str, ...]:
    """Split an identifier where words meet, marked or not: ``getHTMLNames_2`` -> get, html, name."""
    return tuple(map(fold_case, split_subwords(identifier)))


def split_subwords(identifier: bytes) -> list[str]:
    """List the words of an identifier as they are written, told apart or not: ``getrowView`` -> get, row, View."""
    return _split_compounds(split_by_case(identifier))


def split_by_case(identifier: bytes) -> list[str]:
    """List what underscores, digits and changes of case tell apart: ``getHTMLNames_2`` -> get, HTML, Names."""
    text = identifier.decode("utf-8", "ignore")
    parts = (
        _PARTS.findall(text) if text.isascii() else [part for run in _RUNS.findall(text) for part in _split_case(run)]
    )
    return parts if len(text) <= MAX_WORD else [part for part in parts if len(part) <= MAX_WORD]


def split_identifiers(identifiers: Sequence[bytes]) -> list[str]:
    """List the words of identifiers as they are written, each identifier ended by a space.

    Words that are too long to be any are among them. Identifiers in ASCII that follow one another take one pass.
    """
    parts: list[str] = []
    for is_plain, some in groupby(identifiers, bytes.isascii):
        if is_plain:
            parts += _PARTS_AND_ENDS.findall(b" ".join((*some, b"")).decode())
        else:
            parts += chain.from_iterable((*split_by_case(each), " ") for each in some)
    return _split_compounds(parts)


def _split_compounds(parts: list[str]) -> list[str]:
    """Split the words that are made of others."""
    return list(chain.from_iterable(map(load_compounds().__getitem__, parts)))


def fold_case(part: str) -> str:
    """Give a word in small letters and in the singular."""
    word = part.lower()
    return singularise(word) if word[-1] == "s" else word


def _split_case(run: str) -> list[str]:
    """Split letters of any script where _PARTS would: before a capital that begins a word."""
    starts = [
        index
        for index in range(1, len(run))
        if run[index].isupper() and (run[index - 1].islower() or run[index + 1 : index + 2].islower())
    ]
    return [run[start:end] for start, end in pairwise([0, *starts, len(run)])]


def split_words(text: bytes) -> list[str]:
    """List the words of a text in order, repeats included."""
    return [word for identifier in blank_separators(text).split() for word in split_identifier(identifier)]


def singularise(word: str) -> str:
    """Give the singular of a regular English plural, so that a question for numbers finds a number."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "shes", "xes")) else word[:-1]


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
        terms = self[identifier] = tuple(map(stem_word, split_subwords(identifier)))
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
