"""Read outlines from the embedded store: what a ranking needs of a few hundred nodes, in one statement and no text."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from pkg.graph import sql
from pkg.graph.rows import parse_id
from pkg.graph.unit import format_id
from pkg.model import Label, Outline


def list_outlines(connection: sqlite3.Connection, ids: Sequence[str]) -> list[Outline]:
    """Read the outlines of functions and blocks; unknown ids are left out."""
    return _list(connection, sql.LIST_OUTLINES, ids)


def list_blocks(connection: sqlite3.Connection, functions: Sequence[str]) -> list[Outline]:
    """Read the outlines of the blocks of some functions."""
    return _list(connection, sql.LIST_BLOCKS, functions)


def _list(connection: sqlite3.Connection, statement: str, ids: Sequence[str]) -> list[Outline]:
    if not ids:
        return []
    asked = json.dumps([parse_id(each) for each in ids])
    return [_make_outline(row) for row in connection.execute(statement, (asked,))]


def _make_outline(row: tuple[Any, ...]) -> Outline:
    identity, label_number, source, path, name, qualname, kind, lines, content_hash = row
    label, kind = sql.LABELS[label_number], sql.KINDS[kind] or None
    if label is Label.BLOCK:  # a block keeps its place in the column that is not indexed
        name, qualname = qualname, ""
    hashed = format_id(content_hash % (1 << 64))
    return Outline(format_id(identity % (1 << 64)), label, source, path, name, qualname or name, kind, lines, hashed)
