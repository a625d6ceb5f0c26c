"""Tables of a report, and the format of figures and marks in their cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pkg.lab.evaluation.code.code_report import CodeReport, ColumnFigures
from pkg.lab.evaluation.code.columns import choose_columns

NOTHING = "–"  # a missing figure

Mark = Literal["", "up", "down"]
"""Whether a figure is above or below that without context; "" for neither."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table; the first column names the rows, and marks, if any, has a mark for each further cell."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    marks: tuple[tuple[Mark, ...], ...] = ()
    is_text: bool = False  # whether the cells are words, not numbers


class Run(NamedTuple):
    """The report of a run, with a unique name."""

    name: str
    report: CodeReport


def mark_row(shares: Sequence[float | None], base: int | None) -> tuple[Mark, ...]:
    """Mark the shares above and below that at the index of the base; no marks without one."""
    known = shares[base] if base is not None else None
    return tuple(
        "" if share is None or known is None or share == known else "up" if share > known else "down"
        for share in shares
    )


def index_columns(report: CodeReport) -> dict[str, ColumnFigures]:
    """Return the columns of a report by name."""
    return {each.column: each for each in report.columns}


def name_column(column: str) -> str:
    """Return the title of a column."""
    return next(each.title for each in choose_columns([column]) if each.name == column)


def find_share(found: ColumnFigures | None) -> float | None:
    """Return pass@1 of a column in per cent: with one sample, the solved share."""
    return None if found is None else 100 * found.pass_at[1]


def write_number(value: float | None, digits: int) -> str:
    """Format a number; a dash for None."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def write_count(value: int | None) -> str:
    """Format a count; "" for None."""
    return "" if value is None else str(value)
