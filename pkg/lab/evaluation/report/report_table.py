"""A table of a report, and how figures are written and marked in its cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pkg.lab.evaluation.code.code_report import CodeReport, ColumnFigures
from pkg.lab.evaluation.code.columns import choose_columns

NOTHING = "–"  # where there is no figure

Mark = Literal["", "up", "down"]
"""Whether a figure is above or below that without context."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table: the first column names its rows, and with marks each other cell has one."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    marks: tuple[tuple[Mark, ...], ...] = ()
    is_text: bool = False  # whether the cells are words, not numbers


class Run(NamedTuple):
    """The report of a run, with the name that tells it from the others."""

    name: str
    report: CodeReport


def mark_row(shares: Sequence[float | None], base: int | None) -> tuple[Mark, ...]:
    """Mark what is above and below the share at the place of the base; nothing without one."""
    known = shares[base] if base is not None else None
    return tuple(
        "" if share is None or known is None or share == known else "up" if share > known else "down"
        for share in shares
    )


def index_columns(report: CodeReport) -> dict[str, ColumnFigures]:
    """Give the columns of a report by their names."""
    return {each.column: each for each in report.columns}


def name_column(column: str) -> str:
    """Give the title of a column by its name."""
    return next(each.title for each in choose_columns([column]) if each.name == column)


def find_share(found: ColumnFigures | None) -> float | None:
    """Give pass@1 of a column, in per cent; of one answer it is the share that is solved."""
    return None if found is None else 100 * found.pass_at[1]


def write_number(value: float | None, digits: int) -> str:
    """Write a number, or the sign of none."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def write_count(value: int | None) -> str:
    """Write a count; nothing where there is none to tell."""
    return "" if value is None else str(value)
