"""Texts of models, stored in the user's cache folder by a hash of their inputs.

Failures are recorded in `fault`, because a text that is not stored costs money again.
"""

from __future__ import annotations

from pathlib import Path

from pkg.cache_file import CacheTable, compute_checksum, find_cache_file, hash_key
from pkg.models.prompt_batch import Conversation
from pkg.models.text_model import Decoding, Generation, TextModel, Usage

FILE_NAME = "texts.db"  # in the cache folder of the user
FORMAT = 1  # of the rows; part of each key

_SCHEMA = """CREATE TABLE IF NOT EXISTS text (
    key BLOB PRIMARY KEY, text TEXT, finish TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, seconds REAL,
    seal INTEGER
) WITHOUT ROWID"""
_FIND = "SELECT text, finish, prompt_tokens, completion_tokens, seconds, seal FROM text WHERE key = ?"
_PUT = """INSERT OR REPLACE INTO text (key, text, finish, prompt_tokens, completion_tokens, seconds, seal)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""


def make_key(model: TextModel, asked: Conversation, decoding: Decoding) -> bytes:
    """Hash the inputs of a text: the model, the decoding and the conversation."""
    turns = (part for message in asked.messages for part in message)
    return hash_key(str(FORMAT), model.identity, repr(decoding), *turns)


class TextCache(CacheTable):
    """A table of texts by key."""

    def __init__(self, path: Path | None = None) -> None:
        """Open a file, by default the one in the user's cache folder."""
        super().__init__(path or find_cache_file(FILE_NAME), _SCHEMA)

    def find(self, key: bytes) -> Generation | None:
        """Return the text of a key, or None."""
        values = self.find_values(_FIND, key)
        if values is None:
            return None
        text, finish, prompt_tokens, completion_tokens, seconds = values
        return Generation(text, finish, Usage(1, prompt_tokens, completion_tokens, seconds))

    def put(self, key: bytes, written: Generation) -> None:
        """Store a text on disk."""
        used = written.usage
        values = (key, written.text, written.finish, used.prompt_tokens, used.completion_tokens, used.seconds)
        self.run(_PUT, (*values, compute_checksum(*values)))
