"""Tables end where they end, and each of their rows has its lines and its first cell."""

from __future__ import annotations

import pytest

from pkg.extract.documents.table_rows import find_table, list_rows

PIPES = "| a | b |\n|---|---|\n| x | 1 |\n|  | y |\n| a\\|b | 2 |\n\nAfter | it.\n"
GRID = (
    "+---+-----+\n| k | v   |\n+===+=====+\n| a | one |\n|   | two |\n+---+-----+\n| b | x   |\n+---+-----+\nAfter.\n"
)
BARE_GRID = "+---+---+\n| a | 1 |\n+---+---+\n| b | 2 |\n+---+---+\n"
SIMPLE = "===  ===\nA    B\n===  ===\nx    1\n     2\ny    3\n===  ===\n\nAfter.\n"
BARE_SIMPLE = "  ==  ==\n  x   1\n  y   2\n  ==  ==\n"


def read(text: str) -> tuple[int, list[tuple[int, int, str]]]:
    """Return the line after the table, and its rows."""
    lines = text.encode().splitlines(keepends=True)
    stop = find_table(lines, 0, len(lines))
    return stop, [(low, high, cell.decode()) for low, high, cell in list_rows(lines, 0, stop)]


@pytest.mark.parametrize(
    ("text", "stop", "rows"),
    [
        (PIPES, 5, [(2, 3, "x"), (3, 4, "y"), (4, 5, "a\\|b")]),
        (GRID, 8, [(3, 5, "a"), (6, 7, "b")]),
        (BARE_GRID, 5, [(1, 2, "a"), (3, 4, "b")]),
        (SIMPLE, 7, [(3, 5, "x"), (5, 6, "y")]),
        (BARE_SIMPLE, 4, [(1, 2, "x"), (2, 3, "y")]),
        ("| a |\n|---|\n", 2, []),
    ],
)
def test_a_row_has_its_lines_and_its_first_cell(text: str, stop: int, rows: list[tuple[int, int, str]]) -> None:
    assert read(text) == (stop, rows)


@pytest.mark.parametrize("text", ["a | b\nno line\n", "===  ===\nA    B\n", "plain\n", "Title\n=====\n"])
def test_lines_without_a_delimiter_or_a_second_border_are_no_table(text: str) -> None:
    lines = text.encode().splitlines(keepends=True)
    assert find_table(lines, 0, len(lines)) == 0
