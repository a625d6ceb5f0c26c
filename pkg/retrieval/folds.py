"""Replace text cut by pruning with folds: comments with the numbers of the hidden lines (P-18)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pkg.model import Nested


class Gap(NamedTuple):
    """A cut branch, its place in the whole text, and whether a `pass` must replace it."""

    branch: Nested
    start: int  # of its whole lines
    stop: int
    margin: bytes
    is_filled: bool


def fold_gaps(text: bytes, gaps: Sequence[Gap]) -> bytes:
    """Replace each gap of a text by a fold; a gap inside another is part of it."""
    pieces, end = list[bytes](), 0
    for gap in sorted(gaps, key=lambda each: (each.start, -each.stop)):
        if gap.start >= end:
            pieces += text[end : gap.start], _write_fold(text, gap)
            end = gap.stop
    return b"".join((*pieces, text[end:]))


def format_fold(start_line: int, end_line: int) -> str:
    """Return the comment of a fold, with the lines of the file that it hides."""
    return f"# ... lines {start_line}-{end_line} folded"


def _write_fold(text: bytes, gap: Gap) -> bytes:
    lines = [format_fold(gap.branch.start_line, gap.branch.end_line).encode(), *([b"pass"] if gap.is_filled else [])]
    cut = text[gap.start : gap.stop]
    newline = b"\r\n" if b"\r\n" in cut else b"\n"
    return newline.join(gap.margin + line for line in lines) + (newline if cut.endswith(b"\n") else b"")
