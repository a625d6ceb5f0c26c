"""Read corpus files, JSON lines, JSON arrays, CSV or Parquet, record by record in bounded memory (P-01).

Each reader yields (index, fields) for a record and a Skip for one that cannot be read, and continues after it.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias, cast

from pkg.errors import CorpusError, MissingExtraError, PathError
from pkg.model import Skip

if TYPE_CHECKING:
    from gzip import GzipFile

MAX_ROW_BYTES = 2_000_000
"""A larger row is data, not an answer; the longest row of known corpora has 60 KB."""

Fields: TypeAlias = dict[str, object]
Record: TypeAlias = tuple[int, Fields]
Item: TypeAlias = Record | Skip
Stream: TypeAlias = "io.BufferedReader | GzipFile"

_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv")
_CHUNK = 1 << 16
_BOM = b"\xef\xbb\xbf"
_PARQUET_BATCH = 256  # rows held at a time
_EXPECTED = {
    ".csv": "a header line and rows",
    ".json": "an array of objects",
    ".parquet": "at least one row",
    ".jsonl": "one JSON object a line",
    ".ndjson": "one JSON object a line",
}
_decode_json = json.JSONDecoder().decode  # json.loads without its checks
_DAMAGED = (EOFError, zlib.error, OSError)  # raised for a truncated or broken gzip stream


def is_corpus(path: str) -> bool:
    """Return whether a path has the name of a corpus; `-` is standard input, read as JSON lines."""
    name = path.lower()
    return path == "-" or name.endswith(".parquet") or name.removesuffix(".gz").endswith(_SUFFIXES)


def find_suffix(path: str) -> str:
    """Return the end of the name of a corpus, such as .jsonl.gz."""
    return path[len(path.removesuffix(".gz").rpartition(".")[0]) :]


def open_records(path: str) -> Generator[Item, None, None]:
    """Open a corpus with the reader for its name; gzip is recognised by its first byte.

    Raises PathError for a file that cannot be opened or is no corpus.
    """
    if path == "-":
        return _read_stream(nullcontext(sys.stdin.buffer), _read_json_lines)
    if not is_corpus(path):
        raise PathError(f"{path} is not a corpus; expected .jsonl, .ndjson, .json or .csv (each also .gz), or .parquet")
    return read_records(path, open_file(path))


def read_records(path: str, opened: BinaryIO) -> Generator[Item, None, None]:
    """Read an opened corpus with the reader for its name, and close it."""
    kind = _find_kind(path)
    if kind == ".parquet":
        return _read_parquet(path, opened)
    return _read_stream(opened, {".csv": _read_csv, ".json": _read_json}.get(kind, _read_json_lines))


def name_place(path: str, index: int) -> str:
    """Return the place of a record for messages: its line, or its number if records are not lines."""
    return _name_line(index) if _find_kind(path) in (".jsonl", ".ndjson") else name_row(index)


def name_row(index: int) -> str:
    """Return an id for a record without one; it counts from 0, blank lines included."""
    return f"row-{index:07d}"


def describe_excess(size: int, unit: str) -> str:
    """Describe the size of a row and the limit."""
    return f"{size:,} {unit}; a row may hold {MAX_ROW_BYTES:,}"


def describe_expected(path: str) -> str:
    """Describe the expected content of a corpus by its name."""
    return _EXPECTED[_find_kind(path)]


def _name_line(index: int) -> str:
    return f"line {index + 1}"


def _describe_damage(error: Exception) -> str:
    return f"the file is damaged here ({error}); the rows after this are lost"


def _find_kind(path: str) -> str:
    return Path(path.lower().removesuffix(".gz")).suffix if path != "-" else ".jsonl"


def open_file(path: str) -> BinaryIO:
    """Open a file of rows; raises PathError."""
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise PathError(f"cannot read {path}: {error.strerror or error}; expected a corpus file") from error


def _read_stream(
    opened: AbstractContextManager[BinaryIO], read: Callable[[Stream], Iterator[Item]]
) -> Generator[Item, None, None]:
    with opened as raw:
        stream = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, raw), _CHUNK)
        # No row begins with this byte, so the first byte of gzip's magic is enough if a pipe returns no more.
        if stream.peek(1)[:1] == b"\x1f":
            from gzip import GzipFile

            yield from read(GzipFile(fileobj=stream))
        else:
            yield from read(stream)


def _read_json_lines(stream: Stream) -> Iterator[Item]:
    """Read one object per line; a line that is too large is counted but never held."""
    index = -1
    try:
        for index, line in enumerate(iter(partial(stream.readline, MAX_ROW_BYTES + 2), b"")):
            if len(line) > MAX_ROW_BYTES and len(line.rstrip(b"\r\n")) > MAX_ROW_BYTES:
                yield Skip(_name_line(index), describe_excess(_measure_line(stream, line), "bytes"))
                continue
            item = _parse_row(index, _decode(line), _name_line)
            if item is not None:
                yield item
    except _DAMAGED as error:
        yield Skip(_name_line(index + 1), _describe_damage(error))


def _measure_line(stream: Stream, line: bytes) -> int:
    """Read to the end of a line that is too large and return its size."""
    size = len(line)
    while line and not line.endswith(b"\n"):
        line = stream.readline(_CHUNK)
        size += len(line)
    return size


def _decode(line: bytes) -> str:
    """Decode UTF-8; only lines with invalid bytes pay for replacing them."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("utf-8", "replace")


