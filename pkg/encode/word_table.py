"""The trained rows of words, and their sums for identifiers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b, sha256
from itertools import repeat
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pkg.encode.encoder import Vectors
from pkg.errors import WeightsError
from pkg.terms.words import COMPOUNDS_FILE as COMPOUNDS
from pkg.terms.words import MAX_WORD, blank_separators, split_identifiers, split_terms, stem_word
from pkg.trained import MANIFEST, WEIGHTS, read_revision, read_weights

ROWS, WORDS = "static.npy", "static.txt"
FILES = (ROWS, WORDS, COMPOUNDS)
"""Files that determine vectors, with their hashes in the manifest."""

TEXT, NAME, PLACE = "", "name:", "place:"
"""Prefixes of the rows of a word: in a text or question, in a function's name, in its class or module."""

Rows: TypeAlias = npt.NDArray[np.int8]
"""Rows of words, one after another: int8 [words, dimension]."""


class WordTable:
    """Rows of signed bytes [n, dimension], the number of each word's row, and the weights of a vector's parts."""

    def __init__(
        self, rows: Rows, words: Sequence[str], unknown: int, weights: tuple[float, float, float], revision: str = ""
    ) -> None:
        self._rows = rows
        self._numbers = {word: number for number, word in enumerate(words)}
        self._unknown = unknown  # size of the numbers in the row of an unknown word
        self.revision = revision
        self.dimension = int(rows.shape[1])
        self.text_weight, self.name_weight, self.place_weight = map(np.float32, weights)

    def look_up_rows(self, words: Sequence[str], part: str) -> Rows:
        """Return the rows of words in a text, a name or a place: int8 [len(words), dimension]."""
        numbers = np.fromiter(self._find(words, part), np.int64, len(words))
        rows: Rows = self._rows[numbers]
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            places: dict[str, int] = {}
            chosen = [places.setdefault(words[index], len(places)) for index in unknown.tolist()]
            rows[unknown] = (spell_signs(list(places), self.dimension) * np.int8(self._unknown))[chosen]
        return rows

    def holds_any(self, words: Iterable[str]) -> bool:
        """Return whether any word has a row for texts."""
        return any(word in self._numbers for word in words)

    def _find(self, words: Sequence[str], part: str) -> Iterable[int]:
        """Return the number of each word's row for a part, else of its row for texts, else -1."""
        found = self._numbers.get
        if part == TEXT:
            return map(found, words, repeat(-1))
        return [found(part + word, found(word, -1)) for word in words]

    def sum_words(self, part: str, texts: Sequence[str]) -> Vectors:
        """Sum the rows of the distinct words of names or places: float32 [n, dimension]."""
        distinct = [dict.fromkeys(split_terms(text.encode())) for text in texts]
        counts = np.array([len(words) for words in distinct], np.int64)
        rows = self.look_up_rows([word for words in distinct for word in words], part)
        sums = np.zeros((len(texts), self.dimension), np.float32)
        if len(rows):
            starts = (np.cumsum(counts) - counts)[counts > 0]
            sums[counts > 0] = np.add.reduceat(rows, starts, axis=0, dtype=np.int32)
        return sums


def spell_signs(words: Sequence[str], dimension: int) -> Rows:
    """Return the row of signs of each word, from its BLAKE2 digest: int8 [len(words), dimension], +1 or -1."""
    size = dimension // 8
    digests = b"".join([blake2b(word.encode(), digest_size=size).digest() for word in words])
    bits = np.unpackbits(np.frombuffer(digests, np.uint8).reshape(len(words), size), axis=1)
    signs: Rows = bits.view(np.int8) * np.int8(2) - np.int8(1)
    return signs


def load_word_table(folder: Path = WEIGHTS) -> WordTable:
    """Load the packaged table with memory-mapped rows; raises WeightsError for missing or changed files."""
    manifest = _read_manifest(folder)
    checked = {name: _check(folder, name, manifest) for name in FILES}
    words = checked[WORDS].decode().splitlines()
    rows: Rows = np.asarray(np.load(folder / ROWS, mmap_mode="r"))  # a plain view is faster to index
    weights = manifest["weights"]
    parts = weights["text"], weights["name"], weights["place"]
    return WordTable(rows, words, manifest["unknown"], parts, read_revision(folder))


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads(read_weights(folder, MANIFEST))
        if set(FILES) <= set(manifest["sha256"]):
            return manifest
    except (ValueError, LookupError, TypeError):
        pass
    raise WeightsError(f"{folder / MANIFEST} is no manifest of the encoder 'static'; install the package again")


