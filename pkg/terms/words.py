"""Split text into terms: identifiers, the words in them, their stems, and the numbers of these.

A question about `parsing` and a function `parser_of` match only where both are stemmed in the same way (snowball,
English), so all code that compares words by equality calls split_terms or stem_cached.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, groupby, pairwise
from math import inf, log
from typing import TYPE_CHECKING

from pkg.trained import WEIGHTS, read_weights

if TYPE_CHECKING:
    from Stemmer import Stemmer

COMPOUNDS_FILE = "compounds.txt"
SHORTEST, LONGEST = 5, 40  # letters of a word that is split
LONGEST_PIECE = 20
SHORTEST_PIECE, SHORTEST_BESIDE_REST = 2, 3  # known words beside a rest must be longer: short ones occur everywhere
LONGEST_REST, REST_COST = 4, 3.0  # letters that may be no word, and the cost of each: higher than in any word
SHORTEST_LAST = 2  # letters of a rest at the end: a single one is an ending, as of plurals
UNSEEN = 22.0  # cost of a word that is not in the list: a split with a rest must be likelier
COMPOUNDS_LIMIT = 50_000  # cached words, about 6 MB
MADE = "+"  # suffix in the list of a word that is itself split, such as setdefault


class Compounds(dict[str, tuple[str, ...]]):
    """Cache of words written together and their parts: ``getrowview`` -> get, row, view.

    Old names in lower case have no word boundaries, and a question about the view of a row would not match them. A word
    is split where it consists of words that many projects use, and these together are likelier than the word itself: so
    ``filename``, which is a word of its own, stays whole. A few letters at one end may be no word (``ksstat`` -> ks,
    stat). The likelihood of a word follows from its rank in a list by frequency (Zipf), the commonest first; training/
    makes the list, from documentation and from names with underscores, and marks the few words of it that are split.
    The cost of a word is the negative logarithm of its likelihood; costs of adjacent words add up.
    """

    def __init__(self, words: list[str]) -> None:
        super().__init__()
        logarithm = log(len(words) + 1)
        self._costs = {word.removesuffix(MADE): log((rank + 1) * logarithm) for rank, word in enumerate(words)}
        self._whole = frozenset(words)

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) > COMPOUNDS_LIMIT:
            self.clear()
        is_split = SHORTEST <= len(word) <= LONGEST and word.isascii() and word.lower() not in self._whole
        pieces = self[word] = self._split(word) if is_split else (word,)
        return pieces

    def _split(self, word: str) -> tuple[str, ...]:
        """Return the likeliest sequence of words in a word, in its own case; it may be the word itself."""
        small, size = word.lower(), len(word)
        costs, starts = self._find_rows(small, [0.0], SHORTEST_PIECE)
        if costs[size] < inf:
            return _cut(word, size, starts)
        costs, starts = self._find_rows(small, [0.0], SHORTEST_BESIDE_REST)
        rests = range(1, min(LONGEST_REST, size - SHORTEST_BESIDE_REST) + 1)
        last = min(rests[SHORTEST_LAST - 1 :], key=lambda rest: costs[size - rest] + rest * REST_COST)
        last_cost = costs[size - last] + last * REST_COST
        first = [inf, *(rest * REST_COST for rest in rests)]
        costs_after, starts_after = self._find_rows(small, first, SHORTEST_BESIDE_REST)
        if min(last_cost, costs_after[size]) >= UNSEEN:
            return (word,)
        if last_cost <= costs_after[size]:
            return *_cut(word, size - last, starts), word[size - last :]
        return _cut(word, size, starts_after)

    def _find_rows(self, small: str, first: list[float], shortest: int) -> tuple[list[float], list[int]]:
        """Return for each position the lowest cost of known words ending there, and the start of the last of them.

        `first` are the costs of beginnings of the word that are kept as they are.
        """
        find, size = self._costs.get, len(small)
        costs, starts = first + [inf] * (size + 1 - len(first)), [0] * (size + 1)
        for start in range(size - shortest + 1):
            cost = costs[start]
            if cost < inf:
                for end in range(start + shortest, min(size, start + LONGEST_PIECE) + 1):
                    whole = cost + find(small[start:end], inf)
                    if whole < costs[end]:
                        costs[end], starts[end] = whole, start
        return costs, starts


def _cut(word: str, end: int, starts: list[int]) -> tuple[str, ...]:
    """Return the parts of word[:end]; `starts` has for each position the start of the last part before it."""
    pieces = []
    while end:
        pieces.append(word[starts[end] : end])
        end = starts[end]
    return tuple(reversed(pieces))


@lru_cache(maxsize=1)
def load_compounds() -> Compounds:
    """Load the list of the wheel."""
    return Compounds(read_weights(WEIGHTS, COMPOUNDS_FILE).decode().split())


@lru_cache(maxsize=50_000)
def hash_term(term: str) -> int:
    """Return the number of a term: unsigned 32 bit, the same on every machine."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "little")


MAX_WORD = LONGEST  # longer runs are encoded data, not words

