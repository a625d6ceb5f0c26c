"""Read outlines from the embedded store: what a ranking needs of a few hundred nodes, in one statement and no text."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pkg.graph import sql
from pkg.graph.rows import parse_id
from pkg.graph.unit import format_id
from pkg.model import Label, Outline

if TYPE_CHECKING:
    from pkg.graph.embedded_vectors import EmbeddedVectors

Vector = npt.NDArray[np.float32]


class OutlineReader:
    """Read the outlines of functions and blocks, with their cosines with one vector; unknown ids are left out."""

    def __init__(self, connection: sqlite3.Connection, vectors: EmbeddedVectors, vector: Vector) -> None:
        self._connection, self._vectors, self._vector = connection, vectors, vector

    def list_outlines(self, ids: Sequence[str]) -> list[Outline]:
        """Read those of some ids."""
        return self._list(sql.LIST_OUTLINES, ids)

    def list_blocks(self, functions: Sequence[str]) -> list[Outline]:
        """Read those of the blocks of some functions."""
        return self._list(sql.LIST_BLOCKS, functions)

    def _list(self, statement: str, ids: Sequence[str]) -> list[Outline]:
        if not ids:
            return []
        rows = self._connection.execute(statement, (json.dumps(list(map(parse_id, ids))),)).fetchall()
        cosines = self._score(rows)
        return [_make_outline(row, cosines[row[0]]) for row in rows if row[0] in cosines]

    def _score(self, rows: list[tuple[Any, ...]]) -> Mapping[int, float]:
        """Compute the cosines of the nodes of some rows, by their numbers."""
        numbers: dict[Label, list[int]] = {}
        for number, _, label, *_ in rows:
            numbers.setdefault(sql.LABELS[label], []).append(number)
        scored = (self._vectors.score(label, some, self._vector) for label, some in numbers.items())
        return {number: cosine for each in scored for number, cosine in each.items()}


def _make_outline(row: tuple[Any, ...], cosine: float) -> Outline:
    _, identity, label_number, source, path, name, qualname, kind_number, lines, content_hash = row
    label, kind = sql.LABELS[label_number], sql.KINDS[kind_number] or None
    if label is Label.BLOCK:  # a block keeps its place in the column that is not indexed
        name, qualname = qualname, ""
    hashed, name_of_all = format_id(content_hash % (1 << 64)), qualname or name
    return Outline(format_id(identity % (1 << 64)), label, source, path, name, name_of_all, kind, lines, hashed, cosine)
