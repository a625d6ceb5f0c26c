"""The indexes of the embedded store: vectors and terms, kept in its tables and searched in files beside it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pkg.graph.embedded import sql
from pkg.graph.path_filter import make_path_pattern
from pkg.model import DECLARATION_LABELS, Label, Matches, Node, NodeFilter, leave_out
from pkg.private_files import repair_file
from pkg.terms.index_cache import TextCache

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pkg.graph.embedded.node_reading import NodeReader
    from pkg.terms.index_segment import StoredTerms, TextSegment
    from pkg.vectors.approximate import Finder
    from pkg.vectors.exact import Columns, Row, Segment
    from pkg.vectors.vector_file import VectorIndex


INDEXED = {label.value: (label,) for label in (Label.FUNCTION, Label.BLOCK, Label.CHUNK)} | {
    "Declaration": DECLARATION_LABELS
}
"""The labels that queries search, those that are searched together under one name; the vectors of the others are read
from the database when asked for."""

APPROXIMATE_ABOVE = 5_000_000
"""Vectors of a label up to which the exact scan is all there is: from there on it costs more than 50 CPU milliseconds.

An index costs as much as some 30,000 questions save, so it would pay earlier only for a server that is asked that often
between two builds (benchmarks/results/approximate.json; beyond 3.2 million vectors by a straight line).
"""


CACHED_FILTERS = 16  # of a generation, each with a number for every file that passes


class StampChange(NamedTuple):
    """A write by which nodes came and went while all others kept their vectors: the stamps around it."""

    before: str
    now: str


class EmbeddedVectors:
    """Open the codes of one generation, and search them."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        get_meta: Callable[[str], Any],
        find_fragments: Callable[[NodeFilter], list[int]],
        approximate_above: int,
    ) -> None:
        self._connection, self._get_meta, self._find_fragments = connection, get_meta, find_fragments
        self.path = path.with_name(path.name + "-vectors")
        self._index: VectorIndex | None = None
        self._approximate_above = approximate_above
        self._approximate = {name: self.path.with_name(f"{self.path.name}-{name.lower()}") for name in INDEXED}
        self._finders: dict[str, Finder | None] = {}  # of the same generation as the index

    @property
    def paths(self) -> tuple[Path, ...]:
        """Name the files beside the database: the codes, and the approximate indexes of labels with very many."""
        return self.path, *self._approximate.values()

    def search(self, label: Label, vector: npt.NDArray[np.float32], k: int, where: NodeFilter | None) -> Matches:
        """Find the k nodes of a label with the highest cosine, equal content folded, ties by id (P-14, P-17).

        vector: float32 [dimension].
        """
        segment, kinds = self._open_segment(label), sql.DECLARATION_KINDS.get(label)
        keep = self._mask(segment, where, kinds)
        found = self._search_segment(_name_group(label), segment, vector, k, keep)
        return found if kinds is None else leave_out(found, len(segment) - int(_is_of(segment, kinds).sum()))

    def search_declarations(self, vector: npt.NDArray[np.float32], k: int, where: NodeFilter | None) -> Matches:
        """Find the k nearest classes, constants and modules, all in one order; kinds of blocks do not narrow them.

        vector: float32 [dimension].
        """
        segment = self._open_segment(DECLARATION_LABELS[0])
        keep = self._mask(segment, replace(where, kinds=None) if where else None)
        return self._search_segment("Declaration", segment, vector, k, keep)

    def _search_segment(
        self, name: str, segment: Segment, vector: npt.NDArray[np.float32], k: int, keep: npt.NDArray[np.bool_] | None
    ) -> Matches:
        found = self._search_near(name, segment, vector, k) if keep is None else None
        return found or segment.search(vector, k, keep)

    def score(self, label: Label, numbers: Sequence[int], vector: npt.NDArray[np.float32]) -> dict[int, float]:
        """Compute the cosines of nodes of a label, by their numbers; those without a vector are left out.

        vector: float32 [dimension].
        """
        return self._open_segment(label).score(numbers, vector)

    def _search_near(self, name: str, segment: Segment, vector: npt.NDArray[np.float32], k: int) -> Matches | None:
        """Search through the approximate index; None where there is none, or where it does not find enough."""
        if len(segment) <= self._approximate_above or k < 1:
            return None
        if name not in self._finders:
            from pkg.vectors.approximate import open_finder

            self._finders[name] = open_finder(self._approximate[name], self._stamp(), segment)
        finder = self._finders[name]
        places = finder.find(vector, k) if finder else None
        return None if places is None else segment.search_among(places, vector, k)

    def _stamp(self) -> str:
        """Name the content of the store: every write makes a new name, also where copies of one store part ways."""
        return str(self._get_meta("stamp"))

    def write(self, step: StampChange | None = None) -> None:
        """Write the vector codes of the present generation; a reader makes up for it when this is cut short.

        Where a step led to it by which vectors only came and went, those of before are taken over from the file.
        """
        from pkg.vectors.vector_file import write_index

        stamp = self._stamp()
        counts = {name: self._count_vectors(name) for name in INDEXED}
        kept = self._keep_codes(step.before, counts) if step is not None and step.now == stamp else {}
        dimension = self._get_meta("dimension") or 0
        write_index(self.path, stamp, dimension, counts, lambda name: self._list_vectors(name, kept.get(name)), kept)

    def repair(self) -> list[str]:
        """Write the codes anew where their file is damaged; tell so."""
        from pkg.vectors.vector_file import has_sound_index

        return repair_file(self.path, has_sound_index, self.write)

    def _keep_codes(self, before: str, counts: Mapping[str, int]) -> dict[str, Columns]:
        """Give those codes of the generation before that are still there, by label.

        A write gives nodes higher numbers than any had when it began, and likewise fragments: what has the number of an
        old one is that. A label of which the numbers do not add up is left out.
        """
        import numpy as np

        from pkg.vectors.vector_file import read_index

        index = read_index(self.path)
        if index is None or index.stamp != before or not index.is_all_sound:
            return {}
        fragments = np.array(self._connection.execute(sql.LIST_FRAGMENTS).fetchall(), np.int64).reshape(-1)
        kept = {label: segment.keep_fragments(fragments) for label, segment in index.segments.items()}
        return {
            name: columns for name, columns in kept.items()
            if len(columns["number"]) + self._count_vectors(name, columns) == counts.get(name)
        }  # fmt: skip

    def read_indexed(self) -> VectorIndex | None:
        """Map the codes that approximate indexes may be of, before a write replaces them.

        None where there are none, or where they are damaged: what has changed since then cannot be told.
        """
        from pkg.vectors.vector_file import read_index

        index = read_index(self.path) if self._has_approximate() else None
        return index if index is not None and index.is_all_sound else None

    def write_approximate(self, before: VectorIndex | None) -> None:
        """Bring the approximate indexes up to the codes; before: the codes that they were made of."""
        from pkg.vectors.vector_file import read_index

        now = read_index(self.path)
        largest = max(map(len, now.segments.values())) if now else 0
        if now is not None and (largest > self._approximate_above or self._has_approximate()):
            from pkg.vectors.approximate import write_indexes

            write_indexes(self._approximate, before, now, self._approximate_above)

    def _has_approximate(self) -> bool:
        return any(path.exists() for path in self._approximate.values())

    def _count_vectors(self, name: str, kept: Columns | None = None) -> int:
        return int(self._connection.execute(sql.COUNT_VECTORS, (_make_bits(name), _find_last(kept))).fetchone()[0])

    def _list_vectors(self, name: str, kept: Columns | None = None) -> Iterator[Row]:
        """List the vectors of a label or group, those behind the kept ones."""
        return self._connection.execute(sql.LIST_VECTORS, (_make_bits(name), _find_last(kept)))

    def _open_segment(self, label: Label) -> Segment:
        """Return the vectors of a label, with those of its group, for the generation that this connection reads now.

        Codes that are damaged are written again from the database.
        """
        from pkg.vectors.exact import make_segment

        name, stamp = _name_group(label), self._stamp()
        if self._index is None or self._index.stamp != stamp or not self._index.is_sound(name):
            self._index, self._finders = self._map_index(stamp, name) or self._write_index(stamp, name), {}
        segments = self._index.segments
        if name not in segments:
            dimension = self._get_meta("dimension") or 0
            segments[name] = make_segment(self._list_vectors(name), dimension)
        return segments[name]

    def _map_index(self, stamp: str, name: str) -> VectorIndex | None:
        """Map the codes beside the database; None where they are of another generation, or those of a group damaged."""
        from pkg.vectors.vector_file import read_index

        index = read_index(self.path)
        return index if index is not None and index.stamp == stamp and index.is_sound(name) else None

    def _write_index(self, stamp: str, name: str) -> VectorIndex:
        """Write the codes and map them; where the place cannot be written or does not keep them, use memory alone."""
        from pkg.vectors.vector_file import VectorIndex

        with suppress(OSError):
            self.write()
            return self._map_index(stamp, name) or VectorIndex(stamp, {})
        return VectorIndex(stamp, {})

    def _mask(
        self, segment: Segment, where: NodeFilter | None, of_label: tuple[str, ...] | None = None
    ) -> npt.NDArray[np.bool_] | None:
        """Tell which entries of a segment pass the filter, and are of the kinds of a label; None when all do."""
        where = where or NodeFilter()
        if of_label is None and where == NodeFilter():
            return None
        import numpy as np

        keep = np.ones(len(segment), bool)
        if where.source is not None:
            row = self._connection.execute(sql.FIND_SOURCE, (where.source,)).fetchone()
            keep &= segment.columns["source"] == (row[0] if row else -1)
        if where.narrows_paths:
            keep &= np.isin(segment.columns["fragment"], self._find_fragments(where))
        for kinds in (of_label, where.kinds):
            if kinds is not None:
                keep &= _is_of(segment, kinds)
        return keep


