"""The files of caches in the user's cache folder: SQLite, for their owner alone; what is lost of one is made again."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from pkg.private_files import make_file, make_folder

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


def _prepare(path: Path, schema: str) -> sqlite3.Connection:
    make_file(path)
    connection = sqlite3.connect(path, timeout=WAIT_SECONDS, check_same_thread=False, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # what a loss of power takes can be made again
        connection.executescript(schema)
        return connection
    except BaseException:
        connection.close()
        raise
