"""Lexical search by an index of our own, the same for every store: inverted lists of impacts (A-01).

A question is a set of terms with weights. A node scores for each term that it holds: the weight, times how rare the
term is in this graph, times the share of a full score that the impact of the term earns. Everything is added up in the
order of the terms, so that the same graph gives the same scores, to the bit, whatever store it lies in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pkg.terms.impacts import TermRows, saturations
from pkg.terms.words import hash_term
from pkg.vectors.best import find_score_bound

Scores = npt.NDArray[np.float32]
"""One score for each node of an index, in the order of its rows: float32 [total]."""
Mask = npt.NDArray[np.bool_]
"""Which nodes of an index count: bool [total]."""
MAX_ROWS = 1 << 24  # nodes of one index: a row number, a term and an impact are sorted as one number of 64 bits


class TextParts(NamedTuple):
    """What the terms of a question, in their order, add to the scores of n nodes."""

    scores: npt.NDArray[np.float64]  # [n, terms]; 0 where a node does not hold a term
    rarities: npt.NDArray[np.float64]  # [terms]: the weight of each term, times how rare it is in the graph


@dataclass(frozen=True, slots=True)
class LexicalIndex:
    """The terms of n nodes, inverted: term i stands in rows[offsets[i]:offsets[i + 1]], with these impacts."""

    terms: npt.NDArray[np.uint32]  # ascending
    offsets: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    impacts: npt.NDArray[np.uint8]
    total: int  # nodes, those without terms too

    @classmethod
    def from_postings(cls, postings: TermRows) -> LexicalIndex:
        """Invert the terms of nodes; node i becomes row i, and more than MAX_ROWS are a ValueError."""
        counts, hashes, impacts = postings
        if len(counts) > MAX_ROWS:
            raise ValueError(f"{len(counts):,} nodes are more than one index holds, {MAX_ROWS:,}")
        keys = hashes.astype(np.uint64)  # changed in place: there are millions
        keys <<= np.uint64(32)
        keys |= np.repeat(np.arange(len(counts), dtype=np.uint64) << np.uint64(8), counts)
        keys |= impacts
        keys.sort()
        sorted_hashes = (keys >> np.uint64(32)).astype(np.uint32)
        starts = np.flatnonzero(np.diff(sorted_hashes, prepend=~sorted_hashes[:1]))
        return cls(
            sorted_hashes[starts],
            np.append(starts, len(keys)).astype(np.int64),
            (keys >> np.uint64(8) & np.uint64(MAX_ROWS - 1)).astype(np.int32),
            (keys & np.uint64(255)).astype(np.uint8),
            len(counts),
        )

    def score(self, terms: Mapping[str, float]) -> Scores:
        """Score every node for weighted terms: float32 [total], 0 for a node that holds none of them."""
        scores = np.zeros(self.total, np.float32)
        ordered = sorted(terms)
        for (low, high), weight in zip(self._find(ordered), map(terms.__getitem__, ordered), strict=True):
            if low < high and weight > 0:
                shares = saturations() * np.float32(weight * self._rarity(high - low))
                gains = shares.take(self.impacts[low:high], mode="clip")  # a byte is never out of 256: no check
                if high - low == self.total:  # as of `def`: row after row
                    scores += gains
                else:
                    np.add.at(scores, self.rows[low:high].astype(np.intp), gains)
        return scores

    def split(self, rows: npt.NDArray[np.int64], terms: Mapping[str, float]) -> TextParts:
        """Tell what each term adds to the score of each of some rows, int64 [n]; costs little where rows are few."""
        spans = self._find(terms)
        rarities = np.maximum([*terms.values()], 0.0) * [self._rarity(high - low) for low, high in spans]
        parts = TextParts(np.zeros((len(rows), len(terms))), rarities)
        held = [column for column, (low, high) in enumerate(spans) if low < high]
        if held:
            asked = rows.astype(np.int32)  # of the type of the lists, or every search would copy one
            found = [low + self.rows[low:high].searchsorted(asked) for low, high in map(spans.__getitem__, held)]
            places = np.minimum(np.stack(found, axis=1), [spans[column][1] - 1 for column in held])
            shares = saturations()[self.impacts[places]] * rarities[held]
            parts.scores[:, held] = np.where(self.rows[places] == asked[:, None], shares, 0)
        return parts

    def weigh(self, terms: Iterable[str]) -> list[float]:
        """Tell how rare terms are: from 0 for one that all nodes hold to the logarithm of their number (BM25's idf)."""
        return [self._rarity(high - low) for low, high in self._find(terms)]

    def _rarity(self, count: int) -> float:
        return log(1 + (self.total - count + 0.5) / (count + 0.5))

    def _find(self, terms: Iterable[str]) -> list[tuple[int, int]]:
        """Give where the list of each term begins and ends; all are looked up together, for most may stand nowhere."""
        numbers = np.array([hash_term(term) for term in terms], np.uint32)
        places = np.searchsorted(self.terms, numbers)
        ends = np.minimum(places + 1, len(self.terms))  # of a term that is held; else where it begins
        ends = np.where(self.terms[ends - 1] == numbers, ends, places) if len(self.terms) else places
        return list(zip(self.offsets[places].tolist(), self.offsets[ends].tolist(), strict=True))


def find_top(scores: Scores, k: int, keep: Mask | None = None) -> npt.NDArray[np.int64]:
    """Give the rows of the k highest scores above 0, best first; all of those that equal the last.

    So whoever calls can break ties by id: int64 [k], or somewhat longer for the ties, or shorter where fewer score.
    """
    if k < 1:
        return np.zeros(0, np.int64)
    kept = scores if keep is None else np.where(keep, scores, np.float32(0))
    bound = find_score_bound(kept, k) if k < len(kept) else 0.0
    scored = np.flatnonzero(kept >= bound if bound > 0 else kept > 0)
    scored = scored[np.argsort(-kept[scored], kind="stable")]
    return scored[kept[scored] >= kept[scored[k - 1]]] if k < len(scored) else scored