def _is_of(segment: Segment, kinds: Collection[str]) -> npt.NDArray[np.bool_]:
    """Tell which entries of a segment are of some kinds."""
    import numpy as np

    return np.isin(segment.columns["kind"], [sql.KIND_NUMBERS.get(kind, 255) for kind in kinds])


def _name_group(label: Label) -> str:
    """Name the segment that holds the vectors of a label."""
    return "Declaration" if label in DECLARATION_LABELS else label.value


def _make_bits(name: str) -> int:
    """Give the labels of a segment as the bits of a number."""
    return sum(1 << sql.LABEL_NUMBERS[label] for label in INDEXED.get(name) or (Label(name),))


def _find_last(kept: Columns | None) -> int:
    return int(kept["number"].max(initial=0)) if kept is not None else 0


class FragmentFinder:
    """Finds the files and rows whose paths pass a filter; what one question has found, its next search finds again."""

    def __init__(self, connection: sqlite3.Connection, get_meta: Callable[[str], Any]) -> None:
        self._connection, self._get_meta = connection, get_meta
        self._found: dict[NodeFilter, list[int]] = {}
        self._stamp = ""  # of the generation that they are of

    def find(self, where: NodeFilter) -> list[int]:
        """List the fragments of the files and rows whose path passes a filter."""
        stamp, paths = str(self._get_meta("stamp")), NodeFilter(paths=where.paths, tests=where.tests)
        if stamp != self._stamp or len(self._found) > CACHED_FILTERS:
            self._found, self._stamp = {}, stamp
        if paths not in self._found:
            self._found[paths] = self._read(paths)
        return self._found[paths]

    def _read(self, where: NodeFilter) -> list[int]:
        if where.tests is None and len(where.paths) == 1 and not set("[!").intersection(where.paths[0]):
            return [number for (number,) in self._connection.execute(sql.FRAGMENTS_AT, where.paths)]  # [] differ there
        passes = re.compile(make_path_pattern(where)).fullmatch
        return [number for path, number in self._connection.execute(sql.FRAGMENT_PATHS) if passes(path)]


