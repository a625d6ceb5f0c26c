"""The inverted terms of one generation: in memory, and those that every question searches also in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pkg.model import DECLARATION_LABELS, Label, list_group

if TYPE_CHECKING:
    from pkg.terms.index_segment import StoredTerms, TextSegment

INDEXED = ((Label.FUNCTION,), DECLARATION_LABELS, (Label.CHUNK,), (Label.FACT,))
"""Groups of labels that questions search, each in one index; the terms of imports are inverted on demand."""


class TextCache:
    """Cache of the segments of the generation requested last, identified by its stamp."""

    def __init__(self, find_path: Callable[[], Path], list_stored: Callable[[], Iterable[StoredTerms]]) -> None:
        self._find_path = find_path
        self._list_stored = list_stored
        self._stamp = ""
        self._segments: dict[tuple[Label, ...], TextSegment] = {}

    def open_terms(self, stamp: str, label: Label) -> TextSegment:
        """Return the terms of a label's group in a generation; without a stamp they are read each time."""
        if not stamp or stamp != self._stamp:
            self._stamp, self._segments = stamp, {}
        group = list_group(label)
        if group not in self._segments:
            self._segments |= self._open_file(stamp) if group in INDEXED and stamp else self._invert([group])
        return self._segments[group]

    def write(self, stamp: str) -> None:
        """Invert the terms of a generation and write its file; raises OSError where the path cannot be written."""
        from pkg.terms.index_file import write_text_segments

        write_text_segments(self._find_path(), stamp, list(self._invert(INDEXED).values()))

    def repair(self, stamp: str) -> list[str]:
        """Write the file of a generation again where it is damaged; return a message for each repair."""
        from pkg.private_files import repair_file
        from pkg.terms.index_file import has_sound_terms

        return repair_file(self._find_path(), has_sound_terms, lambda: self.write(stamp))

    def _open_file(self, stamp: str) -> dict[tuple[Label, ...], TextSegment]:
        """Map the file; where it is of another generation, write it again, or only keep it in memory if that fails."""
        from pkg.private_files import make_folder
        from pkg.terms.index_file import read_text_segments, write_text_segments

        path = self._find_path()
        read = read_text_segments(path, stamp)
        if read is not None:
            return dict(zip(INDEXED, read, strict=True))
        segments = self._invert(INDEXED)
        with suppress(OSError):  # the path cannot be written: the terms stay in memory
            make_folder(path.parent)  # a user's cache folder may not be there yet
            write_text_segments(path, stamp, list(segments.values()))
        return segments

    def _invert(self, groups: Sequence[tuple[Label, ...]]) -> dict[tuple[Label, ...], TextSegment]:
        from pkg.terms.index_segment import make_text_segments

        return dict(zip(groups, make_text_segments(self._list_stored(), groups), strict=True))
