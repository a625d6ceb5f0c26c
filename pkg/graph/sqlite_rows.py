"""Rows of SQLite: fetching, packing and unpacking, and messages for damaged or unusable databases."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pkg.errors import StoreCorruptError, StoreError, StoreFullError, StoreLockedError

dump = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def fetch_known(connection: sqlite3.Connection, statement: str, *parameters: object) -> tuple[Any, ...]:
    """Fetch a row that another row refers to.

    Raise sqlite3.DatabaseError where it is missing: the store is damaged.
    """
    row: tuple[Any, ...] | None = connection.execute(statement, parameters).fetchone()
    if row is None:
        raise sqlite3.DatabaseError("malformed: a row that others refer to is missing")
    return row


def pack_text(text: bytes) -> bytes:
    """Compress a text at level 4: a tenth smaller than at level 1, and hardly slower.

    The small window saves more time on the many small texts than it costs space.
    """
    packer = zlib.compressobj(4, zlib.DEFLATED, 13, 7)
    return packer.compress(text) + packer.flush()


def unpack_text(packed: bytes) -> bytes:
    """Decompress a text; raise sqlite3.DatabaseError where it is damaged."""
    try:
        return zlib.decompress(packed)
    except (zlib.error, TypeError) as fault:
        raise sqlite3.DatabaseError(f"malformed text: {fault}") from fault


def pack_rows(rows: Sequence[tuple[object, ...]]) -> bytes:
    """Compress rows to JSON."""
    return pack_text(dump(rows).encode())


def unpack_rows(packed: bytes) -> list[list[Any]]:
    """Decompress rows from JSON."""
    rows: list[list[Any]] = json.loads(unpack_text(packed))
    return rows


def parse_id(text: str) -> int:
    """Parse 16 hex digits as a signed 64-bit number, as SQLite stores it."""
    return sign_id(int(text, 16))


def sign_id(value: int) -> int:
    """Map an unsigned 64-bit number to SQLite's signed range."""
    return value - (1 << 64) if value >= 1 << 63 else value


_LOCKED = ("locked", "busy")
_FULL = ("disk is full", "readonly", "read-only", "unable to open", "disk i/o error")
_CORRUPT = ("malformed", "not a database", "corrupt", "no such table", "no such column", "could not decode")


def check_replaced(replaced: int, total: int) -> None:
    """Raise StoreError where a change of the encoder would end with vectors of two encoders."""
    if replaced != total:
        raise StoreError(f"{replaced:,} of {total:,} vectors are of the new encoder; expected all; run the build again")


@contextmanager
def translate_faults(address: str) -> Iterator[None]:
    """Raise StoreError for sqlite3 and OS errors, StoreFullError for a full disk; the message names the store."""
    try:
        with translate_database_faults(address):
            yield
    except UnicodeDecodeError as fault:  # sqlite3 could not decode SQLite's message about a damaged page
        raise _translate(address, f"malformed text: {fault.reason}") from fault
    except json.JSONDecodeError as fault:  # in a value that the store wrote
        raise _translate(address, f"malformed value: {fault}") from fault
    except PermissionError as fault:
        raise StoreFullError(
            f"cannot write {address}: {fault.strerror}; check its permissions, or use another --store"
        ) from fault
    except OSError as fault:
        raise StoreFullError(
            f"cannot use {address}: {fault.strerror or fault}; check the disk, or use another --store"
        ) from fault


@contextmanager
def translate_database_faults(address: str) -> Iterator[None]:
    """Raise StoreError for sqlite3 errors only: around a caller's code, whose OS errors are its own."""
    try:
        yield
    except sqlite3.Error as fault:
        raise _translate(address, str(fault)) from fault


def _translate(address: str, message: str) -> StoreError:
    lower = message.lower()
    if any(word in lower for word in _LOCKED):
        return StoreLockedError(f"another process is writing {address}; wait for it to end, then try again")
    if any(word in lower for word in _FULL):
        return StoreFullError(
            f"cannot write {address} ({message}); free some space, check its permissions, or use another --store"
        )
    if any(word in lower for word in _CORRUPT):
        return StoreCorruptError(
            f"{address} is damaged or not a PKG store ({message});"
            " move it away and run pkg build again, or name another with --store"
        )
    return StoreError(f"{address}: {message}")
