"""An inverted index for lexical search, the same for every store: posting lists of term weights (A-01).

A question is a set of weighted terms. Each term that a node holds adds to its score: the weight of the term in the
question, times its rarity in this graph, times the share of a full score that its weight in the node earns. Summation
follows the order of the terms, so that the same graph gives the same scores, to the bit, in any store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pkg.terms.packed_terms import TermRows, saturations
from pkg.terms.words import hash_term
from pkg.vectors.best import find_score_bound

Scores = npt.NDArray[np.float32]
"""One score for each node of an index, in the order of its rows: float32 [total]."""
Offsets = npt.NDArray[np.int64]
"""Places in the posting lists: int64 [terms]."""
Mask = npt.NDArray[np.bool_]
"""Selected nodes of an index: bool [total]."""
Postings = npt.NDArray[np.uint64]
"""A term, a row and a weight each, from the high bits to the low: uint64 [n]."""
MAX_ROWS = 1 << 24  # nodes of one index, so that a posting has 64 bits


class TermScores(NamedTuple):
    """Contributions of the terms of a question, in their order, to the scores of n nodes."""

    scores: npt.NDArray[np.float64]  # [n, terms]; 0 where a node does not hold a term
    rarities: npt.NDArray[np.float64]  # [terms]: the weight of each term, times its rarity in the graph


class Asked(NamedTuple):
    """The terms of a question in an index, in their order."""

    spans: Sequence[tuple[int, int]]  # start and end of the posting list of each; equal where no node holds it
    rarities: Sequence[float]


@dataclass(frozen=True, slots=True)
class LexicalIndex:
    """Posting lists of n nodes: the nodes of term i are rows[offsets[i]:offsets[i + 1]], with the weights there."""

    terms: npt.NDArray[np.uint32]  # ascending
    offsets: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    weights: npt.NDArray[np.uint8]
    total: int  # nodes, including those without terms

    @classmethod
    def from_postings(cls, rows: TermRows) -> LexicalIndex:
        """Invert the terms of nodes; node i becomes row i. Raises ValueError for more than MAX_ROWS nodes."""
        postings = pack_postings(rows)
        postings.sort()
        return cls.from_sorted(postings, len(rows.counts))

    @classmethod
    def from_sorted(cls, postings: Postings, total: int) -> LexicalIndex:
        """Create the index of some nodes from their sorted postings."""
        hashes = (postings >> np.uint64(32)).astype(np.uint32)
        starts = np.flatnonzero(np.diff(hashes, prepend=~hashes[:1]))
        return cls(
            hashes[starts],
            np.append(starts, len(postings)).astype(np.int64),
            (postings >> np.uint64(8) & np.uint64(MAX_ROWS - 1)).astype(np.int32),
            (postings & np.uint64(255)).astype(np.uint8),
            total,
        )

    def look_up(self, terms: Collection[str]) -> Asked:
        """Find the posting lists of terms, and their rarities in this index."""
        starts, ends = self.find(hash_terms(terms))
        absent = find_rarity(self.total, 0)  # most terms are related words or absent abbreviations
        counts = (ends - starts).tolist()
        rarities = [find_rarity(self.total, count) if count else absent for count in counts]
        return Asked(list(zip(starts.tolist(), ends.tolist(), strict=True)), rarities)

    def score(self, terms: Mapping[str, float], asked: Asked | None = None) -> Scores:
        """Score every node for weighted terms: float32 [total], 0 for a node that holds none of them.

        asked: the terms with other rarities, as in a graph of which this index holds a part.
        """
        scores = np.zeros(self.total, np.float32)
        for term, (low, high), rarity in sorted(zip(terms, *(asked or self.look_up(terms)), strict=True)):
            weight = terms[term]
            if low < high and weight > 0:
                shares = saturations() * np.float32(weight * rarity)
                gains = shares.take(self.weights[low:high], mode="clip")  # a byte is always below 256: no check
                if high - low == self.total:  # as for `def`: row after row
                    scores += gains
                else:
                    np.add.at(scores, self.rows[low:high].astype(np.intp), gains)
        return scores

    def split(self, rows: npt.NDArray[np.int64], terms: Mapping[str, float], asked: Asked | None = None) -> TermScores:
        """Return the contribution of each term to the score of each of some rows, int64 [n]; cheap for few rows.

        asked: as for score.
        """
        spans, known = asked or self.look_up(terms)
        rarities = np.maximum([*terms.values()], 0.0) * known
        parts = TermScores(np.zeros((len(rows), len(terms))), rarities)
        held = [column for column, (low, high) in enumerate(spans) if low < high]
        if held:
            order = np.argsort(rows)  # ascending rows are found several times as fast
            wanted = rows[order].astype(np.int32)  # of the type of the lists, or every search would copy one
            found = [low + self.rows[low:high].searchsorted(wanted) for low, high in map(spans.__getitem__, held)]
            places = np.minimum(np.stack(found, axis=1), [spans[column][1] - 1 for column in held])
            shares = saturations()[self.weights[places]] * rarities[held]
            parts.scores[order[:, None], held] = np.where(self.rows[places] == wanted[:, None], shares, 0)
        return parts

    def weigh(self, terms: Collection[str]) -> list[float]:
        """Return the rarity of terms: from 0 if all nodes hold it to the logarithm of their number (BM25's idf)."""
        return list(self.look_up(terms).rarities)

    def find(self, numbers: npt.NDArray[np.uint32]) -> tuple[Offsets, Offsets]:
        """Return start and end of the posting list of each term; one look-up for all, as most may be absent.

        numbers: uint32 [terms].
        """
        places = np.searchsorted(self.terms, numbers)
        ends = np.minimum(places + 1, len(self.terms))  # of a known term; otherwise its start
        ends = np.where(self.terms[ends - 1] == numbers, ends, places) if len(self.terms) else places
        return self.offsets[places], self.offsets[ends]


def pack_postings(rows: TermRows, first: int = 0) -> Postings:
    """Pack the terms of nodes as numbers to sort; first: row of the first node.

    Raises ValueError for a row beyond MAX_ROWS.
    """
    counts, hashes, weights = rows
    end = first + len(counts)
    if end > MAX_ROWS:
        raise ValueError(f"{end:,} nodes are more than one index holds, {MAX_ROWS:,}")
    postings = hashes.astype(np.uint64)  # changed in place: there are millions
    postings <<= np.uint64(32)
    postings |= np.repeat(np.arange(first, end, dtype=np.uint64) << np.uint64(8), counts)
    postings |= weights
    return postings


def hash_terms(terms: Iterable[str]) -> npt.NDArray[np.uint32]:
    """Return the numbers of terms, as an index holds them: uint32 [terms]."""
    return np.array([hash_term(term) for term in terms], np.uint32)


def find_rarity(total: int, count: int) -> float:
    """Return the rarity of a term that some of all nodes hold (BM25's idf)."""
    return log(1 + (total - count + 0.5) / (count + 0.5))


def find_top(scores: Scores, k: int, keep: Mask | None = None) -> npt.NDArray[np.int64]:
    """Return the rows of the k highest scores above 0, best first, with all ties of the last.

    The caller can then break ties by id: int64 [k], longer by the ties, or shorter where fewer score.
    """
    if k < 1:
        return np.zeros(0, np.int64)
    kept = scores if keep is None else np.where(keep, scores, np.float32(0))
    bound = find_score_bound(kept, k) if k < len(kept) else 0.0
    scored = np.flatnonzero(kept >= bound if bound > 0 else kept > 0)
    scored = scored[np.argsort(-kept[scored], kind="stable")]
    return scored[kept[scored] >= kept[scored[k - 1]]] if k < len(scored) else scored
