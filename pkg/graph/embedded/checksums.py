"""Checksums of table rows: SQLite detects a broken page, but not a byte that changed inside a row.

One checksum covers a fragment with its nodes, a file or row with its parts, its links, its notes, each vector, and the
small tables (encoder, sources, recurring texts, schema) together. Nodes without a text need none: their rows follow
from their names. Fingerprints are excluded: a wrong one only makes a build read a file again.
"""

from __future__ import annotations

import marshal
import sqlite3
import struct
import zlib
from binascii import crc_hqx
from collections.abc import Iterator
from typing import Any

from pkg.graph.embedded import sql
from pkg.graph.sqlite_rows import sign_id
from pkg.model import Label
from pkg.units import hash_bytes, hash_key

_MARSHAL_VERSION = 2  # the last version in which equal values give equal bytes, whether or not they share objects

_LIST_HEAD = 5  # bytes before the items of a list: its type and length

Row = tuple[Any, ...]


def sum_bytes(data: bytes) -> int:
    """Return a signed 32-bit checksum, which SQLite stores in four bytes."""
    return _sign(zlib.crc32(data))


def _sign(found: int) -> int:
    return found - (1 << 32) if found >= 1 << 31 else found


def sum_vector(data: bytes) -> int:
    """Return a signed 16-bit checksum of a packed vector; 32 bits would make stores noticeably larger."""
    found = crc_hqx(data, 0)
    return found - (1 << 16) if found >= 1 << 15 else found


def sum_rows(*parts: Any) -> int:
    """Return the checksum of rows, or lists of rows, of plain values; marshal is ten times as fast as JSON."""
    return sum_bytes(marshal.dumps(parts, _MARSHAL_VERSION))


class RowsChecksum:
    """The checksum sum_rows(row, rows), computed incrementally."""

    def __init__(self, row: Row, count: int) -> None:
        """Start with the row and the number of rows that follow."""
        begin = b"(" + struct.pack("<i", 2) + marshal.dumps(row, _MARSHAL_VERSION) + b"[" + struct.pack("<i", count)
        self._sum = zlib.crc32(begin)

    def add(self, rows: list[Row]) -> None:
        """Add the next rows."""
        self._sum = zlib.crc32(marshal.dumps(rows, _MARSHAL_VERSION)[_LIST_HEAD:], self._sum)

    @property
    def value(self) -> int:
        """Return the signed checksum."""
        return _sign(self._sum)


def seal_fragment(connection: sqlite3.Connection, number: int) -> None:
    """Store the checksum of a changed fragment."""
    for *row, _ in connection.execute(f"{sql.LIST_FRAGMENT_ROWS} WHERE number = ?", (number,)).fetchall():
        connection.execute(sql.SEAL_FRAGMENT, (_sum_fragment(connection, tuple(row)), number))


def _sum_fragment(connection: sqlite3.Connection, row: Row) -> int:
    return sum_rows(row, connection.execute(sql.LIST_NODE_ROWS, row[3:5]).fetchall())


def seal_unit(connection: sqlite3.Connection, number: int) -> None:
    """Store the checksum of a file or row whose parts are all in the tables."""
    *row, _ = connection.execute(f"{sql.LIST_UNIT_ROWS} WHERE number = ?", (number,)).fetchone()
    connection.execute(sql.SEAL_UNIT, (_sum_unit(connection, tuple(row)), number))


def _sum_unit(connection: sqlite3.Connection, row: Row) -> int:
    return sum_rows(row, connection.execute(sql.LIST_PART_ROWS, row[:1]).fetchall())


def seal_links(connection: sqlite3.Connection, unit: int) -> None:
    """Store the checksum of the links of a file or row after a deletion."""
    connection.execute(sql.SEAL_LINKS, (_sum_links(connection, unit), unit))


def _sum_links(connection: sqlite3.Connection, unit: int) -> int:
    return sum_rows(*(connection.execute(statement, (unit,)).fetchall() for statement in sql.GET_LINKS))


