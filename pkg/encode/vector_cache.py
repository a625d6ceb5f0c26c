"""Vectors that were paid for once, kept in the user's cache folder: of a text only its hash is stored."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from weakref import finalize

import numpy as np

from pkg.cache_file import is_sealed, open_cache_file, sum_values
from pkg.encode.encoder import Vectors

FILE_NAME = "vectors.db"  # in the cache folder of the user
LIMIT_BYTES = 1 << 30  # of the file: some 500,000 vectors of 384 numbers
DROPPED_SHARE = 8  # the oldest eighth goes when the file is full
KEYS_AT_ONCE = 500  # fewer than the parameters that any SQLite takes

_SCHEMA = "CREATE TABLE IF NOT EXISTS vector (number INTEGER PRIMARY KEY, key BLOB UNIQUE, data BLOB, seal INTEGER)"
_FIND = "SELECT key, data, seal FROM vector WHERE key IN ({})"
_PUT = "INSERT OR REPLACE INTO vector (key, data, seal) VALUES (?, ?, ?)"
_DROP_OLDEST = f"""DELETE FROM vector WHERE number IN
    (SELECT number FROM vector ORDER BY number LIMIT (SELECT count(*) / {DROPPED_SHARE} + 1 FROM vector))"""


def make_key(identity: str, is_query: bool, text: str) -> bytes:
    """Hash what a vector depends on: the model, whether it is a question, and the text with its heading."""
    parts = (identity, "query" if is_query else "document", text)
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=16).digest()


class VectorCache:
    """A bounded table of vectors by key; it never fails, it only forgets."""

    def __init__(self, path: Path, limit: int = LIMIT_BYTES) -> None:
        self._limit = limit
        self._connection: sqlite3.Connection | None = None
        with suppress(OSError, sqlite3.Error):
            self._connection = open_cache_file(path, _SCHEMA)
            finalize(self, self._connection.close)  # an encoder lives as long as its process, or until it is forgotten

    def find(self, keys: Iterable[bytes], dimension: int | None) -> dict[bytes, Vectors]:
        """Give the vectors that are there, each float32 [dimension]; those of another length are no vectors of ours."""
        wanted, found = list(dict.fromkeys(keys)), {}
        for low in range(0, len(wanted), KEYS_AT_ONCE):
            for key, data, seal in self._select(wanted[low : low + KEYS_AT_ONCE]):
                is_whole = isinstance(data, bytes) and len(data) % 4 == 0 and is_sealed(seal, key, data)
                vector = np.frombuffer(data, "<f4") if is_whole else np.zeros(0, np.float32)
                if len(vector) and len(vector) == (dimension or len(vector)) and np.isfinite(vector).all():
                    found[key] = vector
        return found

    def _select(self, keys: list[bytes]) -> list[tuple[bytes, bytes, int | None]]:
        if self._connection is None:
            return []
        try:
            return self._connection.execute(_FIND.format(",".join("?" * len(keys))), keys).fetchall()
        except sqlite3.Error:
            return []

    def put(self, vectors: Mapping[bytes, Vectors]) -> None:
        """Keep some vectors, each float32 [dimension], all of them or none; the oldest make room for them."""
        if self._connection is None or not vectors:
            return
        pairs = ((key, vector.astype("<f4").tobytes()) for key, vector in vectors.items())
        rows = [(key, data, sum_values(key, data)) for key, data in pairs]
        with suppress(sqlite3.Error), self._connection as transaction:
            transaction.execute("BEGIN IMMEDIATE")
            transaction.executemany(_PUT, rows)
            if self._measure() > self._limit:
                transaction.execute(_DROP_OLDEST)

    def _measure(self) -> int:
        """Measure the pages in use; those of dropped vectors are used again, so the file does not outgrow the limit."""
        assert self._connection is not None, "only an open cache is measured"
        pages, free, size = (
            self._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def close(self) -> None:
        """Release the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
