"""SQLite files in the user's cache folder, readable by their owner alone; a lost file or row is computed again.

SQLite notices a broken page, but not a changed byte inside a row: the column `seal` of a table has a checksum of each
row, and a row that does not match its checksum is ignored.
"""

from __future__ import annotations

import marshal
import os
import re
import sqlite3
import zlib
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from weakref import finalize

from pkg.private_files import make_file, make_folder

_MARSHAL_VERSION = 2  # the last one in which equal values give equal bytes, whatever objects they are
_SEALED_TABLE = re.compile(r"EXISTS (\w+) \([^;]*\bseal INTEGER")
WAIT_SECONDS = 5.0  # for another process that writes; afterwards the row is not kept

Result = TypeVar("Result")


def find_cache_file(name: str) -> Path:
    """Return the path of a cache in the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("pkg", appauthor=False) / name


def hash_key(*parts: str) -> bytes:
    """Hash the inputs of a cached value to its key of 16 bytes."""
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def compute_checksum(*values: Any) -> int:
    """Return the 32-bit checksum of the plain values of a row, for its column `seal`."""
    return zlib.crc32(marshal.dumps(values, _MARSHAL_VERSION))


def is_intact(seal: int | None, *values: Any) -> bool:
    """Return whether the values of a row match its checksum; rows of older versions have none."""
    return seal is None or seal == compute_checksum(*values)


def open_cache_file(path: Path, schema: str) -> sqlite3.Connection:
    """Open a cache file for use in any thread, in autocommit mode; a damaged file is replaced by an empty one.

    Raises OSError or sqlite3.Error if the file cannot be used.
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


class CacheTable:
    """The rows of a cache file, for use by several threads and processes; failures are recorded and not raised."""

    def __init__(self, path: Path, schema: str) -> None:
        self.fault: str | None = None  # why a row was not stored or found
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        try:
            self._connection = open_cache_file(path, schema)
            finalize(self, self._connection.close)
        except (OSError, sqlite3.Error) as fault:
            self.fault = f"{path} cannot be used ({fault})"

    def run(self, statement: str, values: tuple[object, ...]) -> list[Any]:
        """Run one statement and return its rows; on failure no rows."""
        return self._attempt(lambda connection: connection.execute(statement, values).fetchall()) or []

    def run_together(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Run several statements in one transaction."""

        def run_all(connection: sqlite3.Connection) -> None:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                work(connection)

        self._attempt(run_all)

    def find_values(self, statement: str, key: bytes) -> list[Any] | None:
        """Return the values of the row of a key, or None; the statement selects them and, as last column, the seal."""
        rows = self.run(statement, (key,))
        return next((values for *values, seal in rows if is_intact(seal, key, *values)), None)

    def _attempt(self, work: Callable[[sqlite3.Connection], Result]) -> Result | None:
        with self._lock:
            if self._connection is not None:
                try:
                    return work(self._connection)
                except (sqlite3.Error, UnicodeEncodeError) as fault:
                    self.fault = str(fault)
        return None

    def close(self) -> None:
        """Close the file."""
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
        connection.execute("PRAGMA synchronous = NORMAL")  # a row lost with the power is computed again
        connection.executescript(schema)
        for table in _SEALED_TABLE.findall(schema):
            columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
            if "seal" not in columns:  # a file of an older version
                connection.execute(f"ALTER TABLE {table} ADD COLUMN seal INTEGER")
        return connection
    except BaseException:
        connection.close()
        raise
