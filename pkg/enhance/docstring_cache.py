"""Docstrings that were paid for once, kept in the user's cache folder for all graphs; of the code only a hash is kept.

Failures are kept too: the same model would fail again. Several processes may use the file at once. Like every cache it
never fails, it only forgets; what it could not keep it tells, because a second time costs money.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from pkg.cache_file import CacheTable, is_sealed, sum_values
from pkg.enhance.function_facts import FunctionText
from pkg.enhance.writer import DocstringWriter, Failure
from pkg.model import Docstring

FILE_NAME = "docstrings.db"  # in the cache folder of the user
FORMAT = 1  # of the rows; rows of another are not read

_SCHEMA = """CREATE TABLE IF NOT EXISTS docstring (
    key BLOB PRIMARY KEY, text TEXT, reason TEXT, source TEXT, model TEXT, prompt TEXT, date TEXT,
    seal INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS comment (key BLOB PRIMARY KEY, lines TEXT) WITHOUT ROWID"""
_FIND = """SELECT text, reason, source, model, prompt, date, lines, docstring.seal
    FROM docstring LEFT JOIN comment USING (key) WHERE key = ?"""
_PUT_COMMENTS = "INSERT OR REPLACE INTO comment VALUES (?, ?)"
_PUT = """INSERT OR REPLACE INTO docstring (key, text, reason, source, model, prompt, date, seal)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""


def make_key(function: FunctionText, writer: DocstringWriter) -> bytes:
    """Hash what a docstring depends on: the function, the class around it, the model, and the form of the prompt."""
    named = (function.class_name or "", str(function.is_method))
    parts = (str(FORMAT), writer.identity, writer.prompt, *named, function.content)
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


class DocstringCache(CacheTable):
    """A table of docstrings and failures by key; threads may share it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, _SCHEMA)

    def find(self, key: bytes) -> Docstring | Failure | None:
        """Give what was written for a key, or why nothing could be; None where neither is known."""
        for *values, seal in self.run(_FIND, (key,)):
            if is_sealed(seal, key, *values):
                text, reason, source, model, prompt, date, lines = values
                if reason is not None:
                    return Failure(reason)
                return Docstring(text, source, model, prompt, date, tuple((lines or "").splitlines()))
        return None

    def put(self, key: bytes, result: Docstring | Failure) -> None:
        """Keep a docstring or a failure; it is on the disk when this returns."""
        values: tuple[str | None, ...]
        if isinstance(result, Failure):
            values = None, result.reason, None, None, None, None, None
        else:
            lines = "\n".join(result.comments)
            self.run(_PUT_COMMENTS, (key, lines))  # first: a kill between the two leaves a row that fits no other
            values = result.text, None, result.source, result.model, result.prompt, result.date, lines
        self.run(_PUT, (key, *values[:-1], sum_values(key, *values)))
