"""The checksum of the whole database file, stored beside it, with which a build detects damage in milliseconds.

A file that differs from its checksum may have been written by another program; then the checksums of its rows are
compared. A missing or outdated checksum only costs time.
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from pkg.private_files import replace_file

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
        log = self._database.with_name(self._database.name + "-wal")
        with suppress(OSError):
            if not log.exists() or log.stat().st_size == 0:
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
