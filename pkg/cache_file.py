"""The files of caches in the user's cache folder: SQLite, for their owner alone; what is lost of one is made again.

SQLite notices a broken page, but not a byte that changed inside of a row: tables have a column `seal` with a checksum
of each row, and a row that does not fit its checksum is as good as none.
"""

from __future__ import annotations

import marshal
import os
import re
import sqlite3
import zlib
from pathlib import Path
from threading import Lock
from typing import Any

from pkg.private_files import make_file, make_folder

_FORM = 2  # the last form of marshal in which equal values give equal bytes, whatever objects they are
_SEALED_TABLE = re.compile(r"EXISTS (\w+) \([^;]*\bseal INTEGER")
WAIT_SECONDS = 5.0  # for another process that writes; then what it would have kept is made again


def find_cache_file(name: str) -> Path:
    """Give the file of a cache in the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("pkg", appauthor=False) / name


def open_cache_file(path: Path, schema: str) -> sqlite3.Connection:
    """Open the file of a cache, for any thread; each statement is a transaction of its own unless one is begun.

    A file that is damaged is thrown away. Raises OSError and sqlite3.Error where none can be used.
    """
    make_folder(path.parent)
    try:
        return _prepare(path, schema)
    except sqlite3.DatabaseError as fault:
        if isinstance(fault, sqlite3.OperationalError):
            raise
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        return _prepare(path, schema)


def sum_values(*values: Any) -> int:
    """Sum up the plain values of a row to 32 bits; the column `seal` of its table keeps the sum."""
    return zlib.crc32(marshal.dumps(values, _FORM))


def is_sealed(seal: int | None, *values: Any) -> bool:
    """Return whether the values of a row are those that were written; a row of an older PKG has no checksum."""
    return seal is None or seal == sum_values(*values)


class CacheTable:
    """The rows of a cache that never fails, it only forgets; threads may share it."""

    def __init__(self, path: Path, schema: str) -> None:
        self.fault: str | None = None  # why something was not kept or found
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        try:
            self._connection = open_cache_file(path, schema)
        except (OSError, sqlite3.Error) as fault:
            self.fault = f"{path} cannot be used ({fault})"

    def run(self, statement: str, values: tuple[object, ...]) -> list[Any]:
        """Run one statement and give its rows; none where it fails, and fault tells why."""
        with self._lock:
            if self._connection is None:
                return []
            try:
                return self._connection.execute(statement, values).fetchall()
            except (sqlite3.Error, UnicodeEncodeError) as fault:
                self.fault = str(fault)
                return []

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _prepare(path: Path, schema: str) -> sqlite3.Connection:
    make_file(path)
    connection = sqlite3.connect(
        os.path.abspath(path), timeout=WAIT_SECONDS, check_same_thread=False, isolation_level=None
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # what a loss of power takes can be made again
        connection.executescript(schema)
        for table in _SEALED_TABLE.findall(schema):
            columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
            if "seal" not in columns:  # of an older PKG
                connection.execute(f"ALTER TABLE {table} ADD COLUMN seal INTEGER")
        return connection
    except BaseException:
        connection.close()
        raise
