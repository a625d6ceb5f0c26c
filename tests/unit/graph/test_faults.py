"""Errors of SQLite and the file system become store errors with the store and a remedy."""

from __future__ import annotations

import sqlite3

import pytest

from pkg.errors import StoreCorruptError, StoreError, StoreFullError, StoreLockedError
from pkg.graph.sqlite_rows import translate_database_faults, translate_faults

ADDRESS = "sqlite:///graph.db"
FAULTS: list[tuple[Exception, type[StoreError], str]] = [
    (sqlite3.OperationalError("database is locked"), StoreLockedError, "wait for it to end"),
    (sqlite3.OperationalError("database table is locked: node"), StoreLockedError, "try again"),
    (sqlite3.OperationalError("database or disk is full"), StoreFullError, "free some space"),
    (sqlite3.OperationalError("disk I/O error"), StoreFullError, "free some space"),
    (sqlite3.OperationalError("attempt to write a readonly database"), StoreFullError, "check its permissions"),
    (sqlite3.OperationalError("unable to open database file"), StoreFullError, "another --store"),
    (sqlite3.DatabaseError("database disk image is malformed"), StoreCorruptError, "run pkg build again"),
    (sqlite3.DatabaseError("file is not a database"), StoreCorruptError, "not a PKG store"),
    (sqlite3.OperationalError("no such table: node"), StoreCorruptError, "no such table: node"),
    (sqlite3.OperationalError("Could not decode to UTF-8 column 'path'"), StoreCorruptError, "move it away"),
    (sqlite3.IntegrityError("UNIQUE constraint failed: node.id"), StoreError, "node.id"),
    (PermissionError(13, "Permission denied"), StoreFullError, "Permission denied"),
    (OSError(28, "No space left on device"), StoreFullError, "No space left on device"),
    (OSError("no number"), StoreFullError, "no number"),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), StoreCorruptError, "invalid start byte"),
]


@pytest.mark.parametrize(("fault", "expected", "words"), FAULTS)
def test_a_fault_becomes_a_store_error_with_its_cause(fault: Exception, expected: type[StoreError], words: str) -> None:
    with pytest.raises(expected) as caught, translate_faults(ADDRESS):
        raise fault
    assert type(caught.value) is expected
    assert ADDRESS in str(caught.value)
    assert words in str(caught.value)
    assert caught.value.__cause__ is fault or fault in (caught.value.__cause__, caught.value.__context__)


@pytest.mark.parametrize(
    "fault", [OSError(28, "full"), BrokenPipeError(), UnicodeError(), KeyError("x"), KeyboardInterrupt()]
)
def test_around_a_callers_code_only_faults_of_the_database_are_translated(fault: BaseException) -> None:
    with pytest.raises(type(fault)) as caught, translate_database_faults(ADDRESS):
        raise fault
    assert caught.value is fault


def test_own_errors_pass_unchanged() -> None:
    ours = StoreLockedError("another process is writing")
    with pytest.raises(StoreLockedError) as caught, translate_faults(ADDRESS):
        raise ours
    assert caught.value is ours
