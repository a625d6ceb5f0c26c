"""The nodes of one label or several for lexical search: an inverted index, and columns that identify them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pkg.errors import NodeNotFoundError
from pkg.model import Label, Matches
from pkg.terms.inverted_index import Asked, LexicalIndex, Mask, Scores, TermScores, find_top
from pkg.terms.packed_terms import TERM_LABELS, LabelNumbers, NodeKeys, TermRows, unpack_terms
from pkg.vectors.best import Rows, count_equal, make_matches, pick_representatives

OVERSAMPLING = 64  # nodes beyond k in the first pass; more follow when duplicates use them up

StoredTerms = tuple[int, str, bytes]  # number of a fragment, its source, its packed terms


@dataclass(frozen=True)
class TextSegment:
    """Terms of n nodes; row i of the index is the node of entry i of each column."""

    index: LexicalIndex
    ids: npt.NDArray[np.uint64]
    contents: npt.NDArray[np.uint64]  # hashes of the contents
    fragments: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int32]  # indices into names
    labels: LabelNumbers
    names: tuple[str, ...]

    def __len__(self) -> int:
        return self.index.total

    def count(self, label: Label) -> int:
        """Count the nodes of a label."""
        return int((self.labels == TERM_LABELS.index(label)).sum())

    def filter(self, source: str | None, fragments: Collection[int] | None, label: Label | None = None) -> Mask | None:
        """Return the nodes of a source, of some fragments and of a label: bool [nodes], None for all."""
        if source is None and fragments is None and label is None:
            return None
        keep = np.ones(len(self), bool) if label is None else self.labels == TERM_LABELS.index(label)
        if source is not None:
            keep &= self.sources == (self.names.index(source) if source in self.names else -1)
        if fragments is not None:
            keep &= np.isin(self.fragments, np.fromiter(fragments, np.int64, len(fragments)))
        return keep

    def search(self, terms: Mapping[str, float], k: int, keep: Mask | None) -> Matches:
        """Find the k nodes of highest score and distinct content that hold any of the terms, ties by id.

        `keep`, bool [nodes], restricts the search; None takes all.
        """
        total = len(self)
        filtered = 0 if keep is None else total - int(keep.sum())
        if k < 1 or filtered == total:
            return Matches((), total, filtered, 0)
        scores = self.index.score(terms)
        leaders = self.find_leaders(scores, k, keep)
        counts = self.count_equal(self.contents[leaders], scores, keep)
        matches = make_matches(self.ids[leaders], scores[leaders], counts)
        return Matches(matches, total, filtered, sum(match.same_content for match in matches))

    def weigh(self, terms: Collection[str]) -> list[float]:
        """Return the rarity of terms among the nodes."""
        return self.index.weigh(terms)

    def list_best(
        self, terms: Mapping[str, float], k: int, keep: Mask | None, asked: Asked | None = None
    ) -> list[tuple[str, float]]:
        """Return id and score of the k best nodes, best first, ties by id, duplicates included.

        `keep`, bool [nodes], restricts the search; None takes all. asked: as for LexicalIndex.score.
        """
        scores = self.index.score(terms, asked)
        top = find_top(scores, k, keep)
        top = top[np.lexsort((self.ids[top], -scores[top]))][:k]
        return [
            (f"{number:016x}", score)
            for number, score in zip(self.ids[top].tolist(), scores[top].tolist(), strict=True)
        ]

    def split_ids(self, ids: Sequence[str], terms: Mapping[str, float]) -> TermScores:
        """Return the contribution of each term to each node's score; raises NodeNotFoundError for an unknown id."""
        rows, known = self.find_rows(ids)
        if not known.all():
            raise make_unknown(ids[int(np.argmin(known))])
        return self.index.split(rows, terms)

    def find_rows(self, ids: Sequence[str]) -> tuple[Rows, Mask]:
        """Return the row of each node, int64 [n], and whether there is one, bool [n]."""
        order = self._order
        asked = np.array([_parse(each) for each in ids], np.uint64)
        places = np.minimum(np.searchsorted(self.ids, asked, sorter=order), max(len(order) - 1, 0))
        rows: Rows = order[places] if len(order) else places
        return rows, self.ids[rows] == asked if len(order) else np.zeros(len(ids), bool)

    @cached_property
    def _order(self) -> Rows:
        return np.argsort(self.ids, kind="stable")

    def find_leaders(self, scores: Scores, k: int, keep: Mask | None) -> Rows:
        """Return the rows of the k best nodes of distinct content, best first."""
        look = k + OVERSAMPLING
        while True:
            top = find_top(scores, look, keep)
            leaders = top[pick_representatives(self.ids[top], scores[top], self.contents[top])]
            if len(leaders) >= k or len(top) < look:
                return leaders[:k]
            look *= 4

    def count_equal(self, contents: npt.NDArray[np.uint64], scores: Scores, keep: Mask | None) -> Rows:
        """Count the nodes of each of some contents, uint64 [contents], that score and that a mask keeps."""
        return count_equal(
            self.contents, contents, lambda near: (scores[near] > 0) & (True if keep is None else keep[near])
        )


def make_unknown(identity: str) -> NodeNotFoundError:
    """Return the error for an id without terms."""
    return NodeNotFoundError(f"no terms of a node '{identity}'; expected the id of a node that a search gave")


def _parse(identity: str) -> int:
    """Parse an id; anything else is 0, which no node has."""
    is_id = len(identity) == 16 and identity.isascii() and identity.isalnum()
    try:
        return int(identity, 16) if is_id else 0
    except ValueError:
        return 0


def make_text_segments(stored: Iterable[StoredTerms], groups: Sequence[Collection[Label]]) -> list[TextSegment]:
    """Build a segment for each group of labels from the terms of all fragments, which are read once."""
    fragments: list[int] = []
    owners: list[str] = []

    def take_blobs() -> Iterator[bytes]:  # one by one: all together fill the memory
        for number, source, blob in stored:
            fragments.append(number)
            owners.append(source)
            yield blob

    counts, keys, numbers, rows = unpack_terms(take_blobs(), {label for group in groups for label in group})
    names = tuple(sorted(set(owners)))
    places = {name: place for place, name in enumerate(names)}
    of_nodes = np.repeat(np.array(fragments, np.int64), counts)
    sources = np.repeat(np.array([places[name] for name in owners], np.int32), counts)
    return [_make_segment(_Nodes(keys, numbers, rows, of_nodes, sources), names, group) for group in groups]


class _Nodes(NamedTuple):
    keys: NodeKeys
    labels: LabelNumbers
    rows: TermRows
    fragments: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int32]


def _make_segment(nodes: _Nodes, names: tuple[str, ...], group: Collection[Label]) -> TextSegment:
    keep = np.isin(nodes.labels, [TERM_LABELS.index(label) for label in group])
    counts, hashes, weights = nodes.rows
    kept = np.repeat(keep, counts)
    return TextSegment(
        index=LexicalIndex.from_postings(TermRows(counts[keep], hashes[kept], weights[kept])),
        ids=nodes.keys.ids[keep],
        contents=nodes.keys.contents[keep],
        fragments=nodes.fragments[keep],
        sources=nodes.sources[keep],
        labels=nodes.labels[keep],
        names=names,
    )