def _parse_row(index: int, text: str, place: Callable[[int], str]) -> Item | None:
    """Parse the JSON of one row; return None for white space."""
    if text[:1] == "\ufeff":
        text = text[1:]
    if not text or text.isspace():
        return None
    try:
        fields = _decode_json(text)
    except json.JSONDecodeError as error:
        return Skip(place(index), f"not JSON: {error.msg} at column {error.colno}")
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; thousands of open brackets
        return Skip(place(index), f"not JSON that can be read: {error}")
    if not isinstance(fields, dict):
        return Skip(place(index), f"a JSON {type(fields).__name__}; expected an object with fields")
    return index, fields


def _read_json(stream: Stream) -> Iterator[Item]:
    """Read a .json file: one array of rows, or JSON lines under that name."""
    try:
        head = stream.peek(_CHUNK).removeprefix(_BOM).lstrip()
    except _DAMAGED:  # the reader meets the damage again, and reports it
        head = b""
    return _read_json_array(stream) if head[:1] == b"[" else _read_json_lines(stream)


def _read_json_array(stream: Stream) -> Iterator[Item]:
    """Read the elements of an array, one at a time."""
    splitter = _ArraySplitter()
    index, size, pieces = 0, 0, list[str]()
    try:
        for chunk in _decode_chunks(stream):
            start = 0
            for end in splitter.find_ends(chunk):
                pieces.append(chunk[start:end])
                item = _parse_element(index, pieces, size + end - start)
                if item is not None:
                    yield item
                index, size, start = index + 1, 0, end + 1
                pieces.clear()
            if splitter.closed:
                return
            size += len(chunk) - start
            if size > MAX_ROW_BYTES:
                pieces.clear()
            else:
                pieces.append(chunk[start:])
        raise EOFError("the array has no closing bracket")
    except _DAMAGED as error:
        yield Skip(name_row(index), _describe_damage(error))


