"""Searches of the embedded store: vectors and terms, in files beside it, and the outlines that rank the results."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pkg.graph.embedded import sql
from pkg.graph.path_filter import make_path_pattern
from pkg.graph.sqlite_rows import parse_id
from pkg.model import DECLARATION_LABELS, Label, Matches, Node, NodeFilter, Outline, leave_out
from pkg.private_files import repair_file
from pkg.terms.index_cache import TextCache
from pkg.units import find_owner, format_id

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pkg.graph.embedded.node_reading import NodeReader
    from pkg.terms.index_segment import StoredTerms, TextSegment
    from pkg.vectors.approximate import Finder
    from pkg.vectors.exact import Columns, Row, Segment
    from pkg.vectors.vector_file import VectorIndex


INDEXED = {label.value: (label,) for label in (Label.FUNCTION, Label.BLOCK, Label.CHUNK, Label.FACT)} | {
    "Declaration": DECLARATION_LABELS
}
"""Labels that queries search, by the name of their segment; vectors of other labels are read from the database."""

APPROXIMATE_ABOVE = 5_000_000
"""Vectors of a label above which an approximate index is used: there an exact scan costs more than 50 CPU milliseconds.

An index costs as much as some 30,000 queries save, so a lower limit would pay only for a server with as many queries
between two builds (benchmarks/results/approximate.json; extrapolated beyond 3.2 million vectors).
"""


CACHED_FILTERS = 16  # path filters per generation, each with the fragments of all matching files


class StampChange(NamedTuple):
    """The stamps before and after a write that inserted and deleted nodes but replaced no vectors."""

    before: str
    now: str


class EmbeddedVectors:
    """The vector codes of one generation."""

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
        """Return the files beside the database: the vector codes and the approximate indexes of large labels."""
        return self.path, *self._approximate.values()

    def search(self, label: Label, vector: npt.NDArray[np.float32], k: int, where: NodeFilter | None) -> Matches:
        """Find the k nodes of a label with the highest cosine, without duplicates, ties by id (P-14, P-17).

        vector: float32 [dimension].
        """
        segment, kinds = self.open_segment(label), sql.DECLARATION_KINDS.get(label)
        keep = self.mask(segment, where, kinds)
        found = self._search_segment(_name_group(label), segment, vector, k, keep)
        return found if kinds is None else leave_out(found, len(segment) - int(is_of(segment, kinds).sum()))

    def search_declarations(self, vector: npt.NDArray[np.float32], k: int, where: NodeFilter | None) -> Matches:
        """Find the k nearest classes, constants and modules together; kinds of blocks are ignored.

        vector: float32 [dimension].
        """
        segment = self.open_segment(DECLARATION_LABELS[0])
        keep = self.mask(segment, replace(where, kinds=None) if where else None)
        return self._search_segment("Declaration", segment, vector, k, keep)

    def _search_segment(
        self, name: str, segment: Segment, vector: npt.NDArray[np.float32], k: int, keep: npt.NDArray[np.bool_] | None
    ) -> Matches:
        found = self._search_near(name, segment, vector, k) if keep is None else None
        return found or segment.search(vector, k, keep)

    def score(self, label: Label, numbers: Sequence[int], vector: npt.NDArray[np.float32]) -> dict[int, float]:
        """Return the cosines of nodes of a label by number, without nodes that have no vector.

        vector: float32 [dimension].
        """
        return self.open_segment(label).score(numbers, vector)

    def _search_near(self, name: str, segment: Segment, vector: npt.NDArray[np.float32], k: int) -> Matches | None:
        """Search the approximate index; None where there is none or it does not find enough."""
        if len(segment) <= self._approximate_above or k < 1:
            return None
        if name not in self._finders:
            from pkg.vectors.approximate import open_finder

            self._finders[name] = open_finder(self._approximate[name], self._stamp(), segment)
        finder = self._finders[name]
        places = finder.find(vector, k) if finder else None
        return None if places is None else segment.search_among(places, vector, k)

    def _stamp(self) -> str:
        """Return the stamp of the current generation."""
        return str(self._get_meta("stamp"))

    def write(self, change: StampChange | None = None) -> None:
        """Write the vector codes of the current generation; readers write them if this is interrupted.

        change: the codes of the previous generation are reused from the file.
        """
        from pkg.vectors.vector_file import write_index

        stamp = self._stamp()
        counts = {name: self._count_vectors(name) for name in INDEXED}
        kept = self._keep_codes(change.before, counts) if change is not None and change.now == stamp else {}
        dimension = self._get_meta("dimension") or 0
        write_index(self.path, stamp, dimension, counts, lambda name: self._list_vectors(name, kept.get(name)), kept)

    def repair(self) -> list[str]:
        """Rewrite a damaged file of codes; return a message if so."""
        from pkg.vectors.vector_file import has_sound_index

        return repair_file(self.path, has_sound_index, self.write)

    def _keep_codes(self, before: str, counts: Mapping[str, int]) -> dict[str, Columns]:
        """Return the codes of the previous generation that are still valid, by label.

        A write assigns new nodes and fragments higher numbers than any existing ones, so equal numbers mean the same
        node. A label whose counts do not add up is left out.
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
        """Map the codes of the approximate indexes before a write replaces them; None if missing or damaged."""
        from pkg.vectors.vector_file import read_index

        index = read_index(self.path) if self._has_approximate() else None
        return index if index is not None and index.is_all_sound else None

    def write_approximate(self, before: VectorIndex | None) -> None:
        """Update the approximate indexes to the current codes; before: the codes of which they were made."""
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
        """Return the vectors of a segment after the kept ones."""
        return self._connection.execute(sql.LIST_VECTORS, (_make_bits(name), _find_last(kept)))

    def open_segment(self, label: Label) -> Segment:
        """Return the segment with the vectors of a label in the current generation; rewrite damaged codes."""
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
        """Map the codes beside the database; None if of another generation or damaged in this segment."""
        from pkg.vectors.vector_file import read_index

        index = read_index(self.path)
        return index if index is not None and index.stamp == stamp and index.is_sound(name) else None

    def _write_index(self, stamp: str, name: str) -> VectorIndex:
        """Write the codes and map them; return an empty index if they cannot be written."""
        from pkg.vectors.vector_file import VectorIndex

        with suppress(OSError):
            self.write()
            return self._map_index(stamp, name) or VectorIndex(stamp, {})
        return VectorIndex(stamp, {})

    def mask(
        self,
        segment: Segment,
        where: NodeFilter | None,
        of_label: tuple[str, ...] | None = None,
        fragments: Collection[int] | None = None,
    ) -> npt.NDArray[np.bool_] | None:
        """Return the mask of entries that pass the filter and are of the kinds of a label: bool [n]; None for all.

        fragments: those whose path passes; by default, they are looked for.
        """
        where = where or NodeFilter()
        if of_label is None and where == NodeFilter():
            return None
        import numpy as np

        keep = np.ones(len(segment), bool)
        if where.source is not None:
            row = self._connection.execute(sql.FIND_SOURCE, (where.source,)).fetchone()
            keep &= segment.columns["source"] == (row[0] if row else -1)
        if where.narrows_paths:
            found = self._find_fragments(where) if fragments is None else list(fragments)
            keep &= np.isin(segment.columns["fragment"], found)
        for kinds in (of_label, where.kinds):
            if kinds is not None:
                keep &= is_of(segment, kinds)
        return keep


