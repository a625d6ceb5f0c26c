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
from pkg.terms.packed_terms import TERM_LABELS, LabelNumbers, NodeKeys, TermRows, Unpacked, unpack_terms
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


class Nodes(NamedTuple):
    """Nodes with their terms; each column has an entry for each node."""

    keys: NodeKeys
    labels: LabelNumbers
    rows: TermRows
    fragments: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int32]

    def select(self, group: Collection[Label]) -> Nodes:
        """Return the nodes of a group of labels."""
        keep = np.isin(self.labels, [TERM_LABELS.index(label) for label in group])
        counts, hashes, weights = self.rows
        kept = np.repeat(keep, counts)
        return Nodes(
            NodeKeys(self.keys.ids[keep], self.keys.contents[keep]),
            self.labels[keep],
            TermRows(counts[keep], hashes[kept], weights[kept]),
            self.fragments[keep],
            self.sources[keep],
        )


class FragmentReader:
    """The blobs of stored terms, to be unpacked one by one, with the fragment and the source of each."""

    def __init__(self, stored: Iterable[StoredTerms]) -> None:
        self._stored = stored
        self._numbers: list[int] = []  # of the fragments since the last call of join
        self._sources: list[int] = []
        self._owners: dict[str, int] = {}  # numbers of the sources in the order of their first fragments

    def take_blobs(self) -> Iterator[bytes]:
        """Yield the terms of each fragment: all together would fill the memory."""
        for number, source, blob in self._stored:
            self._numbers.append(number)
            self._sources.append(self._owners.setdefault(source, len(self._owners)))
            yield blob

    def join(self, found: Unpacked) -> Nodes:
        """Return the nodes that were unpacked from the blobs taken since the last call."""
        fragments = np.repeat(np.array(self._numbers, np.int64), found.counts)
        sources = np.repeat(np.array(self._sources, np.int32), found.counts)
        self._numbers, self._sources = [], []
        return Nodes(found.keys, found.labels, found.rows, fragments, sources)

    def sort_sources(self) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
        """Return the names of the sources, sorted, and the place there of each number: int32 [sources]."""
        names = tuple(sorted(self._owners))
        places = {name: place for place, name in enumerate(names)}
        return names, np.array([places[name] for name in self._owners], np.int32)


def make_text_segments(stored: Iterable[StoredTerms], groups: Sequence[Collection[Label]]) -> list[TextSegment]:
    """Build a segment for each group of labels from the terms of all fragments, which are read once."""
    reader = FragmentReader(stored)
    nodes = reader.join(unpack_terms(reader.take_blobs(), {label for group in groups for label in group}))
    names, places = reader.sort_sources()
    return [_make_segment(nodes.select(group), names, places) for group in groups]


def _make_segment(nodes: Nodes, names: tuple[str, ...], places: npt.NDArray[np.int32]) -> TextSegment:
    return TextSegment(
        index=LexicalIndex.from_postings(nodes.rows),
        ids=nodes.keys.ids,
        contents=nodes.keys.contents,
        fragments=nodes.fragments,
        sources=places[nodes.sources],
        labels=nodes.labels,
        names=names,
    )
