"""What a store knows of a source's units before a build, kept on disk: memory does not grow with the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pkg.scratch import open_scratch

_CREATE = "CREATE TABLE unit (path TEXT PRIMARY KEY, fingerprint TEXT, content TEXT, is_seen INTEGER) WITHOUT ROWID"
_PUT = "INSERT INTO unit VALUES (?, ?, ?, 0)"
_GET = "SELECT fingerprint, content FROM unit WHERE path = ?"
_SEE = "UPDATE unit SET is_seen = 1 WHERE path = ?"
_SEEN = "SELECT path FROM unit WHERE is_seen ORDER BY path"
_UNSEEN = "SELECT path FROM unit WHERE NOT is_seen ORDER BY path"


class KnownUnits:
    """The units that a source had, and which of them the input still has."""

    def __init__(self, units: Iterable[tuple[str, str, str]]) -> None:
        """Keep (path, fingerprint, content hash) of each unit in a file without a name."""
        self._connection = open_scratch(_CREATE)
        self._connection.executemany(_PUT, units)

    def find(self, path: str) -> tuple[str, str]:
        """Give fingerprint and content hash of the unit at a path; two empty strings when there was none."""
        row: tuple[str, str] | None = self._connection.execute(_GET, (path,)).fetchone()
        return row or ("", "")

    def see(self, path: str) -> None:
        """Note that the input still has the unit."""
        self._connection.execute(_SEE, (path,))

    def seen(self) -> Iterator[str]:
        """Give the paths that the input still has, in their order."""
        return (path for (path,) in self._connection.execute(_SEEN))

    def unseen(self) -> Iterator[str]:
        """Give the paths that the input no longer has, in their order."""
        return (path for (path,) in self._connection.execute(_UNSEEN))

    def close(self) -> None:
        """Delete the file."""
        self._connection.close()
