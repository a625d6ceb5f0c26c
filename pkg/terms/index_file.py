"""The file of the text segments: written at once, read through a memory map, like the vector file.

Opening it reads it once: the header holds its own checksum, the generation, and a checksum of each column, so that
changed, swapped or outdated pages give no answers.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pkg.private_files import replace_file
from pkg.terms.index_segment import TextSegment
from pkg.terms.inverted_index import LexicalIndex
from pkg.vectors.vector_file import pack_header, unpack_header

MAGIC = b"PKG terms 4\n"
_ALIGNED = 64

_INVERTED = {"terms": "<u4", "offsets": "<i8", "rows": "<i4", "impacts": "u1"}  # in the order of LexicalIndex
_COLUMNS = _INVERTED | {"ids": "<u8", "contents": "<u8", "fragments": "<i8", "sources": "<i4", "labels": "u1"}


def write_text_segments(path: Path, stamp: str, segments: Sequence[TextSegment]) -> None:
    """Write segments under a stamp that identifies the store and its generation, and replace the file atomically.

    Raises OSError where the path cannot be written.
    """
    tables = [
        {name: np.asarray(_get_column(segment, name), kind) for name, kind in _COLUMNS.items()} for segment in segments
    ]
    described = [
        {
            "names": segment.names,
            "total": len(segment),
            "counts": {name: len(column) for name, column in columns.items()},
            "checksums": _compute_checksums(columns),
        }
        for segment, columns in zip(segments, tables, strict=True)
    ]
    with replace_file(path) as temporary, open(temporary, "wb") as file:
        file.write(MAGIC + pack_header({"stamp": stamp, "segments": described}))
        for columns in tables:
            for column in columns.values():
                file.write(bytes(-file.tell() % _ALIGNED))
                file.write(np.ascontiguousarray(column).data)


def _compute_checksums(columns: dict[str, Any]) -> dict[str, int]:
    return {name: zlib.crc32(np.ascontiguousarray(column).data) for name, column in columns.items()}


def _get_column(segment: TextSegment, name: str) -> Any:
    return (
        segment.index.weights if name == "impacts" else getattr(segment.index if name in _INVERTED else segment, name)
    )


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
        _compute_checksums(columns) for columns in tables
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
