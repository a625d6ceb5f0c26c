"""Read outlines from the embedded store: what a ranking needs of a few hundred nodes, in one statement and no text."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from pkg.graph import sql
from pkg.graph.rows import parse_id
from pkg.graph.unit import format_id
from pkg.model import Label, Outline

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pkg.graph.embedded_vectors import EmbeddedVectors

    Vector: TypeAlias = npt.NDArray[np.float32]

KEPT_NODES = 20_000  # some 12 MB: questions about one repository come back to the same functions

_Row: TypeAlias = tuple[int, tuple[Any, ...]]  # number of a node, and its outline but for the cosine


class OutlineReader:
    """Read the outlines of functions and blocks, with their cosines with a vector; what was read once is kept."""

    def __init__(self, connection: sqlite3.Connection, vectors: EmbeddedVectors) -> None:
        self._connection, self._vectors = connection, vectors
        self._kept: dict[str, _Row] = {}
        self._stamp: str | None = None  # of the generation that they are of

    def list_outlines(self, ids: Sequence[str], vector: Vector, stamp: str | None) -> list[Outline]:
        """Read those of some ids, unknown ones left out; without the stamp of a generation nothing is kept."""
        if stamp is None or stamp != self._stamp or len(self._kept) > KEPT_NODES:
            self._kept, self._stamp = {}, stamp
        kept = self._kept
        if missing := [each for each in ids if each not in kept]:
            kept.update(self._read(sql.LIST_OUTLINES, missing))
        return self._score([kept[each] for each in ids if each in kept], vector)

    def list_blocks(self, functions: Sequence[str], vector: Vector) -> list[Outline]:
        """Read those of the blocks of some functions."""
        return self._score(list(self._read(sql.LIST_BLOCKS, functions).values()), vector)

    def _read(self, statement: str, ids: Iterable[str]) -> dict[str, _Row]:
        asked = list(map(parse_id, ids))
        return dict(map(_make_row, self._connection.execute(statement, (json.dumps(asked),)))) if asked else {}

    def _score(self, rows: list[_Row], vector: Vector) -> list[Outline]:
        """Add the cosines; a node without a vector is left out."""
        outlines: list[Outline] = []
        for label in (Label.FUNCTION, Label.BLOCK):
            some = [row for row in rows if row[1][1] is label]
            cosines = self._vectors.score(label, [number for number, _ in some], vector) if some else {}
            outlines += [Outline._make((*fields, cosines[number])) for number, fields in some if number in cosines]
        return outlines


def _make_row(row: tuple[Any, ...]) -> tuple[str, _Row]:
    number, identity, label_number, source, path, name, qualname, kind_number, lines, content_hash = row
    label, kind = sql.LABELS[label_number], sql.KINDS[kind_number] or None
    if label is Label.BLOCK:  # a block keeps its place in the column that is not indexed
        name, qualname = qualname, ""
    node_id, hashed = format_id(identity % (1 << 64)), format_id(content_hash % (1 << 64))
    return node_id, (number, (node_id, label, source, path, name, qualname or name, kind, lines, hashed))
