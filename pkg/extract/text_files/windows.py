"""Cut a text into overlapping windows of characters, as in the papers (Q-02, Q-07, A-37).

As in the papers' recursive splitter, the text is cut at the strongest separator of its format; neighbouring pieces are
joined while they fit; a piece that is too long is cut at the next weaker separator, and finally anywhere.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_ANYWHERE = (r"\n[ \t\r]*\n", r"\n", r"[ \t]+")  # blank line, newline, space
_SEPARATORS = {
    "python": (r"\n(?=class\s)", r"\n(?=(?:async )?def\s)", r"\n(?=[ \t]+(?:async )?def\s)"),
    "markdown": (r"\n(?=#\s)", r"\n(?=##\s)", r"\n(?=#{3,6}\s)", r"\n(?=```|~~~)"),
    "rst": (r"\n(?=\S[^\n]*\n([=\-~^\"'*+#`:._])\1{2,}[ \t\r]*$)", r"\n(?=\.\. )"),
    "toml": (r"\n(?=\[)",),
    "yaml": (r"\n(?=---)", r"\n(?=[^\s#\-])"),
}
_KINDS = {
    ".py": "python", ".pyi": "python", ".md": "markdown", ".markdown": "markdown", ".rst": "rst", ".toml": "toml",
    ".cfg": "toml", ".ini": "toml", ".yml": "yaml", ".yaml": "yaml",
}  # fmt: skip
_COMPILED = {
    kind: tuple(re.compile(mark, re.MULTILINE) for mark in (*marks, *_ANYWHERE)) for kind, marks in _SEPARATORS.items()
}
_PLAIN = tuple(re.compile(mark) for mark in _ANYWHERE)
_BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)*")

Piece = tuple[int, int]
"""Start and end of a piece of the text, in characters."""


@dataclass(frozen=True, slots=True)
class Window:
    """Some lines of a text, the first and the last possibly in part; lines count from 1."""

    start_line: int
    end_line: int
    content: str


def cut_windows(text: str, suffix: str, size: int = 1500, overlap: int = 200) -> list[Window]:
    """Cut a text into windows of up to `size` characters, in order, with the separators for a file suffix.

    A window repeats whole pieces from the end of the previous one, up to `overlap` characters. Blank lines before it
    and white space after it are trimmed. Raises ValueError unless the overlap is smaller than the size.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"an overlap of {overlap} and a size of {size}; expected 0 <= overlap < size")
    separators = _COMPILED.get(_KINDS.get(suffix.lower(), ""), _PLAIN)
    newlines = [found.start() for found in re.finditer("\n", text)]
    windows = []
    covered = 0
    for piece in _cut(text, (0, len(text)), separators, size, overlap):
        start, end = _trim(text, piece)
        if start < end and end > covered:
            covered = end
            lines = bisect_left(newlines, start) + 1, bisect_left(newlines, end - 1) + 1
            windows.append(Window(*lines, text[start:end]))
    return windows


def _trim(text: str, piece: Piece) -> Piece:
    """Trim the blank lines before the piece and the white space after it."""
    start, end = piece
    found = _BLANK_LINES.match(text, start, end)
    start = found.end() if found else start
    return start, start + len(text[start:end].rstrip())


def _cut(text: str, piece: Piece, separators: Sequence[re.Pattern[str]], size: int, overlap: int) -> Iterator[Piece]:
    """Cut a piece at the strongest separator that occurs in it; without any, every `size - overlap` characters."""
    start, end = piece
    if end - start <= size:
        yield piece
        return
    for place, separator in enumerate(separators):
        ends = [found.end() for found in separator.finditer(text, start, end) if start < found.end() < end]
        if ends:
            yield from _join(text, [start, *ends, end], separators[place + 1 :], size, overlap)
            return
    for first in range(start, end - overlap, size - overlap):
        yield first, min(first + size, end)


def _join(text: str, ends: list[int], weaker: Sequence[re.Pattern[str]], size: int, overlap: int) -> Iterator[Piece]:
    """Join neighbouring pieces up to the size; one that is too long is cut further and joined with no other."""
    window: deque[int] = deque()  # starts of its pieces
    for start, end in pairwise(ends):
        if end - start > size:
            if window:
                yield window[0], start
                window.clear()
            yield from _cut(text, (start, end), weaker, size, overlap)
            continue
        if window and end - window[0] > size:
            yield window[0], start
            while window and (start - window[0] > overlap or end - window[0] > size):
                window.popleft()
        window.append(start)
    if window:
        yield window[0], ends[-1]
