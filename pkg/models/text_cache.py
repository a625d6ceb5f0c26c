"""Texts that were paid for once, kept in the user's cache folder; of what was asked only a hash is kept.

Several processes and threads may use the file at once. Like every cache it never fails, it only forgets; what it could
not keep it tells, because a second time costs money.
"""

from __future__ import annotations

import sqlite3
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

from pkg.cache_file import find_cache_file, open_cache_file
from pkg.models.prompt_batch import Conversation
from pkg.models.text_model import Decoding, Generation, TextModel, Usage

FILE_NAME = "texts.db"  # in the cache folder of the user
FORMAT = 1  # of the rows; rows of another are not read

_SCHEMA = """CREATE TABLE IF NOT EXISTS text (
    key BLOB PRIMARY KEY, text TEXT, finish TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, seconds REAL
) WITHOUT ROWID"""
_FIND = "SELECT text, finish, prompt_tokens, completion_tokens, seconds FROM text WHERE key = ?"
_PUT = """INSERT OR REPLACE INTO text (key, text, finish, prompt_tokens, completion_tokens, seconds)
    VALUES (?, ?, ?, ?, ?, ?)"""


def make_key(model: TextModel, asked: Conversation, decoding: Decoding) -> bytes:
    """Hash what a text depends on: the model, how tokens are chosen, and what was asked."""
    turns = (part for message in asked.messages for part in message)
    parts = (str(FORMAT), model.identity, repr(decoding), *turns)
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


class TextCache:
    """A table of texts by key; threads may share it."""

    def __init__(self, path: Path | None = None) -> None:
        """Open a file, by default the one of the user's cache folder."""
        self.fault: str | None = None  # why something was not kept or found
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        place = path or find_cache_file(FILE_NAME)
        try:
            self._connection = open_cache_file(place, _SCHEMA)
        except (OSError, sqlite3.Error) as fault:
            self.fault = f"{place} cannot be used ({fault})"

    def find(self, key: bytes) -> Generation | None:
        """Give what was written for a key; None where nothing was."""
        for text, finish, prompt_tokens, completion_tokens, seconds in self._run(_FIND, (key,)):
            return Generation(text, finish, Usage(1, prompt_tokens, completion_tokens, seconds))
        return None

    def put(self, key: bytes, written: Generation) -> None:
        """Keep a text; it is on the disk when this returns."""
        used = written.usage
        values = (key, written.text, written.finish, used.prompt_tokens, used.completion_tokens, used.seconds)
        self._run(_PUT, values)

    def _run(self, statement: str, values: tuple[object, ...]) -> list[Any]:
        with self._lock:
            if self._connection is None:
                return []
            try:
                return self._connection.execute(statement, values).fetchall()
            except (sqlite3.Error, UnicodeEncodeError) as fault:
                self.fault = str(fault)
                return []

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
