"""The file of vector codes beside the database: written at once, read through a memory map."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from pkg.vectors.exact import COLUMNS, Columns, Row, Segment, encode_rows

MAGIC = b"PKG vectors 3\n"
_HEADER = 8192  # bytes kept for the header
LEFTOVER_SECONDS = 3600  # writing the codes takes seconds: an older file is of a process that was killed


class VectorIndex:
    """All segments of one generation of a store."""

    def __init__(self, stamp: str, segments: dict[str, Segment]) -> None:
        self.stamp = stamp  # names the store and its generation
        self.segments = segments


def write_index(
    path: Path,
    stamp: str,
    dimension: int,
    counts: Mapping[str, int],
    rows: Callable[[str], Iterator[Row]],
    kept: Mapping[str, Columns],
) -> None:
    """Write the codes of all vectors, streamed in batches, and put the file in place at once.

    Of each label there are `counts` vectors: those that are `kept` of the file before, and `rows` behind them.
    """
    remove_leftovers(path)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    segments: dict[str, dict[str, Any]] = {}
    offset = 0
    for label, count in counts.items():
        sizes = {name: count * np.dtype(kind).itemsize for name, kind in COLUMNS.items()}
        segments[label] = {"count": count, "columns": {}}
        for name, size in (("codes", count * dimension), *sizes.items()):
            segments[label]["columns"][name] = offset
            offset += -(-size // 64) * 64
    try:
        with open(temporary, "wb") as file:
            for label, layout in segments.items():
                _write_columns(file, layout["columns"], encode_rows(rows(label), dimension, kept.get(label)))
            file.truncate(_HEADER + offset)
            header = {"stamp": stamp, "dimension": dimension, "segments": segments}
            file.seek(0)
            file.write(MAGIC + json.dumps(header).encode() + b"\n")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _write_columns(file: BinaryIO, offsets: dict[str, int], batches: Iterator[Columns]) -> None:
    """Write the columns of one label, each at its place.

    Plain writes and no map: pages of a map count as memory, and a full disk would end the process.
    """
    ends = {name: _HEADER + offset for name, offset in offsets.items()}
    for columns in batches:
        for name, values in columns.items():
            file.seek(ends[name])
            ends[name] += file.write(values.tobytes())


def remove_leftovers(path: Path) -> None:
    """Delete what killed processes left unfinished."""
    for other in path.parent.glob(f"{escape(path.name)}.*.tmp"):
        if time.time() - other.stat().st_mtime > LEFTOVER_SECONDS:
            other.unlink(missing_ok=True)


def read_index(path: Path) -> VectorIndex | None:
    """Map the file; None when it is missing or not what this version writes."""
    try:
        with open(path, "rb") as file:  # one file for header and body: another process may put a new one in its place
            head = file.read(_HEADER)
            if not head.startswith(MAGIC):
                return None
            header = json.loads(head[len(MAGIC) :].split(b"\n", 1)[0])
            size = os.fstat(file.fileno()).st_size - _HEADER
            body = np.memmap(file, np.uint8, "r", _HEADER, (size,)) if size > 0 else np.zeros(0, np.uint8)
        segments = {}
        for label, layout in header["segments"].items():
            views = _view(body, layout, header["dimension"])
            codes = views.pop("codes").reshape(layout["count"], header["dimension"])
            segments[label] = Segment(views, codes)
        return VectorIndex(header["stamp"], segments)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # the last two: JSON of another shape
        return None


def _view(body: npt.NDArray[np.uint8], layout: dict[str, Any], dimension: int) -> Columns:
    """Cut the columns of a segment out of the mapped file."""
    count, offsets = layout["count"], layout["columns"]
    views = {}
    for name, kind in (("codes", "i1"), *COLUMNS.items()):
        length = count * np.dtype(kind).itemsize * (dimension if name == "codes" else 1)
        if offsets[name] + length > len(body):
            raise ValueError("the file ends before its last column")
        views[name] = np.asarray(body[offsets[name] : offsets[name] + length].view(kind))  # no map, which is slower
    return views
