"""The file of a text segment: written at once, read through a memory map, as the vector file is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pkg.model import Label
from pkg.terms.index_segment import TextSegment
from pkg.terms.inverted_index import LexicalIndex
from pkg.vectors.vector_file import remove_leftovers

if TYPE_CHECKING:
    from pkg.terms.index_segment import StoredTerms


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


INDEXED = Label.FUNCTION  # what every question searches; the terms of imports are inverted when they are asked for


class TextCache:
    """Keep the segments of the generation that was asked for last; a stamp tells it from every other."""

    def __init__(self, find_path: Callable[[], Path], list_stored: Callable[[], Iterable[StoredTerms]]) -> None:
        self._find_path = find_path
        self._list_stored = list_stored
        self._stamp = ""
        self._segments: dict[Label, TextSegment] = {}

    def open_terms(self, stamp: str, label: Label) -> TextSegment:
        """Give the terms of the functions or imports of a generation; one without a stamp is read anew each time."""
        if not stamp or stamp != self._stamp:
            self._stamp, self._segments = stamp, {}
        if label not in self._segments:
            self._segments[label] = self._open_file(stamp) if label is INDEXED and stamp else self._invert(label)
        return self._segments[label]

    def write(self, stamp: str) -> None:
        """Invert the terms of a generation and write its file; an OSError where the place cannot be written."""
        write_text_segment(self._find_path(), stamp, self._invert(INDEXED))

    def _open_file(self, stamp: str) -> TextSegment:
        """Map the file; where it is of another generation make it anew, in memory alone if need be."""
        path = self._find_path()
        segment = read_text_segment(path, stamp)
        if segment is None:
            segment = self._invert(INDEXED)
            with suppress(OSError):  # a place that cannot be written: the terms stay in memory
                path.parent.mkdir(parents=True, exist_ok=True)  # a user's cache folder may not be there yet
                write_text_segment(path, stamp, segment)
        return segment

    def _invert(self, label: Label) -> TextSegment:
        from pkg.terms.index_segment import make_text_segment

        return make_text_segment(self._list_stored(), label)
