"""Count what came of a column where the code that it shows gives no solution away (A-16, P-26).

All of it comes from the records: each tells which tasks of the benchmark its shown code gives away, and how.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pkg.lab.evaluation.code.run_folder import Record

SAME = ("same_name", "same_code")
"""The rows that count for the rate of contamination (A-16)."""


@dataclass(frozen=True, slots=True)
class LeakFigures:
    """How often a column shows code that gives solutions away, and what is left without these items."""

    leaked: int  # items whose shown code gives their own solution away
    same: int  # of these by the same name or the same code
    of_others: int  # items whose shown code gives away another item of the benchmark alone
    items: int  # whose shown code does not give their own solution away
    solved: int  # of those
    fixed: int | None  # of those, as for the whole column
    broken: int | None


def count_leaks(first: Mapping[str, Record], base: Mapping[str, Record]) -> LeakFigures | None:
    """Count for the first samples of a column, by item, beside those of the base; None where nobody looked for leaks.

    An answer that was chosen among others counts by the code that its own prompt has shown.
    """
    if any(record.leaks is None and record.shown for record in first.values()):
        return None
    own = {item: _list_kinds(record) for item, record in first.items()}
    clean = [item for item, kinds in own.items() if not kinds]
    pairs = [(base[item].passed, first[item].passed) for item in clean if item in base]
    return LeakFigures(
        len(own) - len(clean),
        sum(any(kind in SAME for kind in kinds) for kinds in own.values()),
        sum(bool(first[item].leaks) for item in clean),
        len(clean),
        sum(first[item].passed for item in clean),
        sum(after > before for before, after in pairs) if pairs else None,
        sum(before > after for before, after in pairs) if pairs else None,
    )


def _list_kinds(record: Record) -> list[str]:
    """List how the code that is shown gives away the very item."""
    told = (leak.split(" ", 1) for leak in record.leaks or ())
    return [kind for kind, task in told if task == record.item]
