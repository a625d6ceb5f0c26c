"""An approximate index for very large graphs by usearch, an extra; the exact scan is its fallback (P-14, P-17).

Each label has its own file beside the codes. The output of usearch is followed by a trailer with its checksum and the
generation: a file that is damaged, truncated or of another generation is not opened, as usearch does not validate the
offsets in it. The keys are the numbers of the nodes, and the vectors the 8-bit codes of the exact scan, so that a
comparison of codes finds the changes of a build.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pkg.private_files import replace_file
from pkg.vectors.exact import OVERSAMPLING, Segment, normalise, quantise
from pkg.vectors.vector_file import VectorIndex

EXPANSION = 1024
"""Neighbours that a search keeps; benchmarks/results/approximate.json has the recall for other values."""

MAX_HITS = 1000  # hits; larger searches use the exact scan, which then costs about as much
MAX_CHANGED = 0.2  # share of the vectors; removed entries keep their space in the index, and beyond this it is rebuilt
_BATCH = 65_536  # codes compared at once, to bound memory
_READ_BYTES = 1 << 20  # of an index per step of the checksum

Places = npt.NDArray[np.int64]
Body = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.uint64]


def write_indexes(paths: Mapping[str, Path], before: VectorIndex | None, now: VectorIndex, above: int) -> None:
    """Update the index of each label to the present codes; remove that of a label with too few vectors."""
    for label, segment in now.segments.items():
        path = paths[label]
        try:
            if len(segment) > above:
                index = _update_index(path, before, label, segment) or _make_index(segment)
                _save_index(path, index, now.stamp)
            else:
                path.unlink(missing_ok=True)
        except (
            ImportError,
            MemoryError,
            RuntimeError,
        ):  # usearch is missing, or the disk is full, which it reports by the last
            path.unlink(missing_ok=True)  # an outdated one would only take space


def _save_index(path: Path, index: Any, stamp: str) -> None:
    """Replace the file atomically; a reader sees the old one or the new."""
    with replace_file(path) as temporary:
        index.save(temporary)
        with open(temporary, "r+b") as file:
            checksum = 0
            while part := file.read(_READ_BYTES):
                checksum = zlib.crc32(part, checksum)
            file.write(_make_trailer(stamp, checksum))


def _make_trailer(stamp: str, checksum: int) -> bytes:
    return f"\nPKG approximate 2 {checksum:08x} {stamp}\n".encode()


def _new_index(dimension: int) -> Any:
    from usearch.index import Index

    return Index(ndim=dimension, metric="cos", dtype="i8")


def _make_index(segment: Segment) -> Any:
    """Index all codes in one thread: the same codes then make the same index, with the same answers."""
    index = _new_index(segment.codes.shape[1])
    _add(index, segment, np.arange(len(segment)))
    return index


def _add(index: Any, segment: Segment, places: Places) -> None:
    numbers = segment.columns["number"]
    for start in range(0, len(places), _BATCH):
        batch = places[start : start + _BATCH]
        index.add(numbers[batch].astype(np.uint64), segment.codes[batch], threads=1)


def _update_index(path: Path, before: VectorIndex | None, label: str, segment: Segment) -> Any:
    """Update the previous generation's index where codes have changed; return None when it must be rebuilt."""
    old = before.segments.get(label) if before else None
    if before is None or old is None or old.codes.shape[1] != segment.codes.shape[1]:
        return None
    gone, new = find_changes(old, segment)
    if len(gone) + len(new) > MAX_CHANGED * len(segment):
        return None
    body = _map_file(path, before.stamp)
    index = None if body is None else _open_index(body, old, "load")
    if index is not None:
        if len(gone):
            index.remove(gone, threads=1)
        _add(index, segment, new)
    return index


def find_changes(old: Segment, new: Segment) -> tuple[Numbers, Places]:
    """Return the numbers of removed or changed entries of `old`, and the indices of added or changed ones in `new`.

    The first are uint64 [removed], the type of keys in usearch, the second int64 [new].
    """
    numbers = old.columns["number"], new.columns["number"]
    _, olds, news = np.intersect1d(*numbers, assume_unique=True, return_indices=True)
    is_same = np.zeros(len(olds), np.bool_)
    for start in range(0, len(olds), _BATCH):
        part = slice(start, start + _BATCH)
        is_same[part] = (old.codes[olds[part]] == new.codes[news[part]]).all(axis=1)
    gone = np.delete(numbers[0], olds[is_same]).astype(np.uint64)
    return gone, np.delete(np.arange(len(new)), news[is_same])


def _map_file(path: Path, stamp: str) -> Body | None:
    """Map the file of usearch; return None when it is missing, damaged, truncated, or of another generation."""
    length = len(_make_trailer(stamp, 0))
    try:
        with open(path, "rb") as file:  # one open file for body and trailer: another process may replace the path
            size = os.fstat(file.fileno()).st_size - length
            file.seek(size)
            end = file.read()
            body = np.memmap(file, np.uint8, "r", 0, (size,)) if size else None
            return body if body is not None and end == _make_trailer(stamp, zlib.crc32(body.data)) else None
    except (OSError, ValueError):  # the latter: a file shorter than its trailer
        return None


def _open_index(body: Body, segment: Segment, how: str) -> Any:
    """Open an index, "view" in its map or "load" into memory; return None when it is not that of the segment."""
    try:
        index = _new_index(segment.codes.shape[1])
        getattr(index, how)(body)
    except (ImportError, ValueError, RuntimeError):  # usearch reports damage by the last
        return None
    fits = len(index) == len(segment) and index.ndim == segment.codes.shape[1]
    return index if fits else None


class Finder:
    """Approximate search in one segment, through a memory map of its index."""

    def __init__(self, index: Any, body: Body, segment: Segment) -> None:
        self._index = index
        self._body = body  # the index reads it without keeping it alive
        self._index.expansion_search = EXPANSION
        self._segment = segment

    def find(self, query: npt.NDArray[np.float32], k: int) -> Places | None:
        """Return the indices of somewhat more than k entries, as duplicates will be dropped; None for the exact scan.

        The query is float32 [dimension], the indices are int64 [found], the nearest first.
        """
        codes, _ = quantise(normalise(query[None, :]))
        if k > MAX_HITS or not codes.any():  # a query of zeros is equally near to all entries
            return None
        keys = self._index.search(codes[0], k + OVERSAMPLING, threads=1).keys.astype(np.int64)
        numbers = self._segment.columns["number"]
        places = np.minimum(np.searchsorted(numbers, keys), len(numbers) - 1)
        found: Places = places[numbers[places] == keys]
        return found


def open_finder(path: Path, stamp: str, segment: Segment) -> Finder | None:
    """Open the index of a segment; return None when there is none of this generation."""
    body = _map_file(path, stamp)
    index = None if body is None else _open_index(body, segment, "view")
    return None if index is None or body is None else Finder(index, body, segment)