def _decode_chunks(stream: Stream) -> Iterator[str]:
    """Decode the text after the opening bracket; read1 returns the bytes before any damage."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    opened = False
    while data := stream.read1(_CHUNK):
        chunk = decoder.decode(data)
        yield chunk if opened else chunk.partition("[")[2]
        opened = opened or "[" in chunk


def _parse_element(index: int, pieces: Iterable[str], size: int) -> Item | None:
    if size > MAX_ROW_BYTES:
        return Skip(name_row(index), describe_excess(size, "characters"))
    return _parse_row(index, "".join(pieces), name_row)


class _ArraySplitter:
    """Find the ends of the elements of a JSON array, chunk by chunk, without building them."""

    _structure = re.compile(r'["{}\[\],]')
    _string = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)

    def __init__(self) -> None:
        self.closed = False
        self._closers: list[str] = []  # closing brackets of the open ones
        self._in_string = False
        self._escaped = False  # the last chunk ended with a backslash

    def find_ends(self, chunk: str) -> Iterator[int]:
        """Yield the offset of each comma or closing bracket that ends an element."""
        position = 1 if self._escaped and chunk else 0
        self._escaped = self._escaped and not chunk
        while position < len(chunk) and not self.closed:
            if self._in_string:
                position = self._leave_string(chunk, position)
                continue
            found = self._structure.search(chunk, position)
            if found is None:
                return
            position = found.end()
            if self._ends_element(found.group()):
                yield found.start()

    def _leave_string(self, chunk: str, position: int) -> int:
        found = self._string.match(chunk, position)
        end = found.end() if found else position
        self._in_string = chunk[end : end + 1] != '"'
        self._escaped = chunk[end : end + 1] == "\\"
        return end + 1

    def _ends_element(self, character: str) -> bool:
        """Handle a character outside strings; an unmatched closing bracket is part of a broken element."""
        self._in_string = character == '"'
        if not self._closers and character in ",]":
            self.closed = character == "]"
            return True
        if character in "[{":
            self._closers.append("]" if character == "[" else "}")
        elif self._closers and character == self._closers[-1]:
            self._closers.pop()
        return False


def _read_csv(stream: Stream) -> Iterator[Item]:
    """Read the rows under a header line."""
    csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_BYTES))
    lines = _CsvLines(stream)
    rows = csv.reader(lines)
    header: list[str] = []
    index = 0
    while True:
        lines.quotes = 0
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            lines.finish_record()
            yield Skip(name_row(index), f"not CSV: {error}; expected fields of up to {MAX_ROW_BYTES:,} characters")
            index += 1
            continue
        except _DAMAGED as error:
            yield Skip(name_row(index), _describe_damage(error))
            return
        if header and cells:
            yield index, dict(zip(header, cells, strict=False))
            index += 1
        header = header or cells


class _CsvLines:
    """Iterate over the lines of a CSV file, and track whether a record continues in the next one."""

    def __init__(self, stream: Stream) -> None:
        self.quotes = 0  # number since the record began
        self._ended = True  # the last line was read completely
        self._lines = iter(partial(stream.readline, MAX_ROW_BYTES + 1), b"")

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.quotes += line.count(b'"')
        self._ended = line.endswith(b"\n")
        # csv of Python 3.10 refuses NUL.
        return _decode(line.replace(b"\0", b"")).removeprefix("\ufeff")

    def finish_record(self) -> None:
        """Skip the rest of a record that csv gave up, so that the next one is read from its start."""
        while (self.quotes % 2 or not self._ended) and next(self, None) is not None:
            pass


def _read_parquet(path: str, opened: BinaryIO) -> Generator[Item, None, None]:
    """Read a Parquet file in batches; requires the extra `parquet`."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        opened.close()
        raise MissingExtraError("pyarrow", "parquet", f"reading {path}") from error
    damaged = (pyarrow.ArrowException, OSError)
    with opened:
        try:
            batches = parquet.ParquetFile(opened).iter_batches(batch_size=_PARQUET_BATCH)
        except damaged as error:
            raise CorpusError(f"{path} is not a Parquet file that can be read: {error}") from error
        index = 0
        try:
            for batch in batches:
                rows = batch.to_pylist()
                yield from enumerate(rows, index)
                index += len(rows)
        except damaged as error:
            yield Skip(name_row(index), _describe_damage(error))
