"""Open, create and migrate the database file of the embedded store; databases of other programs are not touched.

With the checksum of the whole file, stored beside it, a build detects damage in milliseconds.
"""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from pkg.errors import StoreCorruptError, StoreMissingError, StoreVersionError
from pkg.graph.embedded import sql
from pkg.graph.embedded.checksums import seal_all, seal_head, sum_vector
from pkg.private_files import make_file, make_folder, replace_file

MAX_OPEN_ATTEMPTS = 10  # attempts to open a store that other processes create and delete
LOCK_SECONDS = 5.0  # timeout of a wait for another process
PAGE_BYTES = 16384  # a quarter of the pages of SQLite's default 4096, at the same file size within 2 %
READ_CACHE_KB = 16_000
"""Page cache of a reader: the pages that queries of 20,000 functions read.

A memory map of the file would need no limit, but every page read would count as memory.
"""


def open_database(path: Path, address: str, create: bool) -> sqlite3.Connection:
    """Open the file of a store at the current schema version; with create, create a missing file.

    Raise StoreMissingError without create where there is no file, StoreCorruptError for a file that is no store,
    StoreVersionError for one of a newer PKG, sqlite3.Error or OSError where the file cannot be used, such as
    OperationalError where other processes keep creating and deleting it.
    """
    # A folder before ".." need not exist, and SQLite would take a relative path that begins with "file:" for a URI.
    real = Path(os.path.realpath(path))
    for _ in range(MAX_OPEN_ATTEMPTS):
        if not create and not real.exists():
            raise StoreMissingError(f"no graph at {address}; run: pkg build PATH (or name another with --store)")
        if create and not real.exists():
            _make_database(real)
        before = identify(path)
        connection = sqlite3.connect(real, timeout=LOCK_SECONDS, isolation_level=None)
        try:
            connection = _prepare(connection, path, address, create, before)
        except BaseException as fault:
            connection.close()
            if isinstance(fault, sqlite3.OperationalError) and before != identify(path):
                continue
            raise
        # An open connection keeps the file in its place from here on, but it may have been moved or deleted before.
        if before == identify(path):
            return connection
        connection.close()
    raise sqlite3.OperationalError("locked: other processes keep creating and deleting it")


