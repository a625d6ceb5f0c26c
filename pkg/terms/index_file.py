"""The file of a text segment: written at once, read through a memory map, as the vector file is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pkg.terms.index_segment import TextSegment
from pkg.terms.inverted_index import LexicalIndex
from pkg.vectors.vector_file import remove_leftovers

if TYPE_CHECKING:
    pass


MAGIC = b"PKG terms 1\n"
_ALIGNED = 64

_INVERTED = {"terms": "<u4", "offsets": "<i8", "rows": "<i4", "impacts": "u1"}
_COLUMNS = _INVERTED | {"ids": "<u8", "contents": "<u8", "fragments": "<i8", "sources": "<i4"}


def write_text_segment(path: Path, stamp: str, segment: TextSegment) -> None:
    """Write a segment under a stamp that names the store and its generation, and put the file in place at once."""
    remove_leftovers(path)
    columns = {name: np.asarray(_get_column(segment, name), kind) for name, kind in _COLUMNS.items()}
    counts = {name: len(column) for name, column in columns.items()}
    header = json.dumps({"stamp": stamp, "names": segment.names, "total": len(segment), "counts": counts}).encode()
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(MAGIC + header + b"\n")
            for column in columns.values():
                file.write(bytes(-file.tell() % _ALIGNED))
                file.write(np.ascontiguousarray(column).data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _get_column(segment: TextSegment, name: str) -> Any:
    return getattr(segment.index if name in _INVERTED else segment, name)


def read_text_segment(path: Path, stamp: str) -> TextSegment | None:
    """Map the file; None when it is missing, of another stamp, or not what this version writes."""
    try:
        with open(path, "rb") as file:  # one file for header and body: another process may put a new one in its place
            if file.readline(len(MAGIC)) != MAGIC:
                return None
            header = json.loads(file.readline())
            if header["stamp"] != stamp:
                return None
            start, size = file.tell(), os.fstat(file.fileno()).st_size
            body = np.memmap(file, np.uint8, "r", 0, (size,))
        columns = _view(body, start, header["counts"])
        inverted = {name: columns.pop(name) for name in _INVERTED}
        index = LexicalIndex(**inverted, total=header["total"])
        return TextSegment(index, **columns, names=tuple(header["names"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # the last two: JSON of another shape
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
