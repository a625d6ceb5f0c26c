"""Docstrings and questions of paid models, stored in the user's cache folder for all graphs by a hash of their inputs.

Failures of the model are stored too, because it would fail again. A row that cannot be stored is recorded in `fault`,
because it costs money again.
"""

from __future__ import annotations

from pathlib import Path

from pkg.cache_file import CacheTable, compute_checksum, hash_key
from pkg.enhance.function_facts import FunctionText
from pkg.enhance.writer import Failure, GeneratedText, TextWriter
from pkg.model import Docstring, Questions

FILE_NAME = "docstrings.db"  # in the cache folder of the user
_QUESTIONS = "questions"  # in the column of the source
FORMAT = 1  # of the rows; part of each key

_SCHEMA = """CREATE TABLE IF NOT EXISTS docstring (
    key BLOB PRIMARY KEY, text TEXT, reason TEXT, source TEXT, model TEXT, prompt TEXT, date TEXT,
    seal INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS comment (key BLOB PRIMARY KEY, lines TEXT) WITHOUT ROWID"""
_FIND = """SELECT text, reason, source, model, prompt, date, lines, docstring.seal
    FROM docstring LEFT JOIN comment USING (key) WHERE key = ?"""
_PUT_COMMENTS = "INSERT OR REPLACE INTO comment VALUES (?, ?)"
_PUT = """INSERT OR REPLACE INTO docstring (key, text, reason, source, model, prompt, date, seal)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""


def make_key(function: FunctionText, writer: TextWriter) -> bytes:
    """Hash the inputs of a docstring or of questions: the function, its class, the model and the prompt template."""
    named = (function.class_name or "", str(function.is_method))
    return hash_key(str(FORMAT), writer.identity, writer.prompt, *named, function.content)


class DocstringCache(CacheTable):
    """A table of docstrings, questions and failures by key."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, _SCHEMA)

    def find(self, key: bytes) -> GeneratedText | Failure | None:
        """Return the docstring, the questions or the failure of a key, or None."""
        values = self.find_values(_FIND, key)
        if values is None:
            return None
        text, reason, source, model, prompt, date, lines = values
        if reason is not None:
            return Failure(reason)
        if source == _QUESTIONS:
            return Questions(tuple(text.split("\n")), model, prompt, date)
        return Docstring(text, source, model, prompt, date, tuple((lines or "").splitlines()))

    def put(self, key: bytes, result: GeneratedText | Failure) -> None:
        """Store a docstring, questions or a failure on disk."""
        values: tuple[str | None, ...]
        if isinstance(result, Failure):
            values = None, result.reason, None, None, None, None, None
        elif isinstance(result, Questions):
            values = "\n".join(result.texts), None, _QUESTIONS, result.model, result.prompt, result.date, None
        else:
            lines = "\n".join(result.comments)
            self.run(_PUT_COMMENTS, (key, lines))  # first: after a kill between the two no row has wrong comments
            values = result.text, None, result.source, result.model, result.prompt, result.date, lines
        self.run(_PUT, (key, *values[:-1], compute_checksum(key, *values)))
