"""An approximate index of very many vectors, made by usearch, an extra; the exact scan stands behind it (P-14, P-17).

Each label has a file of its own beside the codes. What usearch writes is followed by a line that holds its checksum and
names the generation: a file that is damaged, cut short or of another generation is not opened, for usearch follows the
numbers in it wherever they lead. The keys are the numbers of the nodes, and the vectors the 8-bit codes of the exact
scan, so that old codes and new tell what a build has changed.
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
"""Neighbours that a search keeps in sight; what is found with others stands in benchmarks/results/approximate.json."""

MOST_ASKED = 1000  # hits; who asks for more is served by the exact scan, which then costs about as much
MOST_CHANGED = 0.2  # share of the vectors; places of what is gone stay in the index, and beyond this it is made anew
_TOGETHER = 65_536  # codes that are compared at once, to spare memory
_READ_BYTES = 1 << 20  # of an index that are summed up at a time

Places = npt.NDArray[np.int64]
Body = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.uint64]


def write_indexes(paths: Mapping[str, Path], before: VectorIndex | None, now: VectorIndex, above: int) -> None:
    """Bring the index of each label up to the present codes; remove that of a label with too few vectors for one."""
    for label, segment in now.segments.items():
        path = paths[label]
        try:
            if len(segment) > above:
                index = _update_index(path, before, label, segment) or _make_index(segment)
                _save_index(path, index, now.stamp)
            else:
                path.unlink(missing_ok=True)
        except (ImportError, MemoryError, RuntimeError):  # no usearch; the last is what it says of a full disk
            path.unlink(missing_ok=True)  # one of the past would only take room


def _save_index(path: Path, index: Any, stamp: str) -> None:
    """Put the file in its place at once; a reader sees the old one or the new."""
    with replace_file(path) as temporary:
        index.save(temporary)
        with open(temporary, "r+b") as file:
            checksum = 0
            while part := file.read(_READ_BYTES):
                checksum = zlib.crc32(part, checksum)
            file.write(_end_with(stamp, checksum))


def _end_with(stamp: str, checksum: int) -> bytes:
    return f"\nPKG approximate 2 {checksum:08x} {stamp}\n".encode()


def _new_index(dimension: int) -> Any:
    from usearch.index import Index

    return Index(ndim=dimension, metric="cos", dtype="i8")


def _make_index(segment: Segment) -> Any:
    """Index all codes, by one thread: the same codes then make the same index, which gives the same answers."""
    index = _new_index(segment.codes.shape[1])
    _add(index, segment, np.arange(len(segment)))
    return index


def _add(index: Any, segment: Segment, places: Places) -> None:
    numbers = segment.columns["number"]
    for start in range(0, len(places), _TOGETHER):
        batch = places[start : start + _TOGETHER]
        index.add(numbers[batch].astype(np.uint64), segment.codes[batch], threads=1)


def _update_index(path: Path, before: VectorIndex | None, label: str, segment: Segment) -> Any:
    """Change the index of the generation before where codes have changed; None when it must be made anew."""
    old = before.segments.get(label) if before else None
    if before is None or old is None or old.codes.shape[1] != segment.codes.shape[1]:
        return None
    gone, new = find_changes(old, segment)
    if len(gone) + len(new) > MOST_CHANGED * len(segment):
        return None
    body = _map_file(path, before.stamp)
    index = None if body is None else _open_index(body, old, "load")
    if index is not None:
        if len(gone):
            index.remove(gone, threads=1)
        _add(index, segment, new)
    return index


def find_changes(old: Segment, new: Segment) -> tuple[Numbers, Places]:
    """Give the numbers of the old segment that are gone or have another code, and the places of the new that came.

    The first are uint64 [gone], as usearch has its keys, the second int64 [new].
    """
    numbers = old.columns["number"], new.columns["number"]
    _, olds, news = np.intersect1d(*numbers, assume_unique=True, return_indices=True)
    is_same = np.zeros(len(olds), np.bool_)
    for start in range(0, len(olds), _TOGETHER):
        part = slice(start, start + _TOGETHER)
        is_same[part] = (old.codes[olds[part]] == new.codes[news[part]]).all(axis=1)
    gone = np.delete(numbers[0], olds[is_same]).astype(np.uint64)
    return gone, np.delete(np.arange(len(new)), news[is_same])


def _map_file(path: Path, stamp: str) -> Body | None:
    """Map what usearch has written; None when the file is missing, damaged, cut short, or of another generation."""
    length = len(_end_with(stamp, 0))
    try:
        with open(path, "rb") as file:  # one file for body and end: another process may put a new one in its place
            size = os.fstat(file.fileno()).st_size - length
            file.seek(size)
            end = file.read()
            body = np.memmap(file, np.uint8, "r", 0, (size,)) if size else None
            return body if body is not None and end == _end_with(stamp, zlib.crc32(body.data)) else None
    except (OSError, ValueError):  # the latter: a file that is shorter than its end
        return None


def _open_index(body: Body, segment: Segment, how: str) -> Any:
    """Open an index, "view" in its map or "load" into memory; None when it is not the one of the segment."""
    try:
        index = _new_index(segment.codes.shape[1])
        getattr(index, how)(body)
    except (ImportError, ValueError, RuntimeError):  # the last is what usearch says of damage
        return None
    fits = len(index) == len(segment) and index.ndim == segment.codes.shape[1]
    return index if fits else None


class Finder:
    """Find what probably lies nearest in one segment, through a memory map of its index."""

    def __init__(self, index: Any, body: Body, segment: Segment) -> None:
        self._index = index
        self._body = body  # the index reads it without keeping it alive
        self._index.expansion_search = EXPANSION
        self._segment = segment

    def find(self, query: npt.NDArray[np.float32], k: int) -> Places | None:
        """Give the places of somewhat more than k entries, as equal content will be folded; None for the exact scan.

        The query is float32 [dimension], the places are int64 [found], the nearest first.
        """
        codes, _ = quantise(normalise(query[None, :]))
        if k > MOST_ASKED or not codes.any():  # a query of zeros is as near to one entry as to another
            return None
        keys = self._index.search(codes[0], k + OVERSAMPLING, threads=1).keys.astype(np.int64)
        numbers = self._segment.columns["number"]
        places = np.minimum(np.searchsorted(numbers, keys), len(numbers) - 1)
        found: Places = places[numbers[places] == keys]
        return found


def open_finder(path: Path, stamp: str, segment: Segment) -> Finder | None:
    """Open the index of a segment; None when there is none of this generation."""
    body = _map_file(path, stamp)
    index = None if body is None else _open_index(body, segment, "view")
    return None if index is None or body is None else Finder(index, body, segment)
