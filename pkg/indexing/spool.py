"""Data of a build by path: in memory while it is small, then in a temporary file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import closing
from pathlib import Path

from pkg.private_files import make_file
from pkg.resolution.link_record import pack_unit, unpack_unit
from pkg.resolution.source_parts import MOST_FILES
from pkg.resources import open_scratch
from pkg.units import UnitText

MOST_BYTES = 64 << 20  # kept in memory
_SIZE = 4  # bytes of the size of a packed file without its text
_CREATE = "CREATE TABLE spool (path TEXT PRIMARY KEY, value BLOB)"
_PUT = "INSERT OR REPLACE INTO spool VALUES (?, ?)"
_GET = "SELECT value FROM spool WHERE path = ?"
_DELETE = "DELETE FROM spool WHERE path = ?"
_LIST = "SELECT path FROM spool ORDER BY path"
_COUNT = "SELECT count(*) FROM spool"


class Spool(MutableMapping[str, bytes]):
    """Bytes by path; beyond a total size all are in a temporary file."""

    def __init__(self, items: Iterable[tuple[str, bytes]] = (), most: int = MOST_BYTES) -> None:
        """Put items; most: bytes kept in memory."""
        self._kept: dict[str, bytes] = {}
        self._room = most
        self._scratch: sqlite3.Connection | None = None
        for path, value in items:
            self[path] = value

    def __setitem__(self, path: str, value: bytes) -> None:
        """Put the bytes of a path."""
        if self._scratch is None:
            self._kept[path] = value
            self._room -= len(value)
            if self._room < 0:
                self._scratch = open_scratch(_CREATE)
                self._scratch.executemany(_PUT, self._kept.items())
                self._kept.clear()
        else:
            self._scratch.execute(_PUT, (path, value))

    def __getitem__(self, path: str) -> bytes:
        """Return the bytes of a path; KeyError where there are none."""
        if self._scratch is None:
            return self._kept[path]
        row: tuple[bytes] | None = self._scratch.execute(_GET, (path,)).fetchone()
        if row is None:
            raise KeyError(path)
        return row[0]

    def __delitem__(self, path: str) -> None:
        """Remove a path; KeyError where it is missing."""
        if self._scratch is None:
            del self._kept[path]
        elif not self._scratch.execute(_DELETE, (path,)).rowcount:
            raise KeyError(path)

    def __iter__(self) -> Iterator[str]:
        """Yield the paths."""
        if self._scratch is None:
            return iter(self._kept)
        return (path for (path,) in self._scratch.execute(_LIST).fetchall())

    def __len__(self) -> int:
        """Count the paths."""
        return len(self._kept) if self._scratch is None else self._scratch.execute(_COUNT).fetchone()[0]


def write_spool(path: Path, items: Iterable[tuple[str, bytes]]) -> None:
    """Write items to a new file, for its owner alone, that other processes read as a SpoolFile."""
    make_file(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(_CREATE)
        connection.execute("BEGIN")
        connection.executemany(_PUT, items)
        connection.execute("COMMIT")


class SpoolFile(Mapping[str, bytes]):
    """The items of a complete file."""

    def __init__(self, path: Path) -> None:
        """Open a file, which no process may change."""
        self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)

    def __getitem__(self, path: str) -> bytes:
        """Return the bytes of a path; KeyError where there are none."""
        row: tuple[bytes] | None = self._connection.execute(_GET, (path,)).fetchone()
        if row is None:
            raise KeyError(path)
        return row[0]

    def __iter__(self) -> Iterator[str]:
        """Yield the paths."""
        return (path for (path,) in self._connection.execute(_LIST).fetchall())

    def __len__(self) -> int:
        """Count the paths."""
        return int(self._connection.execute(_COUNT).fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class UnitSpool(MutableMapping[str, UnitText]):
    """Extracted files of a source by path; beyond a number of files all are packed in a spool."""

    def __init__(self, source: str, most: int = MOST_FILES) -> None:
        """Create an empty one; most: files kept unpacked."""
        self._source, self._most = source, most
        self._kept: dict[str, UnitText] = {}
        self._packed: Spool | None = None

    def __setitem__(self, path: str, unit: UnitText) -> None:
        """Put a file."""
        if self._packed is None:
            self._kept[path] = unit
            if len(self._kept) > self._most:
                self._packed = Spool((each, pack_text_unit(kept)) for each, kept in self._kept.items())
                self._kept.clear()
        else:
            self._packed[path] = pack_text_unit(unit)

    def __getitem__(self, path: str) -> UnitText:
        """Return a file; KeyError where it is missing."""
        if self._packed is None:
            return self._kept[path]
        return unpack_unit(self._source, path, *cut_text_unit(self._packed[path]))

    def __delitem__(self, path: str) -> None:
        """Remove a file; KeyError where it is missing."""
        del (self._kept if self._packed is None else self._packed)[path]

    def __iter__(self) -> Iterator[str]:
        """Yield the paths."""
        return iter(self._kept if self._packed is None else self._packed)

    def __len__(self) -> int:
        """Count the files."""
        return len(self._kept if self._packed is None else self._packed)


def pack_text_unit(unit: UnitText) -> bytes:
    """Pack an extracted file with its text."""
    packed = pack_unit(unit)
    return len(packed).to_bytes(_SIZE, "little") + packed + unit.text


def cut_text_unit(packed: bytes) -> tuple[bytes, bytes]:
    """Return a packed file without its text, and its text."""
    end = _SIZE + int.from_bytes(packed[:_SIZE], "little")
    return packed[_SIZE:end], packed[end:]
