"""The file of vector codes beside the database: written at once, read through a memory map.

The header holds its own checksum, the generation, and a checksum of each column. The first use of a segment verifies
them, which reads no more than a scan does: changed, swapped or outdated pages give no answers.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from pkg.private_files import replace_file
from pkg.vectors.exact import COLUMNS, Columns, Row, Segment, encode_rows

MAGIC = b"PKG vectors 4\n"
_HEADER = 8192  # bytes reserved for the header


class VectorIndex:
    """All segments of one generation of a store."""

    def __init__(
        self, stamp: str, segments: dict[str, Segment], checksums: Mapping[str, dict[str, int]] | None = None
    ) -> None:
        self.stamp = stamp  # identifies the store and its generation
        self.segments = segments
        self._checksums = checksums or {}  # of each column as written, by label
        self._sound: dict[str, bool] = {}  # by label; each segment is verified once

    def is_sound(self, label: str) -> bool:
        """Return whether a segment holds, byte for byte, what was written; only the first call for it reads it.

        A segment without checksums was built in memory.
        """
        if label not in self._sound:
            self._sound[label] = (
                label not in self._checksums or _compute_checksums(self.segments[label]) == self._checksums[label]
            )
        return self._sound[label]

    @property
    def is_all_sound(self) -> bool:
        """Return whether all segments hold what was written."""
        return all(map(self.is_sound, self.segments))


def write_index(
    path: Path,
    stamp: str,
    dimension: int,
    counts: Mapping[str, int],
    rows: Callable[[str], Iterator[Row]],
    kept: Mapping[str, Columns],
) -> None:
    """Write the codes of all vectors, streamed in batches, and replace the file atomically.

    Each label has `counts` vectors: those `kept` of the previous file, followed by `rows`. Raises OSError where the
    path cannot be written, and StoreCorruptError for vectors of another dimension.
    """
    segments: dict[str, dict[str, Any]] = {}
    offset = 0
    for label, count in counts.items():
        sizes = {name: count * np.dtype(kind).itemsize for name, kind in COLUMNS.items()}
        segments[label] = {"count": count, "columns": {}, "checksums": {}}
        for name, size in (("codes", count * dimension), *sizes.items()):
            segments[label]["columns"][name] = offset
            offset += -(-size // 64) * 64
    with replace_file(path) as temporary, open(temporary, "wb") as file:
        for label, layout in segments.items():
            batches = encode_rows(rows(label), dimension, kept.get(label))
            layout["checksums"] = _write_columns(file, layout["columns"], batches)
        file.truncate(_HEADER + offset)
        file.seek(0)
        file.write(MAGIC + pack_header({"stamp": stamp, "dimension": dimension, "segments": segments}))


def _write_columns(file: BinaryIO, offsets: dict[str, int], batches: Iterator[Columns]) -> dict[str, int]:
    """Write the columns of one label, each at its offset, and return their checksums.

    Plain writes and no map: pages of a map count as memory, and a full disk would end the process.
    """
    ends = {name: _HEADER + offset for name, offset in offsets.items()}
    sums = dict.fromkeys(offsets, 0)
    for columns in batches:
        for name, values in columns.items():
            data = values.tobytes()
            sums[name] = zlib.crc32(data, sums[name])
            file.seek(ends[name])
            ends[name] += file.write(data)
    return sums


def pack_header(header: dict[str, Any]) -> bytes:
    """Return a header as one line with its own checksum."""
    text = json.dumps(header).encode()
    return b"%08x %b\n" % (zlib.crc32(text), text)


def unpack_header(line: bytes) -> dict[str, Any]:
    """Parse the line of a header; raises ValueError when it is damaged."""
    text = line[9:]
    if line[:9] != b"%08x " % zlib.crc32(text):
        raise ValueError("the header is damaged")
    header: dict[str, Any] = json.loads(text)
    return header


def has_sound_index(path: Path) -> bool:
    """Return whether the file holds, byte for byte, the columns as written; this reads all of it."""
    index = read_index(path)
    return index is not None and index.is_all_sound


def _compute_checksums(segment: Segment) -> dict[str, int]:
    columns = {**segment.columns, "codes": segment.codes}
    return {name: zlib.crc32(np.ascontiguousarray(values).data) for name, values in columns.items()}


def read_index(path: Path) -> VectorIndex | None:
    """Map the file; return None when it is missing or of another version.

    Its columns are not read yet: `VectorIndex.is_sound` verifies those of a segment.
    """
    try:
        with open(path, "rb") as file:  # one open file for header and body: another process may replace the path
            head = file.read(_HEADER)
            if not head.startswith(MAGIC):
                return None
            header = unpack_header(head[len(MAGIC) :].split(b"\n", 1)[0])
            size = os.fstat(file.fileno()).st_size - _HEADER
            body = np.memmap(file, np.uint8, "r", _HEADER, (size,)) if size > 0 else np.zeros(0, np.uint8)
        segments, checksums = {}, {}
        for label, layout in header["segments"].items():
            views = _view(body, layout, header["dimension"])
            codes = views.pop("codes").reshape(layout["count"], header["dimension"])
            segments[label] = Segment(views, codes)
            checksums[label] = layout["checksums"]
        return VectorIndex(header["stamp"], segments, checksums)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # the last two: JSON of another shape
        return None


def _view(body: npt.NDArray[np.uint8], layout: dict[str, Any], dimension: int) -> Columns:
    """Return the columns of a segment as views of the mapped file."""
    count, offsets = layout["count"], layout["columns"]
    views = {}
    for name, kind in (("codes", "i1"), *COLUMNS.items()):
        length = count * np.dtype(kind).itemsize * (dimension if name == "codes" else 1)
        if offsets[name] + length > len(body):
            raise ValueError("the file ends before its last column")
        views[name] = np.asarray(body[offsets[name] : offsets[name] + length].view(kind))  # no map, which is slower
    return views
