"""Read outlines from the embedded store: what a ranking needs of a few hundred nodes, in one statement and no text."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pkg.graph import sql
from pkg.graph.rows import parse_id
from pkg.graph.unit import format_id
from pkg.graph.vector_bytes import unpack_vectors
from pkg.graph.vectors import score_vectors
from pkg.model import Label, Outline

Vector = npt.NDArray[np.float32]


def list_outlines(connection: sqlite3.Connection, ids: Sequence[str], vector: Vector) -> list[Outline]:
    """Read the outlines of functions and blocks, with their cosines; unknown ids are left out."""
    return _list(connection, sql.LIST_OUTLINES, ids, vector)


def list_blocks(connection: sqlite3.Connection, functions: Sequence[str], vector: Vector) -> list[Outline]:
    """Read the outlines of the blocks of some functions, with their cosines."""
    return _list(connection, sql.LIST_BLOCKS, functions, vector)


def _list(connection: sqlite3.Connection, statement: str, ids: Sequence[str], vector: Vector) -> list[Outline]:
    if not ids:
        return []
    asked = json.dumps([parse_id(each) for each in ids])
    rows = connection.execute(statement, (asked,)).fetchall()
    cosines = score_vectors(unpack_vectors([row[-1] for row in rows], len(vector)), vector).tolist()
    return [_make_outline(row, cosine) for row, cosine in zip(rows, cosines, strict=True)]


def _make_outline(row: tuple[Any, ...], cosine: float) -> Outline:
    identity, label_number, source, path, name, qualname, kind, lines, content_hash, _ = row
    label, kind = sql.LABELS[label_number], sql.KINDS[kind] or None
    if label is Label.BLOCK:  # a block keeps its place in the column that is not indexed
        name, qualname = qualname, ""
    hashed, name_of_all = format_id(content_hash % (1 << 64)), qualname or name
    return Outline(format_id(identity % (1 << 64)), label, source, path, name, name_of_all, kind, lines, hashed, cosine)
