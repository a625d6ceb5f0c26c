"""Show what was cut from a text as a fold: a comment in its place that tells which lines are not shown (P-18)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pkg.model import Nested


class Gap(NamedTuple):
    """A branch that was cut, by its place in the whole text, and whether `pass` has to stand for it."""

    branch: Nested
    start: int  # of its lines
    stop: int
    margin: bytes
    is_filled: bool


def fold_gaps(text: bytes, gaps: Sequence[Gap]) -> bytes:
    """Write a text with a fold in the place of each gap; a gap inside of another goes with it."""
    pieces, end = list[bytes](), 0
    for gap in sorted(gaps, key=lambda each: (each.start, -each.stop)):
        if gap.start >= end:
            pieces += text[end : gap.start], _write_fold(text, gap)
            end = gap.stop
    return b"".join((*pieces, text[end:]))


def name_fold(start_line: int, end_line: int) -> str:
    """Say which lines of the file a fold stands for, as a comment."""
    return f"# ... lines {start_line}-{end_line} folded"


def _write_fold(text: bytes, gap: Gap) -> bytes:
    lines = [name_fold(gap.branch.start_line, gap.branch.end_line).encode(), *([b"pass"] if gap.is_filled else [])]
    cut = text[gap.start : gap.stop]
    newline = b"\r\n" if b"\r\n" in cut else b"\n"
    return newline.join(gap.margin + line for line in lines) + (newline if cut.endswith(b"\n") else b"")
