"""The file of the text segments, which is read through a memory map, like the vector file.

Opening it reads it once: the header holds its own checksum, the generation, and a checksum of each column, so that
changed, swapped or outdated pages give no answers.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pkg.terms.index_segment import TextSegment
from pkg.terms.inverted_index import LexicalIndex
from pkg.vectors.vector_file import pack_header, unpack_header

MAGIC = b"PKG terms 4\n"
BLOCK_BYTES = 1 << 20  # of a column in a temporary file
_ALIGNED = 64

_INVERTED = {"terms": "<u4", "offsets": "<i8", "rows": "<i4", "impacts": "u1"}  # in the order of LexicalIndex
_COLUMNS = _INVERTED | {"ids": "<u8", "contents": "<u8", "fragments": "<i8", "sources": "<i4", "labels": "u1"}


class FileColumn:
    """A column in a temporary file."""

    def __init__(self, file: IO[bytes], kind: str) -> None:
        self._file, self._kind = file, np.dtype(kind)
        self._length = 0
        self.checksum = 0

    def __len__(self) -> int:
        return self._length

    def append(self, values: npt.NDArray[Any]) -> None:
        """Add values at the end: int32 [n] or uint8 [n], as the column holds."""
        block = np.asarray(values, self._kind).data
        self._file.write(block)
        self.checksum = zlib.crc32(block, self.checksum)
        self._length += len(values)

    def list_blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the column."""
        self._file.seek(0)
        while block := self._file.read(BLOCK_BYTES):
            yield block


Column: TypeAlias = "npt.NDArray[Any] | FileColumn"


class SegmentTable(NamedTuple):
    """The columns of a text segment."""

    names: tuple[str, ...]  # of the sources
    total: int  # nodes
    columns: dict[str, Column]  # by their names in the file


def write_tables(file: IO[bytes], stamp: str, tables: Sequence[SegmentTable]) -> None:
    """Write the columns of segments under a stamp that identifies the store and its generation.

    Raises OSError where the file cannot be written.
    """
    described = [
        {
            "names": table.names,
            "total": table.total,
            "counts": {name: len(table.columns[name]) for name in _COLUMNS},
            "checksums": {name: _compute_checksum(name, table.columns[name]) for name in _COLUMNS},
        }
        for table in tables
    ]
    file.write(MAGIC + pack_header({"stamp": stamp, "segments": described}))
    for table in tables:
        for name in _COLUMNS:
            file.write(bytes(-file.tell() % _ALIGNED))
            file.writelines(_list_blocks(name, table.columns[name]))


def _list_blocks(name: str, column: Column) -> Iterable[Any]:
    return column.list_blocks() if isinstance(column, FileColumn) else [_view_bytes(name, column)]


def _compute_checksum(name: str, column: Column) -> int:
    return column.checksum if isinstance(column, FileColumn) else zlib.crc32(_view_bytes(name, column))


def _view_bytes(name: str, column: npt.NDArray[Any]) -> Any:
    return np.ascontiguousarray(column, _COLUMNS[name]).data


def read_text_segments(path: Path, stamp: str) -> list[TextSegment] | None:
    """Map the file; return None when it is missing, damaged, of another stamp or of another version."""
    found = _open_tables(path)
    if found is None or found[0]["stamp"] != stamp or not _is_sound(*found):
        return None
    header, tables = found
    return [_make_segment(segment, columns) for segment, columns in zip(header["segments"], tables, strict=True)]


def _make_segment(described: dict[str, Any], columns: dict[str, Any]) -> TextSegment:
    terms, offsets, rows, weights = map(columns.pop, _INVERTED)
    index = LexicalIndex(terms, offsets, rows, weights, described["total"])
    return TextSegment(index, **columns, names=tuple(described["names"]))


def has_sound_terms(path: Path) -> bool:
    """Return whether the file holds, byte for byte, the columns as written; this reads all of it."""
    found = _open_tables(path)
    return found is not None and _is_sound(*found)


def _is_sound(header: dict[str, Any], tables: list[dict[str, Any]]) -> bool:
    return [segment["checksums"] for segment in header["segments"]] == [
        {name: _compute_checksum(name, column) for name, column in columns.items()} for columns in tables
    ]


def _open_tables(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
    """Map the file; return its header and the columns of each segment, which are not read yet."""
    try:
        with open(path, "rb") as file:  # one open file for header and body: another process may replace the path
            if file.readline(len(MAGIC)) != MAGIC:
                return None
            header = unpack_header(file.readline().removesuffix(b"\n"))
            start, size = file.tell(), os.fstat(file.fileno()).st_size
            body = np.memmap(file, np.uint8, "r", 0, (size,))
            tables = []
            for segment in header["segments"]:
                columns, start = _view(body, start, segment["counts"])
                tables.append(columns)
            return header, tables
    except (OSError, ValueError):
        return None


def _view(body: npt.NDArray[np.uint8], offset: int, counts: dict[str, int]) -> tuple[dict[str, Any], int]:
    """Return the columns of a segment as views of the mapped file, and their end."""
    views = {}
    for name, kind in _COLUMNS.items():
        offset += -offset % _ALIGNED
        length = counts[name] * np.dtype(kind).itemsize
        if offset + length > len(body):
            raise ValueError("the file ends before its last column")
        views[name] = np.asarray(body[offset : offset + length].view(kind))
        offset += length
    return views, offset
