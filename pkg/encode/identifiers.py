"""Number the identifiers that texts are made of, and keep the sum of each one's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat

import numpy as np
import numpy.typing as npt

from pkg.encode.encoder import Vectors
from pkg.encode.word_table import TEXT, Rows, WordTable
from pkg.terms.stems import stem_word
from pkg.terms.words import MAX_WORD, blank_separators, list_all_parts

MAX_WORDS = 10  # words of one identifier that count: generated names may have hundreds
CACHE_LIMIT = 60_000  # identifiers kept with their sums, two bytes for each number


def number_identifiers(text: bytes, table: Mapping[bytes, int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Give what a table says of each identifier of a text, and where that starts: both int64 [identifiers]."""
    blanked = blank_separators(text)
    tokens = blanked.split()
    numbers = np.fromiter(map(table.__getitem__, tokens), np.int64, len(tokens))
    inside = np.frombuffer(b" " + blanked, np.uint8) > 32
    return numbers, np.flatnonzero(inside[1:] & ~inside[:-1])


class IdentifierTable(dict[bytes, int]):
    """Number the identifiers seen so far and keep, for each, the sum of its words' rows."""

    def __init__(self, table: WordTable) -> None:
        super().__init__()
        self._table = table
        self._rows = np.zeros((1024, table.dimension), np.int16)
        self._last = np.zeros(0, np.int64)  # where each identifier stood last, while they are numbered
        self._fresh: list[bytes] = []  # identifiers whose rows are still to be filled in

    def __missing__(self, identifier: bytes) -> int:
        index = self[identifier] = len(self)
        self._fresh.append(identifier)
        return index

    def make_room(self) -> None:
        """Forget everything when the table is full; the sums of an identifier never change."""
        if len(self) > CACHE_LIMIT:
            self.clear()
            self._fresh.clear()

    def number(self, identifiers: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Give the distinct identifiers and, for each identifier, its place among them: np.unique without the sort."""
        if len(self._last) < len(self):
            self._last = np.zeros(2 * len(self), np.int64)
        order = np.arange(len(identifiers))
        self._last[identifiers] = order
        last = self._last[identifiers]
        is_last = last == order
        return identifiers[is_last], (np.cumsum(is_last) - 1)[last]

    def rows(self, indices: npt.NDArray[np.int64]) -> Vectors:
        """Give the sums of some identifiers: float32 [len(indices), dimension]."""
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
            rows = self._table.read_rows([stem_word(word) for word in words], TEXT)
            starts = np.flatnonzero(np.diff(owners, prepend=-1))
            self._rows[first + owners[starts]] = _sum_runs(rows[numbers], starts)


def _split(identifiers: Sequence[bytes]) -> tuple[list[str], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Split identifiers: give the distinct words, and for each word that counts its number and its identifier's."""
    parts = list_all_parts(identifiers)
    words = [word for word in dict.fromkeys(parts) if word != " " and len(word) <= MAX_WORD]
    known = {word: number for number, word in enumerate(words)}
    numbers = np.fromiter(map(known.get, parts, repeat(-1)), np.int64, len(parts))
    ends = np.fromiter(map(" ".__eq__, parts), bool, len(parts))
    owners = np.cumsum(ends) - ends
    counted = np.cumsum(numbers >= 0)
    before = np.append(0, counted[ends])[owners]  # words that count up to the identifier
    kept = (numbers >= 0) & (counted - before <= MAX_WORDS)
    return words, numbers[kept], owners[kept]


def _sum_runs(rows: Rows, starts: npt.NDArray[np.intp]) -> npt.NDArray[np.int16]:
    """Sum rows from each start to the next: first ones, second ones and so on; few runs are long.

    np.add.reduceat adds the rows of one run at a time, which for runs of one or two takes ten times as long.
    """
    lengths = np.diff(starts, append=len(rows))
    sums = rows[starts].astype(np.int16)
    for place in range(1, int(lengths.max())):
        longer = np.flatnonzero(lengths > place)
        sums[longer] += rows[starts[longer] + place]
    return sums
