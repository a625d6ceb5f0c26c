"""The terms of one label in several indexes, searched as one: the counts of all of them make a term rare or common."""

from __future__ import annotations

from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

import numpy as np

from pkg.model import Label, Matches
from pkg.terms.index_segment import TextSegment, make_unknown
from pkg.terms.inverted_index import Asked, Mask, TermScores, find_rarity, hash_terms
from pkg.terms.packed_terms import TERM_LABELS
from pkg.vectors.best import Best, make_matches, merge_best


def join_fragments(found: Sequence[Collection[int]]) -> list[int]:
    """Number the fragments of several stores as one list: those of part i follow i * 2**32."""
    return [place << 32 | number for place, numbers in enumerate(found) for number in numbers]


@dataclass(frozen=True)
class TextPart:
    """One index, and its nodes that another index also holds: bool [nodes], None for none."""

    segment: TextSegment
    left_out: Mask | None

    def count(self) -> int:
        """Count the nodes that are not left out."""
        return len(self.segment) - (0 if self.left_out is None else int(self.left_out.sum()))

    @cached_property
    def left_out_counts(self) -> dict[int, int]:
        """Return the number of left out nodes that hold a term, by the number of the term."""
        index = self.segment.index
        postings = np.flatnonzero(False if self.left_out is None else self.left_out.take(index.rows))
        places, counts = np.unique(np.searchsorted(index.offsets, postings, "right") - 1, return_counts=True)
        return dict(zip(index.terms[places].tolist(), counts.tolist(), strict=True))


@dataclass(frozen=True)
class TextParts:
    """The interface of TextSegment over several indexes; a mask has the nodes of all, one index after the other.

    Scores and order are those of one index of all nodes.
    """

    parts: Sequence[TextPart]
    places: MutableMapping[str, int]  # gets the place of the index of each node that a search finds
    _asked: dict[tuple[str, ...], list[Asked]] = field(default_factory=dict)  # the last terms, in each index

    def __len__(self) -> int:
        return self._total

    @cached_property
    def _total(self) -> int:
        return sum(part.count() for part in self.parts)

    def count(self, label: Label) -> int:
        """Count the nodes of a label."""
        number = TERM_LABELS.index(label)
        return sum(
            int(((part.segment.labels == number) & (True if part.left_out is None else ~part.left_out)).sum())
            for part in self.parts
        )

    def filter(self, source: str | None, fragments: Collection[int] | None, label: Label | None = None) -> Mask | None:
        """Return the nodes of a source, of some fragments (join_fragments) and of a label; None for all."""
        joined = None if fragments is None else np.fromiter(fragments, np.int64, len(fragments))
        keeps: list[Mask | None] = []
        for place, (segment, left_out) in enumerate((part.segment, part.left_out) for part in self.parts):
            own = None if joined is None else (joined[joined >> 32 == place] & 0xFFFFFFFF).tolist()
            keep = segment.filter(source, own, label)
            keeps.append(keep if left_out is None else ~left_out if keep is None else keep & ~left_out)
        if all(keep is None for keep in keeps):
            return None
        sizes = [len(part.segment) for part in self.parts]
        return np.concatenate(
            [np.ones(size, bool) if keep is None else keep for size, keep in zip(sizes, keeps, strict=True)]
        )

    def search(self, terms: Mapping[str, float], k: int, keep: Mask | None) -> Matches:
        """Find the k nodes of highest score and distinct content that hold any of the terms, ties by id."""
        total = len(self)
        filtered = 0 if keep is None else total - int(keep.sum())
        if k < 1 or filtered == total:
            return Matches((), total, filtered, 0)
        scored, found = [], []
        for part, asked, kept in zip(self.parts, self._ask(terms), self._cut(keep), strict=True):
            segment, scores = part.segment, part.segment.index.score(terms, asked)
            rows = segment.find_leaders(scores, k, kept)
            found.append(Best(segment.ids[rows], scores[rows], segment.contents[rows]))
            scored.append((segment, scores, kept))
        best, places = merge_best(found, k)
        counts = sum(segment.count_equal(best.contents, scores, kept) for segment, scores, kept in scored)
        matches = make_matches(best.ids, best.scores, np.asarray(counts))
        self.places.update(zip((match.id for match in matches), places.tolist(), strict=True))
        return Matches(matches, total, filtered, sum(match.same_content for match in matches))

    def list_best(self, terms: Mapping[str, float], k: int, keep: Mask | None) -> list[tuple[str, float]]:
        """Return id and score of the k best nodes, best first, ties by id, duplicates included."""
        found = []
        for place, (part, asked, kept) in enumerate(zip(self.parts, self._ask(terms), self._cut(keep), strict=True)):
            best = part.segment.list_best(terms, k, kept, asked)
            self.places.update((identity, place) for identity, _ in best)
            found += best
        return sorted(found, key=lambda each: (-each[1], each[0]))[:k]

    def weigh(self, terms: Collection[str]) -> list[float]:
        """Return the rarity of terms among the nodes of all indexes."""
        return list(self._ask(terms)[0].rarities)

    def split_ids(self, ids: Sequence[str], terms: Mapping[str, float]) -> TermScores:
        """Return the contribution of each term to each node's score; raises NodeNotFoundError for an unknown id."""
        asked, scores = self._ask(terms), np.zeros((len(ids), len(terms)))
        rows_of: list[list[int]] = [[] for _ in self.parts]
        for row, identity in enumerate(ids):
            place = self.places.get(identity)
            for rows in rows_of if place is None else rows_of[place : place + 1]:
                rows.append(row)
        missing = set(range(len(ids)))
        for part, own, rows in zip(self.parts, asked, rows_of, strict=True):
            places, known = part.segment.find_rows([ids[row] for row in rows])
            found = np.array(rows, np.int64)[known]
            if len(found):  # a node that several hold has equal terms in each
                scores[found] = part.segment.index.split(places[known], terms, own).scores
                missing.difference_update(found.tolist())
        if missing:
            raise make_unknown(ids[min(missing)])
        return TermScores(scores, np.maximum([*terms.values()], 0.0) * asked[0].rarities)

    def _ask(self, terms: Collection[str]) -> list[Asked]:
        """Find terms in each index; their counts are added up."""
        listed = tuple(terms)
        if listed not in self._asked:  # a question looks its terms up several times
            numbers, counts, spans = hash_terms(listed), np.zeros(len(listed), np.int64), []
            for part in self.parts:
                starts, ends = part.segment.index.find(numbers)
                spans.append(list(zip(starts.tolist(), ends.tolist(), strict=True)))
                counts += ends - starts
                if part.left_out is not None:
                    counts -= [part.left_out_counts.get(number, 0) for number in numbers.tolist()]
            rarities = [find_rarity(len(self), count) for count in counts.tolist()]
            self._asked.clear()
            self._asked[listed] = [Asked(each, rarities) for each in spans]
        return self._asked[listed]

    def _cut(self, keep: Mask | None) -> list[Mask | None]:
        """Cut a mask into those of the indexes."""
        ends = list(accumulate(len(part.segment) for part in self.parts))
        return [None] * len(ends) if keep is None else list(np.split(keep, ends[:-1]))