def is_of(segment: Segment, kinds: Collection[str]) -> npt.NDArray[np.bool_]:
    """Return the mask of entries of some kinds: bool [entries]."""
    import numpy as np

    return np.isin(segment.columns["kind"], [sql.KIND_NUMBERS.get(kind, 255) for kind in kinds])


def _name_group(label: Label) -> str:
    """Return the name of the segment with the vectors of a label."""
    return "Declaration" if label in DECLARATION_LABELS else label.value


def _make_bits(name: str) -> int:
    """Return the labels of a segment as a bit set."""
    return sum(1 << sql.LABEL_NUMBERS[label] for label in INDEXED.get(name) or (Label(name),))


def _find_last(kept: Columns | None) -> int:
    return int(kept["number"].max(initial=0)) if kept is not None else 0


class FragmentFinder:
    """Finder of files and rows whose paths pass a filter; results are cached for a generation."""

    def __init__(self, connection: sqlite3.Connection, get_meta: Callable[[str], Any]) -> None:
        self._connection, self._get_meta = connection, get_meta
        self._found: dict[NodeFilter, list[int]] = {}
        self._stamp = ""  # of the cached generation

    def find(self, where: NodeFilter) -> list[int]:
        """Return the fragments of the files and rows whose path passes a filter."""
        stamp, paths = str(self._get_meta("stamp")), NodeFilter(paths=where.paths, tests=where.tests)
        if stamp != self._stamp or len(self._found) > CACHED_FILTERS:
            self._found, self._stamp = {}, stamp
        if paths not in self._found:
            self._found[paths] = self._read(paths)
        return self._found[paths]

    def _read(self, where: NodeFilter) -> list[int]:
        # SQLite's GLOB and fnmatch differ in brackets.
        if where.tests is None and len(where.paths) == 1 and not set("[!").intersection(where.paths[0]):
            return [number for (number,) in self._connection.execute(sql.FRAGMENTS_AT, where.paths)]
        passes = re.compile(make_path_pattern(where)).fullmatch
        return [number for path, number in self._connection.execute(sql.FRAGMENT_PATHS) if passes(path)]


