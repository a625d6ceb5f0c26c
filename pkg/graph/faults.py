"""Translate what SQLite and the file system say into the store errors that people can act on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from pkg.errors import StoreCorruptError, StoreError, StoreFullError, StoreLockedError

_LOCKED = ("locked", "busy")
_FULL = ("disk is full", "readonly", "read-only", "unable to open", "disk i/o error")
_CORRUPT = ("malformed", "not a database", "corrupt", "no such table", "no such column", "could not decode")


def check_replaced(replaced: int, total: int) -> None:
    """Refuse to end a change of the encoder with vectors of two encoders."""
    if replaced != total:
        raise StoreError(f"{replaced:,} of {total:,} vectors are of the new encoder; expected all; run the build again")


@contextmanager
def translate_faults(address: str) -> Iterator[None]:
    """Raise a StoreError in the place of sqlite3 and OS errors; the message names the store."""
    try:
        with translate_database_faults(address):
            yield
    except UnicodeDecodeError as fault:  # the sqlite3 module could not read SQLite's own message about a damaged page
        raise _translate(address, f"malformed text: {fault.reason}") from fault
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
    """Raise a StoreError in the place of sqlite3 errors alone: around a caller's code, whose OS errors are its own."""
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
