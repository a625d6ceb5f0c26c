"""Find the tables of a text and their rows: Markdown's, and the grids and simple tables of reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

Lines = Sequence[bytes]

_DELIMITER = re.compile(rb"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t\r\n]*$")
_GRID = re.compile(rb"[ \t]*\+[-=]+(?:\+[-=]+)*\+[ \t\r\n]*$")
_SIMPLE = re.compile(rb"[ \t]*=+(?:[ \t]+=+)+[ \t\r\n]*$")
_CELL = re.compile(rb"(?<!\\)\|")


def find_table(lines: Lines, number: int, high: int) -> int:
    """Return the line after the table that begins in a line; 0 if none does."""
    if _GRID.match(lines[number]):
        return _find_end(lines, number, high)
    if _SIMPLE.match(lines[number]):
        borders = [at for at in range(number, _find_last(lines, number, high)) if _SIMPLE.match(lines[at])]
        return borders[-1] + 1 if len(borders) > 1 else 0
    if (
        b"|" in lines[number]
        and number + 1 < high
        and b"|" in lines[number + 1]
        and _DELIMITER.match(lines[number + 1])
    ):
        return next((at for at in range(number + 2, high) if b"|" not in lines[at]), high)
    return 0


def _find_end(lines: Lines, number: int, high: int) -> int:
    return next((at for at in range(number, high) if not lines[at].strip().startswith((b"+", b"|"))), high)


def _find_last(lines: Lines, number: int, high: int) -> int:
    """Return the line after a simple table: its third border, or the second where no rows follow."""
    seen = 0
    for at in range(number, high):
        if _SIMPLE.match(lines[at]):
            seen += 1
            is_last = at + 1 == high or not lines[at + 1].strip()
            if seen > 1 and is_last:
                return at + 1
    return high


def list_rows(lines: Lines, number: int, stop: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield the lines [low, high) of each row below the header of a table, and its first cell.

    A table without a header, or with nothing else, has all its rows.
    """
    if _GRID.match(lines[number]):
        return _list_grid(lines, number, stop)
    if _SIMPLE.match(lines[number]):
        return _list_simple(lines, number, stop)
    return ((at, at + 1, _cut_cells(lines[at])) for at in range(number + 2, stop))


def _cut_cells(line: bytes) -> bytes:
    """Return the first cell of a row that is not empty."""
    return next((cell.strip() for cell in _CELL.split(line) if cell.strip()), b"")


def _list_grid(lines: Lines, number: int, stop: int) -> Iterator[tuple[int, int, bytes]]:
    borders = [at for at in range(number, stop) if _GRID.match(lines[at])]
    header = next((place for place, at in enumerate(borders) if b"=" in lines[at]), 0)
    for low, high in zip(borders[header:], borders[header + 1 :], strict=False):
        if high > low + 1:
            yield low + 1, high, _cut_cells(lines[low + 1])


def _list_simple(lines: Lines, number: int, stop: int) -> Iterator[tuple[int, int, bytes]]:
    borders = [at for at in range(number, stop) if _SIMPLE.match(lines[at])]
    low, high = borders[-2], borders[-1]
    width = len(lines[number].split()[0]) + len(lines[number]) - len(lines[number].lstrip())
    firsts = [at for at in range(low + 1, high) if lines[at][:width].strip()]
    for start, end in zip(firsts, [*firsts[1:], high], strict=False):  # a table may have no rows
        yield start, end, lines[start][:width].strip()
