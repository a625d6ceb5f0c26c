"""A new source is built in a pending store, a file beside the store, in transactions of bounded size.

So a killed build loses little, and the write-ahead log stays small: the next build of the source continues there.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pkg.errors import StoreCorruptError, StoreLockedError, StoreVersionError
from pkg.graph.embedded import sql
from pkg.graph.embedded.checksums import seal_head
from pkg.graph.embedded.database_file import MAX_OPEN_ATTEMPTS, identify
from pkg.graph.embedded.embedded_store import WRITE_CACHE_KB, EmbeddedStore
from pkg.graph.embedded.embedded_writing import EmbeddedWriter
from pkg.graph.embedded.pending_files import delete_pending, is_free, list_pending, name_pending
from pkg.graph.sqlite_rows import translate_database_faults
from pkg.resolution.link_record import NO_DIGEST, LinkRecord, cut_record, pack_unit
from pkg.units import UnitGraph, UnitLinks

ROWS_AT_ONCE = 500
"""Nodes, files and rows, or links, of a transaction: tenths of a second of work (benchmarks/killed_builds.py)."""

SHARE_AT_ONCE = 200  # of a large store, each transaction adds this fraction: its indexes make a commit cost more
LOG_PAGES = 128  # of the write-ahead log before they move into the file: 2 MB


class PendingStore(EmbeddedStore):
    """The store of one unfinished source, which no other process can open meanwhile.

    It has no generation before the build is complete.
    """

    def __init__(self, path: Path, address: str) -> None:
        """Open or create the file; address: that of the store beside it, for messages."""
        self._address = address
        super().__init__(path, create=True)

    @property
    def address(self) -> str:
        """Return the address of the store that gets the source."""
        return self._address

    @property
    def path(self) -> Path:
        """Return the file."""
        return self._path

    @property
    def is_in_place(self) -> bool:
        """Return whether the file still has its name; another process may have finished it."""
        return identify(self._path) == self._identity

    def _check_file(self) -> None:
        """Lock the file, and raise StoreCorruptError where a row differs from its checksum."""
        with translate_database_faults(self.address):
            self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES:d}")
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("COMMIT")
            if self._connection.execute(sql.HAS_UNITS).fetchone() is not None:
                self._raise_if_damaged()

    def source_fingerprint(self, source: str) -> str | None:
        """Return the options of reading the source; before the build is complete, not the fingerprint of its input."""
        found = super().source_fingerprint(source)
        return found if found is None or self.generation() else " ".join(("", *found.split(" ", 1)[1:]))

    def link_notes(self, source: str) -> Iterator[tuple[str, bytes]]:
        """Yield (path, notes) of every unit: how it was extracted, without links, of which some may be missing."""
        for path, notes in super().link_notes(source):
            record = cut_record(notes)
            if record is not None:
                yield path, _make_notes(record.unit)

    @contextmanager
    def write(self) -> Iterator[PendingWriter]:
        """Open a write whose rows are kept as they come; an exception rolls the last ones back."""
        with translate_database_faults(self.address):
            self._connection.execute(f"PRAGMA cache_size = -{WRITE_CACHE_KB}")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.execute(sql.DELETE_META, ("generation",))
                writer = PendingWriter(self._connection)
                yield writer
                writer.finish()
                self._connection.execute(sql.PUT_META, ("generation", 1))
                self._connection.execute(sql.PUT_META, ("stamp", os.urandom(16).hex()))
                writer.seal()
                self._connection.execute("COMMIT")
            finally:
                self._reader.forget()
                self._roll_back()

    def settle(self) -> None:
        """Move everything into the one file, which stays locked until it is closed.

        Raises StoreLockedError where another process has removed it.
        """
        if not self.is_in_place:
            raise StoreLockedError(f"another process has removed {self._path}; run the build again")
        self._connection.execute("PRAGMA journal_mode = DELETE")

    def close(self) -> None:
        """Close the file; delete it if nothing was kept."""
        self._is_used = False
        super().close()

    def discard(self) -> None:
        """Close and delete the file."""
        self._close_files()
        delete_pending(self._path)


class PendingWriter(EmbeddedWriter):
    """Writer that commits whole units, names and links, so that little is lost."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self._kept = self._count_rows()
        self._has_deleted = not self._is_first_load  # an earlier build may have deleted names

    def replace_file(self, unit: UnitGraph) -> None:
        """Replace the file or row at a path of a source, with what resolution reads of it."""
        super().replace_file(unit)
        if unit.code is not None:
            self._links.put(self._unit_number, UnitLinks(unit.path, notes=_make_notes(pack_unit(unit.code))))
        rows = self._count_rows()
        if rows - self._kept >= max(ROWS_AT_ONCE, rows // SHARE_AT_ONCE):
            self.keep()

    def _count_rows(self) -> int:
        """Return the number of nodes and units; a row of a corpus may add no node."""
        return int(self._node_number + self._unit_number)

    def put_links(self, source: str, links: Iterable[UnitLinks]) -> None:
        """Replace the resolved links of units; raise StoreError for an unknown unit."""
        super().put_links(source, self._keep_between(links))
        self.keep()

    def _keep_between(self, links: Iterable[UnitLinks]) -> Iterator[UnitLinks]:
        waiting = 0
        for each in links:
            yield each
            waiting += len(each.edges) + len(each.unbound)
            if waiting >= ROWS_AT_ONCE:
                self.keep()
                waiting = 0

    def _create_indexes(self, statements: Iterable[str]) -> None:
        for statement in statements:
            self._run(statement)
            self.keep()

    def keep(self) -> None:
        """Commit what was put so far."""
        self.flush()
        seal_head(self._connection)
        self._run("COMMIT")
        self._run("BEGIN IMMEDIATE")
        self._kept = self._count_rows()


def _make_notes(unit: bytes) -> bytes:
    """Return the notes of an extracted file whose links are to be found."""
    return LinkRecord(NO_DIGEST, b"", unit).pack()


def open_pending(target: Path, address: str, source: str, made_by: str, say: Callable[[str], None]) -> PendingStore:
    """Open the pending store of a source, locked; delete those that something else has made, or that are damaged.

    Raises StoreLockedError where another process has it open.
    """
    path = name_pending(target, source, made_by)
    for other in list_pending(target, source):
        if other != path and is_free(other):
            say(f"{other.name} was left by a build with other options or of another version, and is deleted")
            delete_pending(other)
    for _ in range(MAX_OPEN_ATTEMPTS):
        try:
            found = PendingStore(path, address)
        except (StoreCorruptError, StoreVersionError):
            say(f"{path.name}, which an interrupted build has left, is damaged and is deleted")
            delete_pending(path)
            continue
        if found.is_in_place:
            return found
        found.close()
    raise StoreLockedError(f"other processes keep building source '{source}' in {address}; try again")