def _check(folder: Path, name: str, manifest: dict[str, Any]) -> bytes:
    """Read a file and compare its hash with that of the manifest."""
    data = read_weights(folder, name)
    found, expected = sha256(data).hexdigest(), str(manifest["sha256"][name])
    if found != expected:
        raise WeightsError(
            f"{folder / name} has sha256 {found[:16]}..., expected {expected[:16]}...;"
            " the file is damaged or of another version; install the package again"
        )
    return data


MAX_WORDS = 10  # of one identifier: generated names may have hundreds
CACHE_LIMIT = 30_000  # identifiers with their sums, two bytes for each number


def number_identifiers(text: bytes, table: Mapping[bytes, int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the number in a table and the start offset of each identifier of a text: both int64 [identifiers]."""
    blanked = blank_separators(text)
    tokens = blanked.split()
    numbers = np.fromiter(map(table.__getitem__, tokens), np.int64, len(tokens))
    inside = np.frombuffer(b" " + blanked, np.uint8) > 32
    return numbers, np.flatnonzero(inside[1:] & ~inside[:-1])


class IdentifierTable(dict[bytes, int]):
    """The numbers of identifiers, and a cache of the sums of their words' rows."""

    def __init__(self, table: WordTable) -> None:
        super().__init__()
        self._table = table
        self._rows = np.zeros((1024, table.dimension), np.int16)
        self._last = np.zeros(0, np.int64)  # last position of each identifier, within one call of number
        self._fresh: list[bytes] = []  # identifiers without a row so far

    def __missing__(self, identifier: bytes) -> int:
        index = self[identifier] = len(self)
        self._fresh.append(identifier)
        return index

    def make_room(self) -> None:
        """Clear the table when it is full."""
        if len(self) > CACHE_LIMIT:
            self.clear()
            self._fresh.clear()

    def number(self, identifiers: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the distinct identifiers and the index of each among them, like np.unique without sorting.

        Takes int64 [identifiers]; returns int64 [distinct identifiers] and int64 [identifiers].
        """
        if len(self._last) < len(self):
            self._last = np.zeros(2 * len(self), np.int64)
        order = np.arange(len(identifiers))
        self._last[identifiers] = order
        last = self._last[identifiers]
        is_last = last == order
        return identifiers[is_last], (np.cumsum(is_last) - 1)[last]

    def rows(self, indices: npt.NDArray[np.int64]) -> Vectors:
        """Return the sums of identifiers: float32 [len(indices), dimension]."""
        if self._fresh:
            self._fill()
        rows: Vectors = self._rows[indices].astype(np.float32)
        return rows

    def _fill(self) -> None:
        """Sum the words of all new identifiers at once."""
        if len(self) > len(self._rows):
            kept, self._rows = self._rows, np.zeros((len(self) * 3 // 2, self._table.dimension), np.int16)
            self._rows[: len(kept)] = kept
        first = len(self) - len(self._fresh)  # of the new identifiers, which have the last numbers
        words, numbers, owners = _split(self._fresh)
        self._fresh = []
        self._rows[first : len(self)] = 0
        if words:
            rows = self._table.look_up_rows([stem_word(word) for word in words], TEXT)
            starts = np.flatnonzero(np.diff(owners, prepend=-1))
            self._rows[first + owners[starts]] = _sum_runs(rows[numbers], starts)


def _split(identifiers: Sequence[bytes]) -> tuple[list[str], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Split identifiers into distinct words, and for each counted word its number and its identifier's index."""
    parts = split_identifiers(identifiers)
    words = [word for word in dict.fromkeys(parts) if word != " " and len(word) <= MAX_WORD]
    known = {word: number for number, word in enumerate(words)}
    numbers = np.fromiter(map(known.get, parts, repeat(-1)), np.int64, len(parts))
    ends = np.fromiter(map(" ".__eq__, parts), bool, len(parts))
    owners = np.cumsum(ends) - ends
    counted = np.cumsum(numbers >= 0)
    before = np.append(0, counted[ends])[owners]  # counted words before the identifier
    kept = (numbers >= 0) & (counted - before <= MAX_WORDS)
    return words, numbers[kept], owners[kept]


def _sum_runs(rows: Rows, starts: npt.NDArray[np.intp]) -> npt.NDArray[np.int16]:
    """Sum rows from each start to the next, by position within the run, because few runs are long.

    np.add.reduceat sums one run at a time, which takes ten times as long for runs of one or two rows.
    """
    lengths = np.diff(starts, append=len(rows))
    sums = rows[starts].astype(np.int16)
    for place in range(1, int(lengths.max())):
        longer = np.flatnonzero(lengths > place)
        sums[longer] += rows[starts[longer] + place]
    return sums
