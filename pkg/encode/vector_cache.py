"""Vectors of paid models, stored in the user's cache folder by a hash of their inputs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from pkg.cache_file import CacheTable, compute_checksum, hash_key, is_intact
from pkg.encode.encoder import Vectors

FILE_NAME = "vectors.db"  # in the cache folder of the user
LIMIT_BYTES = 1 << 30  # of the file: about 500,000 vectors of 384 numbers
DROPPED_SHARE = 8  # the oldest eighth is deleted when the file is full
KEYS_AT_ONCE = 500  # below the parameter limit of any SQLite

_SCHEMA = "CREATE TABLE IF NOT EXISTS vector (number INTEGER PRIMARY KEY, key BLOB UNIQUE, data BLOB, seal INTEGER)"
_FIND = "SELECT key, data, seal FROM vector WHERE key IN ({})"
_PUT = "INSERT OR REPLACE INTO vector (key, data, seal) VALUES (?, ?, ?)"
_DROP_OLDEST = f"""DELETE FROM vector WHERE number IN
    (SELECT number FROM vector ORDER BY number LIMIT (SELECT count(*) / {DROPPED_SHARE} + 1 FROM vector))"""


def make_key(identity: str, is_query: bool, text: str) -> bytes:
    """Hash the inputs of a vector: the model, whether the text is a query, and the text with its heading."""
    return hash_key(identity, "query" if is_query else "document", text)


class VectorCache(CacheTable):
    """A table of vectors by key, of bounded size."""

    def __init__(self, path: Path, limit: int = LIMIT_BYTES) -> None:
        super().__init__(path, _SCHEMA)
        self._limit = limit

    def find(self, keys: Iterable[bytes], dimension: int | None) -> dict[bytes, Vectors]:
        """Return the stored vectors of keys, each float32 [dimension]; vectors of another length are ignored."""
        wanted, found = tuple(dict.fromkeys(keys)), {}
        for low in range(0, len(wanted), KEYS_AT_ONCE):
            batch = wanted[low : low + KEYS_AT_ONCE]
            for key, data, seal in self.run(_FIND.format(",".join("?" * len(batch))), batch):
                is_whole = isinstance(data, bytes) and len(data) % 4 == 0 and is_intact(seal, key, data)
                vector = np.frombuffer(data, "<f4") if is_whole else np.zeros(0, np.float32)
                if len(vector) and len(vector) == (dimension or len(vector)) and np.isfinite(vector).all():
                    found[key] = vector
        return found

    def put(self, vectors: Mapping[bytes, Vectors]) -> None:
        """Store vectors, each float32 [dimension], all or none; the oldest rows make room for them."""
        pairs = ((key, vector.astype("<f4").tobytes()) for key, vector in vectors.items())
        rows = [(key, data, compute_checksum(key, data)) for key, data in pairs]

        def put_rows(connection: sqlite3.Connection) -> None:
            connection.executemany(_PUT, rows)
            if _measure(connection) > self._limit:
                connection.execute(_DROP_OLDEST)

        if rows:
            self.run_together(put_rows)


def _measure(connection: sqlite3.Connection) -> int:
    """Measure the bytes of the pages in use; free pages are reused, so the file does not outgrow the limit."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
