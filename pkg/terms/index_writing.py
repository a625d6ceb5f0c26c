"""Invert the terms of a generation into their file, with memory that does not grow with the postings.

Postings are sorted in runs of a temporary file beside the index, which are merged by ranges of the terms. What grows
with the nodes is 30 bytes of each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt

from pkg.model import Label
from pkg.private_files import replace_file
from pkg.terms.index_file import FileColumn, SegmentTable, write_tables
from pkg.terms.index_segment import FragmentReader, Nodes, StoredTerms
from pkg.terms.inverted_index import LexicalIndex, Postings, pack_postings
from pkg.terms.packed_terms import unpack_batches

RUN = 2_000_000  # postings that are sorted at once: 16 MB
RANGES = 256  # of the terms: the merge holds the postings of one


def write_terms(path: Path, stamp: str, stored: Iterable[StoredTerms], groups: Sequence[Collection[Label]]) -> None:
    """Write a segment for each group of labels, with the terms of all fragments, under the stamp of a generation.

    The file is replaced atomically. Raises OSError where it cannot be written, StoreCorruptError for terms that cannot
    be read.
    """
    with ExitStack() as stack, replace_file(path) as temporary, open(temporary, "wb") as file:

        def open_file() -> IO[bytes]:
            return cast("IO[bytes]", stack.enter_context(TemporaryFile(dir=path.parent)))

        segments = [_Segment(Runs(open_file())) for _ in groups]
        reader = FragmentReader(stored)
        for found in unpack_batches(reader.take_blobs(), {label for group in groups for label in group}):
            nodes = reader.join(found)
            for group, segment in zip(groups, segments, strict=True):
                segment.add(nodes.select(group))
        names, places = reader.sort_sources()
        tables = []
        for segment in segments:
            columns = segment.join_nodes()
            columns["sources"] = places[columns["sources"]]
            lists = segment.merge(FileColumn(open_file(), "<i4"), FileColumn(open_file(), "u1"))
            tables.append(SegmentTable(names, segment.total, {**lists, **columns}))
        write_tables(file, stamp, tables)


class Runs:
    """Postings in sorted runs of a file; fewer than one run stay in memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._bounds: list[npt.NDArray[np.int64]] = []  # of the ranges in each run: [RANGES + 1]
        self._waiting: list[Postings] = []
        self._size = 0

    def add(self, postings: Postings) -> None:
        """Add postings in any order."""
        self._waiting.append(postings)
        self._size += len(postings)
        if self._size > RUN:
            self._write()

    def merge(self) -> Iterator[Postings]:
        """Yield all postings in ascending order, those of a term together; once."""
        if not self._bounds:
            yield self._sort()
            return
        self._write()
        starts = np.cumsum([0, *(bounds[-1] for bounds in self._bounds)])
        for place in range(RANGES):
            pieces = []
            for start, bounds in zip(starts.tolist(), self._bounds, strict=False):
                low, high = bounds[place : place + 2].tolist()
                self._file.seek(8 * (start + low))
                pieces.append(np.frombuffer(self._file.read(8 * (high - low)), np.uint64))
            found = np.concatenate(pieces)
            found.sort()
            yield found

    def _sort(self) -> Postings:
        postings = np.concatenate([*self._waiting, np.zeros(0, np.uint64)])
        self._waiting, self._size = [], 0
        postings.sort()
        return postings

    def _write(self) -> None:
        postings = self._sort()
        edges = np.arange(1, RANGES, dtype=np.uint64) << np.uint64(64 - RANGES.bit_length() + 1)
        self._bounds.append(np.concatenate([[0], np.searchsorted(postings, edges), [len(postings)]]).astype(np.int64))
        self._file.write(postings.data)


class _Segment:
    """The segment of a group of labels that is being made."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._nodes: dict[str, list[npt.NDArray[Any]]] = {}  # columns, in pieces
        self.total = 0  # nodes

    def add(self, nodes: Nodes) -> None:
        """Add nodes of the group."""
        self._runs.add(pack_postings(nodes.rows, self.total))
        self.total += len(nodes.labels)
        columns: dict[str, npt.NDArray[Any]] = {
            "ids": nodes.keys.ids,
            "contents": nodes.keys.contents,
            "fragments": nodes.fragments,
            "sources": nodes.sources,
            "labels": nodes.labels,
        }
        for name, column in columns.items():
            self._nodes.setdefault(name, []).append(column)

    def join_nodes(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of the nodes, by name."""
        return {name: np.concatenate(self._nodes.pop(name)) for name in tuple(self._nodes)}

    def merge(self, rows: FileColumn, weights: FileColumn) -> dict[str, npt.NDArray[Any] | FileColumn]:
        """Return the columns of the posting lists, by name; rows and weights are filled."""
        terms, offsets, end = [], [], 0
        for postings in self._runs.merge():
            part = LexicalIndex.from_sorted(postings, self.total)
            terms.append(part.terms)
            offsets.append(part.offsets[:-1] + end)
            rows.append(part.rows)
            weights.append(part.weights)
            end += len(postings)
        lists = {"terms": np.concatenate(terms), "offsets": np.append(np.concatenate(offsets), end)}
        return {**lists, "rows": rows, "impacts": weights}
