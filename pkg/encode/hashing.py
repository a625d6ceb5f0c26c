"""The weight-free encoder: every word is a fixed pseudo-random sign vector, a text is their weighted sum.

The sign vector of a word is its BLAKE2 digest read as bits (a random projection of the bag of words, so the dot
product of two texts estimates the weighted share of words that they have in common). Each distinct identifier of a
text counts once, through the sum of its words; common words weigh less (`word_weights.txt`, made by
benchmarks/word_weights.py). All sums are sums of small integers, exact in float32 in any order: vectors do not depend
on batches, workers or the linear algebra library. Headings are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pkg.encode.encoder import Spans, Vectors
from pkg.encode.words import blank_separators, split_cached

DIMENSION = 224  # bits of a 28-byte digest: with 256 the graph of django would outgrow its 40 MB
RARE_WEIGHT = 12  # weight of a word that the table does not list
MAX_WORDS = 10  # words of one identifier that count: 10 * 12 still fits a signed byte
GROUP = 64  # spans encoded by one matrix product: larger groups waste work on words that the others lack
CACHE_LIMIT = 100_000  # identifiers kept with their sums, 224 bytes each


class HashingEncoder:
    """Encode code and questions by hashed identifier parts with inverse document frequency weights (P-09, P-13)."""

    name = "hashing"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._table = _IdentifierTable()

    def encode(self, texts: Sequence[bytes], headings: Sequence[str] = ()) -> Vectors:
        """Encode UTF-8 texts: float32 [len(texts), 224], rows of length 1, or 0 where a text has no words."""
        lengths = np.array([len(text) for text in texts], np.int64)
        ends = np.cumsum(lengths + 1) - 1
        return self.encode_spans(b"\n".join(texts), np.stack((ends - lengths, ends), axis=1))

    def encode_query(self, text: str) -> Vectors:
        """Encode a question like code: float32 [224], of length 1, or 0 where it has no words."""
        query: Vectors = self.encode([text.encode()])[0]
        return query

    def encode_spans(self, text: bytes, spans: Spans, headings: Sequence[str] = ()) -> Vectors:
        """Encode text[start:end] for each row of spans [n, 2], byte offsets: float32 [n, 224]."""
        sums = np.zeros((len(spans), DIMENSION), np.float32)
        identifiers, starts = self._read_identifiers(text)
        first = np.searchsorted(starts, spans[:, 0])
        last = np.searchsorted(starts, spans[:, 1])
        order = np.argsort(first, kind="stable")  # spans that lie together have words in common
        for low in range(0, len(spans), GROUP):
            group = order[low : low + GROUP]
            sums[group] = self._sum_group(identifiers, first[group], last[group])
        return normalise(sums)

    def encode_without(self, text: bytes, cuts: Spans, heading: str = "") -> Vectors:
        """Encode the text without one span at a time: float32 [len(cuts), 224] (P-18).

        Only identifiers that stand nowhere else leave the sum: one subtraction for each cut.
        """
        identifiers, starts = self._read_identifiers(text)
        columns, counts = np.unique(identifiers, return_counts=True)
        rows = self._table.rows(columns)
        sums = np.repeat(rows.sum(axis=0, keepdims=True), len(cuts), axis=0)
        places = np.searchsorted(columns, identifiers)
        for index, (low, high) in enumerate(np.searchsorted(starts, cuts).tolist()):
            inside = np.bincount(places[low:high], minlength=len(columns))
            sums[index] -= rows[(inside > 0) & (inside == counts)].sum(axis=0)
        return normalise(sums)

    def _read_identifiers(self, text: bytes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Give the table index and the start offset of every identifier of a text, both [identifiers]."""
        blanked = blank_separators(text)
        tokens = blanked.split()
        self._table.make_room()
        identifiers = np.fromiter(map(self._table.__getitem__, tokens), np.int64, len(tokens))
        inside = np.frombuffer(b" " + blanked, np.uint8) > 32
        return identifiers, np.flatnonzero(inside[1:] & ~inside[:-1])

    def _sum_group(
        self, identifiers: npt.NDArray[np.int64], first: npt.NDArray[np.int64], last: npt.NDArray[np.int64]
    ) -> Vectors:
        """Sum the rows of the distinct identifiers of each token range [first, last): a 0/1 matrix times the table."""
        low, high = int(first.min()), int(last.max())
        if high <= low:
            return np.zeros((len(first), DIMENSION), np.float32)
        columns, places = self._table.number(identifiers[low:high])
        lengths = np.maximum(last - first, 0)
        owners = np.repeat(np.arange(len(first)), lengths)
        offsets = np.arange(len(owners)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        present = np.zeros((len(first), len(columns)), np.float32)
        present[owners, places[np.repeat(first - low, lengths) + offsets]] = 1
        return present @ self._table.rows(columns)


class _IdentifierTable(dict[bytes, int]):
    """Number the identifiers seen so far and keep, for each, the weighted sum of its words' sign vectors."""

    def __init__(self) -> None:
        super().__init__()
        self._rows = np.zeros((1024, DIMENSION), np.int8)
        self._last = np.zeros(0, np.int64)  # where each identifier stood last, while they are numbered
        self._fresh: list[tuple[int, tuple[str, ...]]] = []  # identifiers whose rows are still to be filled in

    def __missing__(self, identifier: bytes) -> int:
        index = self[identifier] = len(self)
        self._fresh.append((index, split_cached(identifier)[:MAX_WORDS]))
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
        """Give the rows of some identifiers: float32 [len(indices), 224]."""
        if self._fresh:
            self._fill()
        rows: Vectors = self._rows[indices].astype(np.float32)
        return rows

    def _fill(self) -> None:
        """Sum the words of all new identifiers at once."""
        while len(self) > len(self._rows):
            self._rows = np.concatenate((self._rows, np.zeros_like(self._rows)))
        self._rows[[index for index, _ in self._fresh]] = 0
        pairs = [(index, word) for index, words in self._fresh for word in words]
        self._fresh = []
        if pairs:
            owners, words = zip(*pairs, strict=True)
            starts = np.flatnonzero(np.diff(owners, prepend=-1))
            self._rows[np.array(owners)[starts]] = np.add.reduceat(_sign_vectors(words), starts, axis=0)


def _sign_vectors(words: Sequence[str]) -> npt.NDArray[np.int8]:
    """Give the weighted +1/-1 vectors of words: int8 [len(words), 224]."""
    digests = b"".join(map(_digest, words))
    signs = np.unpackbits(np.frombuffer(digests, np.uint8)).reshape(-1, DIMENSION).view(np.int8)
    weights = np.array([_word_weights().get(word, RARE_WEIGHT) for word in words], np.int8)
    vectors: npt.NDArray[np.int8] = (signs * 2 - 1) * weights[:, None]
    return vectors


@lru_cache(maxsize=50_000)
def _digest(word: str) -> bytes:
    return blake2b(word.encode(), digest_size=DIMENSION // 8).digest()


def normalise(sums: Vectors) -> Vectors:
    """Scale each row to length 1; a zero row stays zero, so that its cosine is 0 (P-14)."""
    norms = np.sqrt(np.einsum("ij,ij->i", sums, sums, dtype=np.float64))
    norms[norms == 0] = 1
    vectors: Vectors = (sums / norms[:, None]).astype(np.float32)
    return vectors


@lru_cache(maxsize=1)
def _word_weights() -> dict[str, int]:
    """Read the weights of common words; a word that is not listed has RARE_WEIGHT."""
    lines = Path(__file__).with_name("word_weights.txt").read_text("utf-8").splitlines()
    return {word: int(weight) for weight, *words in map(str.split, lines) for word in words}
