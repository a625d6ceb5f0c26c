"""Corpus rows: turn the fields of each record into id, text and query (P-01).

The field with the code is named by the user or detected from the first rows; every record becomes a Row or a Skip
with the reason. records.py reads records from files.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice

from pkg.errors import CorpusError, PathError
from pkg.extract.fences import DEFINES, has_prose
from pkg.extract.records import (
    MAX_ROW_BYTES,
    Fields,
    Item,
    Record,
    describe_excess,
    describe_expected,
    is_corpus,
    name_place,
    name_row,
    open_records,
    read_records,
)
from pkg.extract.row_files import find_row_files, is_many
from pkg.model import Skip
from pkg.resources import open_scratch

__all__ = ["CODE_FIELDS", "MAX_ROW_BYTES", "Row", "is_corpus", "read_rows"]

CODE_FIELDS = (
    "output", "code", "content", "answer", "response", "completion", "text", "solution", "canonical_solution", "body",
    "snippet", "func_code_string", "whole_func_string",
)  # fmt: skip
"""Fields that hold code if none is named, best first; Alpaca's answers are in `output` (P-01)."""

CHAT_FIELDS = ("messages", "conversations")
ID_FIELDS = ("id", "_id", "task_id", "row_id", "uid")
_ASSISTANTS = frozenset({"assistant", "gpt", "model", "bot", "chatbot"})
_SAMPLE = 100  # rows for the detection of a field


_MISSING = object()
"""The value of a missing field, as distinct from null."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a corpus: its id, the text that may hold code, and the instruction that it answers."""

    id: str
    text: str
    query: str  # Alpaca's instruction and input, or ""
    keys: tuple[str, ...] | None = None  # that enclose a document: its path and heading; None for code


class _IdTable:
    """The ids of all rows, in a temporary file, so that memory does not grow with the rows."""

    def __init__(self) -> None:
        self._connection = open_scratch(_CREATE_IDS)
        self._run = self._connection.execute

    def make_unique(self, row_id: str) -> str:
        """Number repeated ids: `#2`, `#3`, ..."""
        while (times := self._run(_COUNT_ID, (row_id,)).fetchone()[0]) > 1:
            row_id = f"{row_id}#{times}"
        return row_id

    def close(self) -> None:
        """Delete the temporary file."""
        self._connection.close()


_CREATE_IDS = "CREATE TABLE seen (id TEXT PRIMARY KEY, times INTEGER) WITHOUT ROWID"
_COUNT_ID = "INSERT INTO seen VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1 RETURNING times"


def read_rows(path: str, field: str | None = None, reader: str | None = None) -> Iterator[Row | Skip]:
    """Iterate over the rows of a corpus; a record that cannot be read is a Skip (P-01).

    reader: makes facts of the texts (P-12); ``none`` for code alone; None: only if the first rows are documents.

    A repeated id gets `#2`, `#3`, in the order of the rows.
    A row without an id is named by its number, and in one of several files by the name of the file too. A file of
    several without rows or field is a Skip.
    Raises PathError for a file that cannot be opened and CorpusError if no row or no field can be read.
    """
    with closing(_IdTable()) as ids:
        if path == "-" or not is_many(path):
            yield from _Reading(path, "", field, reader, ids).read(open_records(path))
            return
        fault: CorpusError | PathError | None = None
        count = 0
        for file in find_row_files(path):
            reading = _Reading(file.name, f"{file.name}/", field, reader, ids)
            try:
                for row in reading.read(read_records(file.name, file.open())):
                    count += isinstance(row, Row)
                    yield row
            except (CorpusError, PathError) as failed:
                fault = fault or failed
                yield Skip(file.name, str(failed))
        if fault is not None and not count:
            raise fault


@dataclass(frozen=True, slots=True)
class _Reading:
    """The records of a file become rows."""

    file: str
    prefix: str  # of the names of rows without an id
    field: str | None  # with the code; None: detected
    reader: str | None
    ids: _IdTable

    def read(self, records: Generator[Item, None, None]) -> Iterator[Row | Skip]:
        """Yield a row or a skip for each record, and close the file."""
        with closing(records) as items:
            first, sample = yield from self._read_sample(items)
            chosen = _choose_field(self.file, self.field, sample)
            is_document = (
                self.reader != "none" if self.reader else self.field is None and hold_documents(chosen, sample)
            )
            for item in chain(first, items):
                yield self._name_skip(item) if isinstance(item, Skip) else self._make_row(item, chosen, is_document)

    def _read_sample(self, items: Iterator[Item]) -> Generator[Skip, None, tuple[list[Item], list[Fields]]]:
        """Read items until some are rows; return items and rows, and yield the skips before them at once."""
        skip: Skip | None = None
        while first := list(islice(items, _SAMPLE)):
            sample = [item[1] for item in first if not isinstance(item, Skip)]
            if sample:
                return first, sample
            for item in first:
                if isinstance(item, Skip):
                    skip = skip or item
                    yield self._name_skip(item)
        found = f"{skip.path}: {skip.reason}" if skip else "it holds none"
        raise CorpusError(f"no row of {self.file} can be read ({found}); expected {describe_expected(self.file)}")

    def _name_skip(self, skip: Skip) -> Skip:
        return Skip(self.prefix + skip.path, skip.reason)

    def _make_row(self, record: Record, chosen: str, is_document: bool) -> Row | Skip:
        index, fields = record
        own_id = _find_id(fields)
        value = _look_up(fields, chosen)
        text = _as_text(value)
        if text is None:
            return Skip(own_id or self._name_place(index), _describe_value(fields, chosen, value))
        if len(text) > MAX_ROW_BYTES:
            return Skip(own_id or self._name_place(index), describe_excess(len(text), "characters"))
        row_id = self.ids.make_unique(own_id or self.prefix + name_row(index))
        keys = tuple(_list_keys(fields)) if is_document else None
        return Row(row_id, _without_surrogates(text), _find_query(fields, chosen), keys)

    def _name_place(self, index: int) -> str:
        return self.prefix + name_place(self.file, index)


