"""The inverted terms of one generation: in memory, and those that every question searches also in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from pkg.model import DECLARATION_LABELS, Label, list_group

if TYPE_CHECKING:
    from pkg.terms.index_segment import StoredTerms, TextSegment

    ListStored: TypeAlias = Callable[[], Iterable[StoredTerms]]
    Segments: TypeAlias = dict[tuple[Label, ...], TextSegment]

INDEXED = ((Label.FUNCTION,), DECLARATION_LABELS, (Label.CHUNK,), (Label.FACT,))
"""Groups of labels that questions search, each in one index; the terms of imports are inverted on demand."""


class TextCache:
    """Cache of the segments of the generation requested last, identified by its stamp.

    Threads may share it: while one reads the terms of a generation, the others wait for them.
    """

    def __init__(self, find_path: Callable[[], Path]) -> None:
        self._find_path = find_path
        self._lock = Lock()
        self._stamp = ""
        self._segments: dict[tuple[Label, ...], TextSegment] = {}

    def open_terms(self, stamp: str, label: Label, list_stored: ListStored) -> TextSegment:
        """Return the terms of a label's group in a generation; without a stamp they are read each time."""
        group = list_group(label)
        with self._lock:
            if not stamp or stamp != self._stamp:
                self._stamp, self._segments = stamp, {}
            if group not in self._segments:
                in_file = group in INDEXED and stamp
                self._segments |= self._open_file(stamp, list_stored) if in_file else _invert([group], list_stored)
            return self._segments[group]

    def write(self, stamp: str, list_stored: ListStored) -> None:
        """Invert the terms of a generation and write its file; raises OSError where the path cannot be written."""
        from pkg.terms.index_writing import write_terms

        write_terms(self._find_path(), stamp, list_stored(), INDEXED)

    def repair(self, stamp: str, list_stored: ListStored) -> list[str]:
        """Write the file of a generation again where it is damaged; return a message for each repair."""
        from pkg.private_files import repair_file
        from pkg.terms.index_file import has_sound_terms

        return repair_file(self._find_path(), has_sound_terms, lambda: self.write(stamp, list_stored))

    def _open_file(self, stamp: str, list_stored: ListStored) -> Segments:
        """Map the file; where it is of another generation, write it again, or only keep it in memory if that fails."""
        from pkg.private_files import make_folder
        from pkg.terms.index_file import read_text_segments

        path = self._find_path()
        read = read_text_segments(path, stamp)
        if read is None:
            with suppress(OSError):  # the path cannot be written
                make_folder(path.parent)  # a user's cache folder may not be there yet
                self.write(stamp, list_stored)
                read = read_text_segments(path, stamp)
        return _invert(INDEXED, list_stored) if read is None else dict(zip(INDEXED, read, strict=True))


def _invert(groups: Sequence[tuple[Label, ...]], list_stored: ListStored) -> Segments:
    from pkg.terms.index_segment import make_text_segments

    return dict(zip(groups, make_text_segments(list_stored(), groups), strict=True))
