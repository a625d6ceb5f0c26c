"""Read outlines from the embedded store: what a ranking needs of a few hundred nodes, in one statement and no text."""

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

CACHED_NODES = 50_000  # some 20 MB: questions about one repository come back to the same functions


class _Row(NamedTuple):
    number: int  # of the node in the store
    outline: Outline  # without its cosine


class OutlineReader:
    """Read outlines, with their cosines with a vector; what was read once is kept."""

    def __init__(self, connection: sqlite3.Connection, vectors: EmbeddedVectors) -> None:
        self._connection, self._vectors = connection, vectors
        self._kept: dict[str, _Row] = {}
        self._blocks: dict[str, list[str]] = {}  # of functions, all of them among the kept
        self._stamp: str | None = None  # of the generation that they are of

    def read(
        self, ids: Sequence[str], blocks_of: Sequence[str], vector: Vector, stamp: str | None
    ) -> dict[str, Outline]:
        """Read those of some nodes, of the blocks of some functions, and of what all these blocks stand in.

        Unknown ids are left out. Without the stamp of a generation nothing is kept.
        """
        if stamp is None or stamp != self._stamp or len(self._kept) > CACHED_NODES:
            self._kept, self._blocks, self._stamp = {}, {}, stamp
        rows = self._list(ids)
        rows.update(self._list_blocks(blocks_of))
        outer = {row.outline.owner for row in rows.values()}.difference(rows)
        rows.update(self._list(sorted(outer)))
        return self._score(rows, vector)

    def _list(self, ids: Sequence[str]) -> dict[str, _Row]:
        kept = self._kept
        kept.update(self._read(sql.LIST_OUTLINES, [each for each in ids if each not in kept]))
        return {each: kept[each] for each in ids if each in kept}

    def _list_blocks(self, functions: Sequence[str]) -> dict[str, _Row]:
        unread = [each for each in functions if each not in self._blocks]
        read = self._read(sql.LIST_BLOCKS, unread)
        self._kept.update(read)
        self._blocks.update((each, []) for each in unread)
        for node_id, row in read.items():
            self._blocks.setdefault(row.outline.owner, []).append(node_id)
        return {block: self._kept[block] for each in functions for block in self._blocks[each]}

    def _read(self, statement: str, ids: Iterable[str]) -> dict[str, _Row]:
        asked = list(map(parse_id, ids))
        return dict(map(_make_row, self._connection.execute(statement, (json.dumps(asked),)))) if asked else {}

    def _score(self, rows: dict[str, _Row], vector: Vector) -> dict[str, Outline]:
        """Add the cosines; a node without a vector is left out."""
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
    if label is Label.BLOCK:  # a block keeps its place in the column that is not indexed
        name, qualname = qualname, ""
    node_id, hashed = format_id(identity % (1 << 64)), format_id(content_hash % (1 << 64))
    owner = find_owner(node_id, label, name)
    name = name or qualname  # of the code of a module, which is found by its path, not by its name
    outline = Outline(node_id, label, source, path, name, qualname or name, kind, lines, hashed, owner, 0.0)
    return node_id, _Row(number, outline)