def seal_head(connection: sqlite3.Connection) -> None:
    """Store the checksum of the small tables; the last step of each write."""
    connection.execute(sql.PUT_META, (sql.CHECKSUM, _sum_head(connection)))


def _sum_head(connection: sqlite3.Connection) -> int:
    return sum_rows(*(connection.execute(statement).fetchall() for statement in sql.HEAD))


def seal_all(connection: sqlite3.Connection) -> None:
    """Store all checksums of a store that an older PKG wrote."""
    for (number,) in connection.execute(sql.LIST_FRAGMENTS).fetchall():
        seal_fragment(connection, number)
    for number, *_ in connection.execute(sql.LIST_UNIT_ROWS).fetchall():
        seal_unit(connection, number)
    for unit, notes, *_ in connection.execute(sql.LIST_LINK_ROWS).fetchall():
        connection.execute(sql.PUT_NOTES, (unit, notes, sum_bytes(notes), _sum_links(connection, unit)))


def find_damage(connection: sqlite3.Connection) -> list[str]:
    """Return descriptions of damaged data; reads all tables once and compares the indexes with them."""
    damaged = {
        "texts or nodes": _find_fragments(connection),
        "files or rows": _find_units(connection),
        "links or notes of a file or row": _find_links(connection),
        "vectors": _find_vectors(connection),
        "names": _find_names(connection),
    }
    faults = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
    counted = {name: sum(1 for _ in found) for name, found in damaged.items()}
    faults += [f"{count} {name} whose bytes have changed" for name, count in counted.items() if count]
    is_sound = connection.execute(sql.GET_META, (sql.CHECKSUM,)).fetchone() == (_sum_head(connection),)
    return faults if is_sound else [*faults, "sources, encoder or schema whose bytes have changed"]


def _find_fragments(connection: sqlite3.Connection) -> Iterator[Row]:
    for *row, seal in connection.execute(sql.LIST_FRAGMENT_ROWS):
        if _sum_fragment(connection, tuple(row)) != seal:
            yield tuple(row)


def _find_units(connection: sqlite3.Connection) -> Iterator[Row]:
    for *row, seal in connection.execute(sql.LIST_UNIT_ROWS):
        if _sum_unit(connection, tuple(row)) != seal:
            yield tuple(row)


def _find_links(connection: sqlite3.Connection) -> Iterator[int]:
    for unit, notes, notes_seal, seal in connection.execute(sql.LIST_LINK_ROWS):
        if not isinstance(notes, bytes) or (sum_bytes(notes), _sum_links(connection, unit)) != (notes_seal, seal):
            yield unit


def _find_vectors(connection: sqlite3.Connection) -> Iterator[int]:
    for node, data, seal in connection.execute(sql.LIST_SEALED_VECTORS):
        if not isinstance(data, bytes) or sum_vector(data) != seal:
            yield node


def _find_names(connection: sqlite3.Connection) -> Iterator[Row]:
    """Yield the rows of nodes without a text that do not follow from their names."""
    labels = {sql.LABEL_NUMBERS[label]: label for label in (Label.FUNCTION_NAME, Label.LIBRARY)}
    for source_name, *row in connection.execute(sql.LIST_NAME_ROWS):
        number, _, label, source, _, _, name = row[:7]
        is_plain = label in labels and isinstance(name, str) and source_name is not None
        if not is_plain or tuple(row) != make_name_row(labels[label], number, source, source_name, name):
            yield tuple(row)


def make_name_row(label: Label, number: int, source: int, source_name: str, name: str) -> Row:
    """Build the row of a node without a text, which follows from its label, source and name."""
    key = (source_name, "") if label is Label.LIBRARY else (source_name,)  # as in pkg.units.name_library
    identity = sign_id(hash_key(*key, label.value, name))
    content = sign_id(hash_bytes(name.encode("utf-8", "replace")))
    row = (number, identity, sql.LABEL_NUMBERS[label], source, None, None, name, None, 0, 0, 0, 0, 0)
    return (*row, content, None)
