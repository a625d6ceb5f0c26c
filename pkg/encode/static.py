"""The default encoder: a trained table with a row for each word; a text is the sum of the rows of its words.

A vector is the weighted sum of three normalized sums: of the words of the text, of the function's name, and of its
class and module (both from the heading, with rows of their own). Each distinct identifier of a text counts once, by
its stemmed words. A word without a row, such as a rare name or another script, has a fixed pseudo-random row of signs,
so that it still matches itself. training/ makes the table; training/MODEL_CARD.md describes its data.

Vectors are equal to the last bit on every machine. All rows are signed bytes, so a sum of rows is a sum of small
integers, exact in float32 in any order; the next operations are elementwise and correctly rounded, and the only other
sum, the norm, is computed from values rounded to integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pkg.encode.encoder import Spans, Vectors
from pkg.encode.word_table import NAME, PLACE, IdentifierTable, WordTable, load_word_table, number_identifiers
from pkg.terms.words import split_terms

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

GROUP = 64  # spans of one matrix product: larger groups have fewer words in common
STEPS = 4096.0  # of a weighted sum from 0 to 1, which is rounded: about ten times finer than stored vectors
HEADING_LIMIT = 2_000  # cached headings


class StaticEncoder:
    """Encode code and questions by the trained rows of their words (P-09, P-13); safe to use from threads."""

    def __init__(self, table: WordTable | None = None) -> None:
        self._table = table or load_word_table()
        self._identifiers = IdentifierTable(self._table)
        self._headings: dict[str, Vectors] = {}
        self._lock = Lock()  # of both caches

    @property
    def name(self) -> str:
        """Return the name of the encoder with the revision of its weights."""
        return f"static@{self._table.revision}"

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        return self._table.dimension

    def encode(self, texts: Sequence[bytes], headings: Sequence[str] = ()) -> Vectors:
        """Encode UTF-8 texts: float32 [len(texts), dimension], normalized; a text without words is a zero row."""
        lengths = np.array([len(text) for text in texts], np.int64)
        ends = np.cumsum(lengths + 1) - 1
        return self.encode_spans(b"\n".join(texts), np.stack((ends - lengths, ends), axis=1), headings)

    def encode_query(self, text: str) -> Vectors:
        """Encode a question like the text of code: float32 [dimension], normalized, or zero without words."""
        query: Vectors = self.encode([text.encode()])[0]
        return query

    def knows(self, text: str) -> bool:
        """Return whether the table has any word of a text."""
        return self._table.holds_any(split_terms(text.encode("utf-8", "replace")))

    def encode_spans(self, text: bytes, spans: Spans, headings: Sequence[str] = ()) -> Vectors:
        """Encode text[start:end] for each row of spans [n, 2], byte offsets: float32 [n, dimension]."""
        with self._lock:
            return self._encode_spans(text, spans, headings)

    def encode_without(self, text: bytes, cuts: Spans, heading: str = "") -> Vectors:
        """Encode the text without one span at a time: float32 [len(cuts), dimension] (P-18).

        Only identifiers without another occurrence are subtracted from the sum.
        """
        with self._lock:
            return self._encode_without(text, cuts, heading)

    def _encode_spans(self, text: bytes, spans: Spans, headings: Sequence[str]) -> Vectors:
        sums = np.zeros((len(spans), self.dimension), np.float32)
        identifiers, starts = self._read_identifiers(text)
        first = np.searchsorted(starts, spans[:, 0])
        last = np.searchsorted(starts, spans[:, 1])
        order = np.argsort(first, kind="stable")  # neighbouring spans have words in common
        with _find_libraries().limit(limits=1, user_api="blas") if len(spans) > 1 else nullcontext():
            for low in range(0, len(spans), GROUP):
                group = order[low : low + GROUP]
                sums[group] = self._sum_group(identifiers, first[group], last[group])
        return self._add_headings(sums, headings)

    def _encode_without(self, text: bytes, cuts: Spans, heading: str) -> Vectors:
        identifiers, starts = self._read_identifiers(text)
        columns, places = self._identifiers.number(identifiers)
        counts, rows = np.bincount(places), self._identifiers.rows(columns)
        sums = np.repeat(rows.sum(axis=0, keepdims=True), len(cuts), axis=0)
        for index, (low, high) in enumerate(np.searchsorted(starts, cuts).tolist()):
            inside = np.bincount(places[low:high], minlength=len(columns))
            sums[index] -= rows[(inside > 0) & (inside == counts)].sum(axis=0)
        return self._add_headings(sums, [heading] * len(cuts))

    def _read_identifiers(self, text: bytes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the number and the start offset of every identifier of a text, both int64 [identifiers]."""
        self._identifiers.make_room()
        return number_identifiers(text, self._identifiers)

    def _sum_group(
        self, identifiers: npt.NDArray[np.int64], first: npt.NDArray[np.int64], last: npt.NDArray[np.int64]
    ) -> Vectors:
        """Sum the rows of the distinct identifiers of each token range [first, last): a 0/1 matrix times the rows."""
        low, high = int(first.min()), int(last.max())
        if high <= low:
            return np.zeros((len(first), self.dimension), np.float32)
        columns, places = self._identifiers.number(identifiers[low:high])
        lengths = np.maximum(last - first, 0)
        owners = np.repeat(np.arange(len(first)), lengths)
        offsets = np.arange(len(owners)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        present = np.zeros((len(first), len(columns)), np.float32)
        present[owners, places[np.repeat(first - low, lengths) + offsets]] = 1
        return present @ self._identifiers.rows(columns)

    def _add_headings(self, sums: Vectors, headings: Sequence[str]) -> Vectors:
        """Normalize the sums of texts, add those of their headings, and normalize again."""
        vectors = normalise(sums)
        headed = [index for index, heading in enumerate(headings) if heading]
        if headed:
            weighted = vectors[headed] * self._table.text_weight
            weighted += self._sum_headings([headings[index] for index in headed])
            vectors[headed] = normalise(np.rint(weighted * np.float32(STEPS)))
        return vectors

    def _sum_headings(self, headings: Sequence[str]) -> Vectors:
        """Return the weighted sum of name and place of each heading: float32 [len(headings), dimension]."""
        if len(self._headings) > HEADING_LIMIT:
            self._headings.clear()
        distinct = {heading: index for index, heading in enumerate(dict.fromkeys(headings))}
        if fresh := [heading for heading in distinct if heading not in self._headings]:
            self._headings.update(zip(fresh, self._weigh_headings(fresh), strict=True))
        rows = np.stack([self._headings[heading] for heading in distinct])
        return rows[[distinct[heading] for heading in headings]]

    def _weigh_headings(self, headings: Sequence[str]) -> Vectors:
        table = self._table
        pairs = [split_heading(heading) for heading in headings]
        places = {place: number for number, place in enumerate(dict.fromkeys(place for _, place in pairs))}
        names = normalise(table.sum_words(NAME, [name for name, _ in pairs])) * table.name_weight
        rows = normalise(table.sum_words(PLACE, list(places))) * table.place_weight
        weighed: Vectors = names + rows[[places[place] for _, place in pairs]]
        return weighed


@lru_cache(maxsize=1)
def _find_libraries() -> ThreadpoolController:
    """Return the control of BLAS threads, which for small matrices double the CPU time by waiting."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def split_heading(heading: str) -> tuple[str, str]:
    """Split a heading into the name of the function and its place, module and class."""
    module, _, qualname = heading.rpartition(" ")
    owners, _, name = qualname.rpartition(".")
    return name, f"{module} {owners}"


def normalise(sums: Vectors) -> Vectors:
    """Normalize rows of integers, float32 [n, dimension]; a zero row stays zero, with cosine 0 (P-14)."""
    norms = np.sqrt(np.einsum("ij,ij->i", sums, sums, dtype=np.float64))
    norms[norms == 0] = 1
    vectors: Vectors = (sums / norms[:, None]).astype(np.float32)
    return vectors
