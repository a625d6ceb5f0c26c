"""Texts of models in the user's cache folder, by a hash of their inputs, so that no answered request is repeated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pkg.cache_file import CacheTable, compute_checksum, find_cache_file, hash_key
from pkg.models.prompt_batch import Conversation
from pkg.models.text_model import Decoding, Generation, TextModel, Usage

FILE_NAME = "texts.db"  # in the cache folder of the user
UNFINISHED = "unfinished.db"  # in the same folder: texts of commands that were interrupted
FORMAT = 1  # of the rows; part of each key

_SCHEMA = """CREATE TABLE IF NOT EXISTS text (
    key BLOB PRIMARY KEY, text TEXT, finish TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, seconds REAL,
    seal INTEGER
) WITHOUT ROWID"""
_FIND = "SELECT text, finish, prompt_tokens, completion_tokens, seconds, seal FROM text WHERE key = ?"
_PUT = """INSERT OR REPLACE INTO text (key, text, finish, prompt_tokens, completion_tokens, seconds, seal)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
_DELETE = "DELETE FROM text WHERE key = ?"


def make_key(model: TextModel, asked: Conversation | str, decoding: Decoding) -> bytes:
    """Hash the inputs of a text: the model, the decoding, and the conversation or the text to complete."""
    turns = ("complete", asked) if isinstance(asked, str) else (part for message in asked.messages for part in message)
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

    def delete(self, key: bytes) -> None:
        """Delete the text of a key, if there is one."""
        self.run(_DELETE, (key,))


class UnfinishedTexts:
    """Texts of one command until it ends, so that the same command continues after an interruption."""

    def __init__(self, cache: TextCache) -> None:
        self._cache = cache
        self._keys: list[bytes] = []
        self._has_failed = False

    def write(self, key: bytes, run: Callable[[], Generation]) -> tuple[Generation, bool]:
        """Return the text of a key, and whether it is of an interrupted command; raises what run raises."""
        known = self._cache.find(key) if key not in self._keys else None
        self._keys.append(key)
        if known is not None:
            return known, True
        try:
            written = run()
        except BaseException:
            self._has_failed = True
            raise
        self._cache.put(key, written)
        return written, False

    def finish(self) -> None:
        """Forget the texts of the command, which is complete; after an error they are kept for the next one."""
        for key in () if self._has_failed else self._keys:
            self._cache.delete(key)