class EmbeddedTerms:
    """Open the inverted terms of one generation, and read the nodes that they lead to (pkg.terms.word_search)."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        reader: NodeReader,
        get_node: Callable[[str], Node],
        get_meta: Callable[[str], Any],
        find_fragments: Callable[[NodeFilter], list[int]],
    ) -> None:
        self._connection = connection
        self.path = path.with_name(path.name + "-terms")
        self.read_inside = reader.read_inside
        self.find_fragments = find_fragments
        self._get_node, self._get_meta = get_node, get_meta
        self._cache = TextCache(lambda: self.path, self._list_stored)

    def read_nodes(self, ids: Collection[str]) -> list[Node]:
        """Read nodes in the order of their ids."""
        return [self._get_node(each) for each in ids]

    def open_terms(self, label: Label) -> TextSegment:
        """Give the terms of the group of a label, in the generation that this connection reads now."""
        return self._cache.open_terms(self._read_stamp(), label)

    def write(self) -> None:
        """Write the file for the present generation."""
        self._cache.write(self._read_stamp())

    def repair(self) -> list[str]:
        """Write the file anew where it is damaged; tell so."""
        return self._cache.repair(self._read_stamp())

    def _read_stamp(self) -> str:
        return str(self._get_meta("stamp"))

    def _list_stored(self) -> Iterator[StoredTerms]:
        names = dict(self._connection.execute(sql.LIST_SOURCE_NUMBERS))
        for number, source, blob in self._connection.execute(sql.LIST_FRAGMENT_TERMS):
            yield number, names[source], blob
