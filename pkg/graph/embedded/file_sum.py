"""The checksum of the whole database file, kept beside it: a build tells in milliseconds that nothing was damaged.

A file that does not fit its checksum need not be damaged, for another program may have written it; its rows tell. So a
missing or outdated checksum costs time and nothing else.
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from pathlib import Path

from pkg.private_files import replace_file

_READ_BYTES = 1 << 20


class FileSum:
    """The recorded checksum of a database file."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self.path = database.with_name(database.name + "-sum")

    def is_recorded(self) -> bool:
        """Return whether a checksum is there, whatever it is of."""
        return self.path.exists()

    def is_current(self) -> bool:
        """Return whether the database file is, byte by byte, what it was when its checksum was recorded."""
        try:
            return self.path.read_bytes() == self._measure()
        except OSError:
            return False

    def record(self) -> None:
        """Write the checksum of the file as it is, once its write-ahead log is empty; else the old one stays."""
        log = self._database.with_name(self._database.name + "-wal")
        with suppress(OSError):
            if not log.exists() or log.stat().st_size == 0:
                measured = self._measure()
                with replace_file(self.path) as temporary:
                    temporary.write_bytes(measured)

    def _measure(self) -> bytes:
        checksum = 0
        with open(self._database, "rb") as file:
            while part := file.read(_READ_BYTES):
                checksum = zlib.crc32(part, checksum)
            return b"PKG sum 1 %d %08x\n" % (os.fstat(file.fileno()).st_size, checksum)