_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") | frozenset(range(0x80, 0x100))
_SEPARATORS = bytes(code if code in _LETTERS else ord(" ") for code in range(256))
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NUMBER = r"\d{2,6}"  # one digit says little, and a longer number is no value that anyone asks for
_PARTS_AND_ENDS = re.compile(rf"{_PARTS.pattern}| ")
_PARTS_NUMBERS_AND_ENDS = re.compile(rf"{_PARTS.pattern}|(?<![^ ]){_NUMBER}(?= )| ")
_ASKED_NUMBER = re.compile(rf"(?<![\w.]){_NUMBER}(?!\w|\.\d)")
_UNSPACED = r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # scripts written without spaces
_RUNS = rf"{_UNSPACED}|(?:(?!{_UNSPACED})[^\W\d_])+"  # compiled where a text is not ASCII


def blank_separators(text: bytes) -> bytes:
    """Replace every byte that is not part of an identifier by a space; the length stays."""
    return text.translate(_SEPARATORS)


def split_identifier(identifier: bytes) -> tuple[str, ...]:
    """Split an identifier at its word boundaries, marked or not: ``getHTMLNames_2`` -> get, html, name."""
    return tuple(map(fold_case, split_subwords(identifier)))


def split_subwords(identifier: bytes) -> list[str]:
    """List the words of an identifier in their own case, compounds split: ``getrowView`` -> get, row, View."""
    return _split_compounds(split_by_case(identifier))


def split_by_case(identifier: bytes) -> list[str]:
    """List the words separated by underscores, digits and changes of case: ``getHTMLNames_2`` -> get, HTML, Names."""
    text = identifier.decode("utf-8", "ignore")
    if text.isascii():
        parts = _PARTS.findall(text)
    else:
        parts = [part for run in re.findall(_RUNS, text) for part in _split_case(run)]
    return parts if len(text) <= MAX_WORD else [part for part in parts if len(part) <= MAX_WORD]


def split_identifiers(identifiers: Sequence[bytes], with_numbers: bool = False) -> list[str]:
    """List the words of identifiers in their own case, with a space after each identifier.

    Overlong words are included. Consecutive ASCII identifiers take one pass. with_numbers: identifiers that are numbers
    of some digits are words too.
    """
    pattern = _PARTS_NUMBERS_AND_ENDS if with_numbers else _PARTS_AND_ENDS
    parts: list[str] = []
    for is_plain, some in groupby(identifiers, bytes.isascii):
        if is_plain:
            parts += pattern.findall(b" ".join((*some, b"")).decode())
        else:
            parts += chain.from_iterable((*split_by_case(each), " ") for each in some)
    return _split_compounds(parts)


def _split_compounds(parts: list[str]) -> list[str]:
    """Split compound words."""
    return list(chain.from_iterable(map(load_compounds().__getitem__, parts)))


def find_numbers(text: str) -> list[str]:
    """List the distinct numbers of a text that are terms of code, such as a status or a port."""
    return list(dict.fromkeys(_ASKED_NUMBER.findall(text)))


def fold_case(part: str) -> str:
    """Return a word in lower case and in the singular."""
    word = part.lower()
    return singularise(word) if word[-1] == "s" else word


def _split_case(run: str) -> list[str]:
    """Split letters of any script as _PARTS does: before a capital that begins a word."""
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
    """Return the singular of a regular English plural, so that a question about numbers finds a number."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "shes", "xes")) else word[:-1]


TABLE_LIMIT = 100_000  # cached identifiers, about 15 MB
WORD_LIMIT = 50_000  # cached words, about 6 MB: identifiers consist of few words, and share their stems


def split_terms(text: bytes) -> list[str]:
    """List the terms of a text in order, repeats included."""
    return list(chain.from_iterable(map(stem_cached, blank_separators(text).split())))


class _StemTable(dict[bytes, tuple[str, ...]]):
    """Cache of the terms of identifiers; a dictionary, because a function call for each would cost twice as much."""

    def __missing__(self, identifier: bytes) -> tuple[str, ...]:
        if len(self) > TABLE_LIMIT:
            self.clear()
        terms = self[identifier] = tuple(map(stem_word, split_subwords(identifier)))
        return terms


class _WordTable(dict[str, str]):
    """Cache of the stems of words, capitals and plurals included."""

    def __missing__(self, word: str) -> str:
        if len(self) > WORD_LIMIT:
            self.clear()
        stem: str = _load_stemmer().stemWord(fold_case(word))
        self[word] = stem
        return stem


@lru_cache(maxsize=1)
def _load_stemmer() -> Stemmer:
    """Load the stemmer on first use; the cache above replaces its own."""
    from Stemmer import Stemmer

    return Stemmer("english", 0)


_WORDS, _IDENTIFIERS = _WordTable(), _StemTable()

stem_word = _WORDS.__getitem__
"""Return the stem of a word, cached."""

stem_cached = _IDENTIFIERS.__getitem__
"""Return the terms of one identifier, cached: code repeats its identifiers thousands of times."""


def forget_stems() -> None:
    """Clear the caches to free memory."""
    _WORDS.clear()
    _IDENTIFIERS.clear()
    load_compounds.cache_clear()
