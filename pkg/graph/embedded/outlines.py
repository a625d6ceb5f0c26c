"""Read outlines from the embedded store: ranking data of a few hundred nodes, in one statement without texts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pkg.graph.embedded import sql
from pkg.graph.embedded.indexes import INDEXED
from pkg.graph.sqlite_rows import parse_id
from pkg.model import Label, Outline
from pkg.units import find_owner, format_id

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
    """Reader of outlines and their cosines with a vector; outlines are cached."""

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
            node_id: Outline._make((*outline[:-1], cosines[number]))
            for node_id, (number, outline) in rows.items()
            if number in cosines
        }


def _make_row(row: tuple[Any, ...]) -> tuple[str, _Row]:
    number, identity, label_number, source, path, name, qualname, kind_number, lines, content_hash = row
    label, kind = sql.LABELS[label_number], sql.KINDS[kind_number] or None
    if label is Label.BLOCK:  # the path of a block is in the column without an index
        name, qualname = qualname, ""
    node_id, hashed = format_id(identity % (1 << 64)), format_id(content_hash % (1 << 64))
    owner = find_owner(node_id, label, name)
    name = name or qualname  # of module code, which is found by its path, not by its name
    outline = Outline(node_id, label, source, path, name, qualname or name, kind, lines, hashed, owner, 0.0)
    return node_id, _Row(number, outline)