class EmbeddedTerms:
    """The inverted index of terms of one generation, with access to its nodes (pkg.terms.word_search)."""

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
        self._cache = TextCache(lambda: self.path)

    def read_nodes(self, ids: Collection[str]) -> list[Node]:
        """Return nodes in the order of their ids."""
        return [self._get_node(each) for each in ids]

    def open_terms(self, label: Label) -> TextSegment:
        """Return the terms of the group of a label in the current generation."""
        return self._cache.open_terms(self._read_stamp(), label, self._list_stored)

    def write(self) -> None:
        """Write the file of the current generation."""
        self._cache.write(self._read_stamp(), self._list_stored)

    def repair(self) -> list[str]:
        """Rewrite a damaged file; return a message if so."""
        return self._cache.repair(self._read_stamp(), self._list_stored)

    def _read_stamp(self) -> str:
        return str(self._get_meta("stamp"))

    def _list_stored(self) -> Iterator[StoredTerms]:
        names = dict(self._connection.execute(sql.LIST_SOURCE_NUMBERS))
        for number, source, blob in self._connection.execute(sql.LIST_FRAGMENT_TERMS):
            yield number, names[source], blob


if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pkg.graph.embedded.indexes import EmbeddedVectors

    Vector: TypeAlias = npt.NDArray[np.float32]

CACHED_NODES = 50_000  # about 20 MB: queries of one repository return to the same functions


class _Row(NamedTuple):
    number: int  # of the node in the store
    outline: Outline  # without its cosine


class OutlineReader:
    """Reader of outlines, ranking data without texts, and of their cosines with a vector; outlines are cached."""

    def __init__(self, connection: sqlite3.Connection, vectors: EmbeddedVectors) -> None:
        self._connection, self._vectors = connection, vectors
        self._rows: dict[str, _Row] = {}
        self._blocks: dict[str, list[str]] = {}  # by function; all are in _rows
        self._stamp: str | None = None  # of the cached generation

    def read(
        self, ids: Sequence[str], blocks_of: Sequence[str], vector: Vector, stamp: str | None
    ) -> dict[str, Outline]:
        """Return the outlines of nodes, of the blocks of functions, and of the functions that contain these blocks.

        Unknown ids are ignored. Without a stamp nothing is cached.
        """
        if stamp is None or stamp != self._stamp or len(self._rows) > CACHED_NODES:
            self._rows, self._blocks, self._stamp = {}, {}, stamp
        rows = self._list(ids)
        rows.update(self._list_blocks(blocks_of))
        outer = {row.outline.owner for row in rows.values()}.difference(rows)
        rows.update(self._list(sorted(outer)))
        return self._score(rows, vector)

    def _list(self, ids: Sequence[str]) -> dict[str, _Row]:
        rows = self._rows
        rows.update(self._read(sql.LIST_OUTLINES, [each for each in ids if each not in rows]))
        return {each: rows[each] for each in ids if each in rows}

    def _list_blocks(self, functions: Sequence[str]) -> dict[str, _Row]:
        unread = [each for each in functions if each not in self._blocks]
        read = self._read(sql.LIST_BLOCKS, unread)
        self._rows.update(read)
        self._blocks.update((each, []) for each in unread)
        for node_id, row in read.items():
            self._blocks.setdefault(row.outline.owner, []).append(node_id)
        return {block: self._rows[block] for each in functions for block in self._blocks[each]}

    def _read(self, statement: str, ids: Iterable[str]) -> dict[str, _Row]:
        numbers = list(map(parse_id, ids))
        return dict(map(_make_row, self._connection.execute(statement, (json.dumps(numbers),)))) if numbers else {}

    def _score(self, rows: dict[str, _Row], vector: Vector) -> dict[str, Outline]:
        """Return the outlines with their cosines, without nodes that have no vector."""
        cosines: dict[int, float] = {}
        for group in INDEXED.values():
            if numbers := [row.number for row in rows.values() if row.outline.label in group]:
                cosines |= self._vectors.score(group[0], numbers, vector)
        return {
            node_id: Outline._make((*outline[:-2], cosines[number], outline.has_questions))
            for node_id, (number, outline) in rows.items()
            if number in cosines
        }


def _make_row(row: tuple[Any, ...]) -> tuple[str, _Row]:
    number, identity, label_number, source, path, name, qualname, kind_number, lines, content_hash, asked = row
    label, kind = sql.LABELS[label_number], sql.KINDS[kind_number] or None
    if label is Label.BLOCK:  # the path of a block is in the column without an index
        name, qualname = qualname, ""
    node_id, hashed = format_id(identity % (1 << 64)), format_id(content_hash % (1 << 64))
    owner = find_owner(node_id, label, name)
    name = name or qualname  # of module code, which is found by its path, not by its name
    outline = Outline(
        node_id, label, source, path, name, qualname or name, kind, lines, hashed, owner, 0.0, bool(asked)
    )
    return node_id, _Row(number, outline)