def _list_keys(fields: Fields) -> Iterator[str]:
    """Yield the keys that enclose the text of a document: the name of its file, and its heading."""
    for name in ("path", "heading"):
        value = fields.get(name)
        if isinstance(value, str) and value.strip():
            text = " ".join(_without_surrogates(value).split())
            yield text.rpartition("/")[2].rpartition(".")[0] or text if name == "path" else text


MIN_DOCUMENTS = 0.5  # share of the first rows that are documents, for all to be read as such


def hold_documents(chosen: str, sample: Sequence[Fields]) -> bool:
    """Return whether most rows hold a document in the field ``text``: neither code nor an answer with some.

    A document has a heading, in its text or in a field, or no code at all.
    """
    if chosen != "text" or any("instruction" in fields for fields in sample):
        return False
    texts = [text.encode("utf-8", "replace") for fields in sample if (text := _as_text(fields.get(chosen)))]
    if any("heading" in fields for fields in sample):
        return True
    found = sum(has_prose(text) and (_HEADING.match(text) is not None or not DEFINES.search(text)) for text in texts)
    return found > MIN_DOCUMENTS * len(texts)


_HEADING = re.compile(rb"\s*(?:# |[^\n]+\n(?:=+|-+)[ \r]*\n|<!doctype|<html)", re.IGNORECASE)


def _find_id(fields: Fields) -> str | None:
    for name in ID_FIELDS:
        value = fields.get(name)
        if (isinstance(value, str) and value) or (isinstance(value, int) and not isinstance(value, bool)):
            return _without_surrogates(str(value))
    return None


def _find_query(fields: Fields, chosen: str) -> str:
    parts = [fields.get(name) for name in ("instruction", "input") if name != chosen]
    return _without_surrogates("\n\n".join(part for part in parts if isinstance(part, str) and part))


def _as_text(value: object) -> str | None:
    """Convert a field to text: a string, a list of strings, or the assistant's part of a chat."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(part, str) for part in value):
        return "\n".join(value)
    return _join_answers(value)


def _join_answers(messages: list[object]) -> str | None:
    """Join the assistant's messages of a chat with blank lines; None if there are none."""
    answers = []
    for message in messages:
        if isinstance(message, dict) and (message.get("role") or message.get("from")) in _ASSISTANTS:
            content = message.get("content", message.get("value"))
            answers.append(content if isinstance(content, str) else _join_parts(content))
    return "\n\n".join(answers) if any(answers) else None


def _join_parts(content: object) -> str:
    """Join the text parts of a message whose content is a list of typed parts."""
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates, which JSON escapes can spell but UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _describe_value(fields: Fields, chosen: str, value: object) -> str:
    if value is _MISSING:
        return f"no field '{chosen}' (found: {_list_names(fields)})"
    kinds = {type(None): "null", bool: "a truth value", int: "a number", float: "a number", dict: "an object"}
    kind = kinds.get(type(value), "a list without text")
    return f"field '{chosen}' is {kind}; expected text"


def _look_up(fields: Fields, name: str) -> object:
    """Return a field by its name, or by a dotted path into nested objects."""
    value = fields.get(name, _MISSING)
    if value is not _MISSING or "." not in name:
        return value
    inner: object = fields
    for key in name.split("."):
        inner = inner.get(key, _MISSING) if isinstance(inner, dict) else _MISSING
    return inner


def _choose_field(path: str, field: str | None, sample: list[Fields]) -> str:
    """Return the field that the user named, or the first known name that holds text in a sampled row."""
    if field is not None:
        if all(_look_up(fields, field) is _MISSING for fields in sample):
            raise CorpusError(
                f"no field '{field}' in the first {len(sample)} rows of {path}"
                f" (found: {_list_names(*sample)}); name one of these with --field"
            )
        return field
    for name in CODE_FIELDS + CHAT_FIELDS:
        if any(_as_text(fields.get(name)) is not None for fields in sample):
            return name
    raise CorpusError(
        f"no field that usually holds code in the first {len(sample)} rows of {path}"
        f" (found: {_list_names(*sample)}); name one with --field NAME, or --field a.b for a nested one"
    )


def _list_names(*rows: Fields) -> str:
    names = dict.fromkeys(name for fields in rows for name in fields)
    shown = ", ".join(name[:80] for name in islice(names, 20))
    return _without_surrogates(shown + (", ..." if len(names) > 20 else "")) or "none"
