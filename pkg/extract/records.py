"""Corpus files: JSON lines, a JSON array, CSV or Parquet in; one object a record out, with bounded memory (P-01).

Each reader yields (index, fields) for a record and a Skip for what cannot be read, and goes on behind it.
"""

from __future__ import annotations

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
from typing import BinaryIO, TypeAlias, cast

from pkg.errors import CorpusError, MissingExtraError, PathError
from pkg.model import Skip

MAX_ROW_BYTES = 2_000_000
"""A larger row is data, not an answer; the longest row of the corpora that we know is 60 KB."""

Fields: TypeAlias = dict[str, object]
Record: TypeAlias = tuple[int, Fields]
Item: TypeAlias = Record | Skip

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
_decode_json = json.JSONDecoder().decode  # what json.loads calls, without its checks
_DAMAGED = (EOFError, zlib.error, OSError)  # what a truncated or broken gzip stream raises


def is_corpus(path: str) -> bool:
    """Tell by its name whether a path is a corpus; `-` is standard input, read as JSON lines."""
    name = path.lower()
    return path == "-" or name.endswith(".parquet") or name.removesuffix(".gz").endswith(_SUFFIXES)


def open_records(path: str) -> Generator[Item, None, None]:
    """Choose the reader of a corpus by its name; gzip is recognised by its first byte."""
    if path == "-":
        return _read_stream(nullcontext(sys.stdin.buffer), _read_json_lines)
    if not is_corpus(path):
        raise PathError(f"{path} is not a corpus; expected .jsonl, .ndjson, .json or .csv (each also .gz), or .parquet")
    opened = _open_file(path)
    kind = _find_kind(path)
    if kind == ".parquet":
        return _read_parquet(path, opened)
    return _read_stream(opened, {".csv": _read_csv, ".json": _read_json}.get(kind, _read_json_lines))


def name_place(path: str, index: int) -> str:
    """Name the place of a record for a person: its line, or its number where records are not lines."""
    return _name_line(index) if _find_kind(path) in (".jsonl", ".ndjson") else name_row(index)


def name_row(index: int) -> str:
    """Give an id to a record that has none of its own; it counts from 0, blank lines included."""
    return f"row-{index:07d}"


def describe_excess(size: int, unit: str) -> str:
    """Say how large a row is and how large it may be."""
    return f"{size:,} {unit}; a row may hold {MAX_ROW_BYTES:,}"


def describe_expected(path: str) -> str:
    """Say what a corpus of that name should hold."""
    return _EXPECTED[_find_kind(path)]


def _name_line(index: int) -> str:
    return f"line {index + 1}"


def _describe_damage(error: Exception) -> str:
    return f"the file is damaged here ({error}); the rows after this are lost"


def _find_kind(path: str) -> str:
    return Path(path.lower().removesuffix(".gz")).suffix if path != "-" else ".jsonl"


def _open_file(path: str) -> BinaryIO:
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise PathError(f"cannot read {path}: {error.strerror or error}; expected a corpus file") from error


def _read_stream(
    opened: AbstractContextManager[BinaryIO], read: Callable[[io.BufferedReader], Iterator[Item]]
) -> Generator[Item, None, None]:
    with opened as raw:
        stream = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, raw), _CHUNK)
        # No row begins with this byte, so one byte of gzip's magic is enough even when a pipe gives no more.
        if stream.peek(1)[:1] == b"\x1f":
            import gzip

            stream = io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=stream)), _CHUNK)
        yield from read(stream)


def _read_json_lines(stream: io.BufferedReader) -> Iterator[Item]:
    """Read one object a line; a line that is too large is counted but never held."""
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


def _measure_line(stream: io.BufferedReader, line: bytes) -> int:
    """Read on to the end of a line that is too large and tell its size."""
    size = len(line)
    while line and not line.endswith(b"\n"):
        line = stream.readline(_CHUNK)
        size += len(line)
    return size


def _decode(line: bytes) -> str:
    """Decode UTF-8; only a line with wrong bytes pays for their replacement."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("utf-8", "replace")


def _parse_row(index: int, text: str, place: Callable[[int], str]) -> Item | None:
    """Parse the JSON of one row; None when there is only white space."""
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


def _read_json(stream: io.BufferedReader) -> Iterator[Item]:
    """Read a .json file: one array of rows, or JSON lines under that name."""
    try:
        head = stream.peek(_CHUNK).removeprefix(_BOM).lstrip()
    except _DAMAGED:  # the reader meets the same damage again, and reports it
        head = b""
    return _read_json_array(stream) if head[:1] == b"[" else _read_json_lines(stream)


def _read_json_array(stream: io.BufferedReader) -> Iterator[Item]:
    """Read the elements of an array, of which never more than one is held."""
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    splitter = _ArraySplitter()
    index, size, pieces = 0, 0, list[str]()
    try:
        while text.read(1) != "[":
            pass
        while not splitter.closed:
            chunk = text.read(_CHUNK)
            if not chunk:
                raise EOFError("the array has no closing bracket")
            start = 0
            for end in splitter.find_ends(chunk):
                pieces.append(chunk[start:end])
                item = _parse_element(index, pieces, size + end - start)
                if item is not None:
                    yield item
                index, size, start = index + 1, 0, end + 1
                pieces.clear()
            size += len(chunk) - start
            if size > MAX_ROW_BYTES:
                pieces.clear()
            else:
                pieces.append(chunk[start:])
    except _DAMAGED as error:
        yield Skip(name_row(index), _describe_damage(error))


def _parse_element(index: int, pieces: Iterable[str], size: int) -> Item | None:
    if size > MAX_ROW_BYTES:
        return Skip(name_row(index), describe_excess(size, "characters"))
    return _parse_row(index, "".join(pieces), name_row)


class _ArraySplitter:
    """Find where the elements of a JSON array end, chunk by chunk, without building them."""

    _structure = re.compile(r'["{}\[\],]')
    _string = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)

    def __init__(self) -> None:
        self.closed = False
        self._depth = 0
        self._in_string = False
        self._escaped = False  # the last chunk ended between a backslash and what it escapes

    def find_ends(self, chunk: str) -> Iterator[int]:
        """Yield the offset of each comma or closing bracket that ends an element."""
        position = 1 if self._escaped else 0
        self._escaped = False
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

    def _ends_element(self, sign: str) -> bool:
        self._in_string = sign == '"'
        ends = self._depth == 0 and sign in ",]}"
        self.closed = ends and sign != ","
        self._depth += (sign in "[{") - (sign in "]}")
        return ends


def _read_csv(stream: io.BufferedReader) -> Iterator[Item]:
    """Read rows under a header line; after a broken row, what lacks the header's columns belongs to it."""
    csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_BYTES))
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    # csv of Python 3.10 refuses NUL; the limit keeps a file without line ends out of memory.
    rows = csv.reader(line.replace("\0", "") for line in iter(partial(text.readline, MAX_ROW_BYTES + 1), ""))
    header: list[str] = []
    index, broken = 0, False
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield Skip(name_row(index), f"not CSV: {error}; expected fields of up to {MAX_ROW_BYTES:,} characters")
            index, broken = index + 1, True
            continue
        except _DAMAGED as error:
            yield Skip(name_row(index), _describe_damage(error))
            return
        if not header or not cells:
            header = header or cells
        elif not broken or len(cells) == len(header):
            yield index, dict(zip(header, cells, strict=False))
            index, broken = index + 1, False


def _read_parquet(path: str, opened: BinaryIO) -> Generator[Item, None, None]:
    """Read a Parquet file batch by batch; needs the extra `parquet`."""
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
