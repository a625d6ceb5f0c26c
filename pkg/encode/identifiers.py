"""Number the identifiers that texts are made of, and keep the sum of each one's words."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pkg.encode.encoder import Vectors
from pkg.encode.stems import stem_cached
from pkg.encode.word_table import TEXT, Rows, WordTable
from pkg.encode.words import blank_separators

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
        self._fresh: list[tuple[int, tuple[str, ...]]] = []  # identifiers whose rows are still to be filled in

    def __missing__(self, identifier: bytes) -> int:
        index = self[identifier] = len(self)
        self._fresh.append((index, stem_cached(identifier)[:MAX_WORDS]))
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
        while len(self) > len(self._rows):
            self._rows = np.concatenate((self._rows, np.zeros_like(self._rows[::2])))  # half as many again
        self._rows[[index for index, _ in self._fresh]] = 0
        pairs = [(index, word) for index, words in self._fresh for word in words]
        self._fresh = []
        if pairs:
            owners, words = zip(*pairs, strict=True)
            starts = np.flatnonzero(np.diff(owners, prepend=-1))
            rows = self._table.read_rows(words, TEXT)
            self._rows[np.array(owners)[starts]] = _sum_runs(rows, starts)


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