def identify(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file, which tell it from a replacement; None if there is none."""
    try:
        info = path.stat()
    except FileNotFoundError:
        return None
    return info.st_dev, info.st_ino


def _make_database(path: Path) -> None:
    """Create an empty store atomically."""
    make_folder(path.parent)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        make_file(temporary)
        with closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES:d}")
            _migrate(connection)
        try:
            os.link(temporary, path)
        except FileExistsError:  # another process was faster
            pass
        except OSError:  # a file system without hard links
            make_file(path)
    finally:
        temporary.unlink(missing_ok=True)


def lock_empty(connection: sqlite3.Connection, path: Path, identity: tuple[int, int] | None) -> bool:
    """Lock an empty store whose file may then be deleted or replaced; return whether it could be locked.

    Connections to a store with a write-ahead log hold shared locks: leaving that mode and taking the exclusive lock
    succeeds only without other connections. The connection is of no other use afterwards.
    """
    with suppress(sqlite3.Error, OSError):
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN EXCLUSIVE")
        is_alone = connection.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
        (holds_data,) = connection.execute(sql.HOLDS_DATA).fetchone()
        return bool(is_alone and not holds_data and identify(path) == identity)
    return False


def remove_empty(connection: sqlite3.Connection, path: Path, identity: tuple[int, int] | None) -> None:
    """Delete the file of an empty store unless another process has it open or has replaced it."""
    if lock_empty(connection, path, identity):
        with suppress(OSError):
            path.resolve().unlink()


def _prepare(
    connection: sqlite3.Connection, path: Path, address: str, create: bool, identity: tuple[int, int] | None
) -> sqlite3.Connection:
    """Check the version before writing anything, then configure and migrate: other databases stay unchanged.

    Raise sqlite3.OperationalError where the file was moved or deleted meanwhile.
    """
    try:
        version = _check_version(connection, address, create)
    except sqlite3.OperationalError:
        if create or not _is_at_rest(path):
            raise
        connection.close()
        connection = _open_read_only(path)
        version = _check_version(connection, address, create)
    if identify(path) != identity:  # its write-ahead log would have the name of another file's
        raise sqlite3.OperationalError("locked: another process has replaced it")
    if create:
        if version == 0:
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES:d}")
        _enable_wal(connection)
        _read_version(connection)  # opens the log and takes the shared lock of the connection
    else:
        connection.execute(f"PRAGMA cache_size = -{READ_CACHE_KB:d}")
    connection.execute("PRAGMA synchronous = NORMAL")
    if version < len(sql.MIGRATIONS):
        _migrate(connection)
    return connection


def _enable_wal(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log; SQLite does not wait where two processes switch at once."""
    end = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as fault:
            if "locked" not in str(fault) or time.monotonic() > end:
                raise
        time.sleep(0.01)


def _read_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _is_at_rest(path: Path) -> bool:
    """Return whether the database has no write-ahead log, so that the file is the whole store."""
    log = path.with_name(path.name + "-wal")
    return not log.exists() or log.stat().st_size == 0


def _open_read_only(path: Path) -> sqlite3.Connection:
    """Open a store in a read-only folder, where SQLite cannot create its log."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True, isolation_level=None)


def _check_version(connection: sqlite3.Connection, address: str, create: bool) -> int:
    """Return the schema version; raise for a newer one, another program's database or an empty file to read."""
    # Tables before the version: another process may create both in one transaction meanwhile.
    has_tables = bool(connection.execute(sql.COUNT_TABLES).fetchone()[0])
    version = _read_version(connection)
    is_ours = version > 0 and connection.execute(sql.HAS_META).fetchone() is not None
    if has_tables and not is_ours:
        raise StoreCorruptError(f"{address} is a SQLite database but not a PKG store; name another with --store")
    current = len(sql.MIGRATIONS)
    if version > current:
        raise StoreVersionError(
            f"{address} has schema version {version}; this PKG reads up to {current};"
            " upgrade PKG, or build into another --store"
        )
    if not has_tables and not create:
        raise StoreMissingError(f"no graph at {address}; run: pkg build PATH")
    return version


def _migrate(connection: sqlite3.Connection) -> None:
    """Migrate an older schema to the current one in one transaction."""
    from pkg.vectors.quantised import pack_halves

    connection.create_function("pack_halves", 1, pack_halves)
    connection.create_function("sum_vector", 1, sum_vector)
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _read_version(connection)  # another process may have been faster
        for script in sql.MIGRATIONS[version:]:
            for statement in filter(str.strip, script.split(";")):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(sql.MIGRATIONS):d}")
        if version < len(sql.MIGRATIONS):  # the files beside the database are outdated
            connection.execute(sql.PUT_META, ("stamp", os.urandom(16).hex()))
            seal_all(connection)
            seal_head(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


_READ_BYTES = 1 << 20


@dataclass(slots=True)
class _OpenFile:
    """A database file open in this process: its number of stores and the shared descriptor."""

    stores: int = 0
    descriptor: int | None = None


_open_files: dict[tuple[int, int], _OpenFile] = {}  # by device and inode
_lock = Lock()


class FileChecksum:
    """The recorded checksum of an open database file; close it after the store's connection.

    A file that differs from its checksum may have been written by another program; then the checksums of its rows are
    compared. A missing or outdated checksum only costs time.

    On POSIX, closing any descriptor of a file releases all locks that the process holds on it, including those of
    SQLite: another process could then write at the same time. So a file is read through one descriptor, which is closed
    with the last store of this process that has the file open.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self.path = database.with_name(database.name + "-sum")
        with _lock:
            info = os.stat(os.path.realpath(database))  # a folder before ".." need not exist
            self._key = (info.st_dev, info.st_ino)
            _open_files.setdefault(self._key, _OpenFile()).stores += 1

    def close(self) -> None:
        """Close the descriptor unless another store of this process has the file open."""
        with _lock:
            shared = _open_files[self._key]
            shared.stores -= 1
            if not shared.stores:
                del _open_files[self._key]
                if shared.descriptor is not None:
                    os.close(shared.descriptor)

    def is_recorded(self) -> bool:
        """Return whether a checksum exists, current or not."""
        return self.path.exists()

    def is_current(self) -> bool:
        """Return whether the database file matches its checksum."""
        try:
            return self.path.read_bytes() == self._measure()
        except OSError:
            return False

    def record(self) -> None:
        """Write the checksum of the file if its write-ahead log is empty."""
        with suppress(OSError):
            if _is_at_rest(self._database):
                measured = self._measure()
                with replace_file(self.path) as temporary:
                    temporary.write_bytes(measured)

    def _measure(self) -> bytes:
        descriptor, checksum, place = self._open(), 0, 0
        while part := os.pread(descriptor, _READ_BYTES, place):
            checksum = zlib.crc32(part, checksum)
            place += len(part)
        return b"PKG sum 1 %d %08x\n" % (place, checksum)

    def _open(self) -> int:
        with _lock:
            shared = _open_files[self._key]
            if shared.descriptor is None:
                shared.descriptor = os.open(os.path.realpath(self._database), os.O_RDONLY)
            return shared.descriptor
