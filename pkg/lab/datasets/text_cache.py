"""Texts that were paid for once, kept in the user's cache folder; of what was asked only a hash is kept.

Several processes and threads may use the file at once. Like every cache it never fails, it only forgets; what it could
not keep it tells, because a second time costs money.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from pkg.cache_file import CacheTable, find_cache_file, is_sealed, sum_values
from pkg.models.prompt_batch import Conversation
from pkg.models.text_model import Decoding, Generation, TextModel, Usage

FILE_NAME = "texts.db"  # in the cache folder of the user
FORMAT = 1  # of the rows; rows of another are not read

_SCHEMA = """CREATE TABLE IF NOT EXISTS text (
    key BLOB PRIMARY KEY, text TEXT, finish TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, seconds REAL,
    seal INTEGER
) WITHOUT ROWID"""
_FIND = "SELECT text, finish, prompt_tokens, completion_tokens, seconds, seal FROM text WHERE key = ?"
_PUT = """INSERT OR REPLACE INTO text (key, text, finish, prompt_tokens, completion_tokens, seconds, seal)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""


def make_key(model: TextModel, asked: Conversation, decoding: Decoding) -> bytes:
    """Hash what a text depends on: the model, how tokens are chosen, and what was asked."""
    turns = (part for message in asked.messages for part in message)
    parts = (str(FORMAT), model.identity, repr(decoding), *turns)
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


class TextCache(CacheTable):
    """A table of texts by key; threads may share it."""

    def __init__(self, path: Path | None = None) -> None:
        """Open a file, by default the one of the user's cache folder."""
        super().__init__(path or find_cache_file(FILE_NAME), _SCHEMA)

    def find(self, key: bytes) -> Generation | None:
        """Give what was written for a key; None where nothing was."""
        for *values, seal in self.run(_FIND, (key,)):
            if is_sealed(seal, key, *values):
                text, finish, prompt_tokens, completion_tokens, seconds = values
                return Generation(text, finish, Usage(1, prompt_tokens, completion_tokens, seconds))
        return None

    def put(self, key: bytes, written: Generation) -> None:
        """Keep a text; it is on the disk when this returns."""
        used = written.usage
        values = (key, written.text, written.finish, used.prompt_tokens, used.completion_tokens, used.seconds)
        self.run(_PUT, (*values, sum_values(*values)))
