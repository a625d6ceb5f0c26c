"""The file of a text segment: written at once, read through a memory map, as the vector file is."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pkg.private_files import replace_file
from pkg.terms.index_segment import TextSegment
from pkg.terms.inverted_index import LexicalIndex
from pkg.vectors.vector_file import pack_header, unpack_header

MAGIC = b"PKG terms 2\n"
_ALIGNED = 64

_INVERTED = {"terms": "<u4", "offsets": "<i8", "rows": "<i4", "impacts": "u1"}
_COLUMNS = _INVERTED | {"ids": "<u8", "contents": "<u8", "fragments": "<i8", "sources": "<i4"}


def write_text_segment(path: Path, stamp: str, segment: TextSegment) -> None:
    """Write a segment under a stamp that names the store and its generation, and put the file in place at once.

    Raises OSError where the place cannot be written.
    """
    columns = {name: np.asarray(_get_column(segment, name), kind) for name, kind in _COLUMNS.items()}
    counts = {name: len(column) for name, column in columns.items()}
    header = {"stamp": stamp, "names": segment.names, "total": len(segment), "counts": counts}
    with replace_file(path) as temporary, open(temporary, "wb") as file:
        file.write(MAGIC + pack_header(header | {"checksums": _sum_up(columns)}))
        for column in columns.values():
            file.write(bytes(-file.tell() % _ALIGNED))
            file.write(np.ascontiguousarray(column).data)


def _sum_up(columns: dict[str, Any]) -> dict[str, int]:
    return {name: zlib.crc32(np.ascontiguousarray(column).data) for name, column in columns.items()}


def _get_column(segment: TextSegment, name: str) -> Any:
    return getattr(segment.index if name in _INVERTED else segment, name)


def read_text_segment(path: Path, stamp: str) -> TextSegment | None:
    """Map the file; None when it is missing, of another stamp, or not what this version writes."""
    found = _open_columns(path)
    if found is None or found[0]["stamp"] != stamp:
        return None
    header, columns = found
    inverted = {name: columns.pop(name) for name in _INVERTED}
    return TextSegment(LexicalIndex(**inverted, total=header["total"]), **columns, names=tuple(header["names"]))


def has_sound_terms(path: Path) -> bool:
    """Tell whether the file holds, byte by byte, the columns that were written; this reads all of it."""
    found = _open_columns(path)
    return found is not None and found[0]["checksums"] == _sum_up(found[1])


def _open_columns(path: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Map the file; give its header and its columns, which are not read yet."""
    try:
        with open(path, "rb") as file:  # one file for header and body: another process may put a new one in its place
            if file.readline(len(MAGIC)) != MAGIC:
                return None
            header = unpack_header(file.readline().removesuffix(b"\n"))
            start, size = file.tell(), os.fstat(file.fileno()).st_size
            return header, _view(np.memmap(file, np.uint8, "r", 0, (size,)), start, header["counts"])
    except (OSError, ValueError):
        return None


def _view(body: npt.NDArray[np.uint8], offset: int, counts: dict[str, int]) -> dict[str, Any]:
    """Cut the columns out of the mapped file."""
    views = {}
    for name, kind in _COLUMNS.items():
        offset += -offset % _ALIGNED
        length = counts[name] * np.dtype(kind).itemsize
        if offset + length > len(body):
            raise ValueError("the file ends before its last column")
        views[name] = np.asarray(body[offset : offset + length].view(kind))
        offset += length
    return views
