"""Count the results of a column without items whose solution the shown code contains (A-16, P-26).

The records suffice: each names the tasks whose solution its shown code contains, and the kind of leak.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pkg.lab.evaluation.code.run_folder import Record

SAME = ("same_name", "same_code")
"""The kinds that count for the contamination rate (A-16)."""


@dataclass(frozen=True, slots=True)
class LeakFigures:
    """Frequency of shown code that contains solutions, and the results of a column without these items."""

    leaked: int  # items whose shown code contains their own solution
    same: int  # of the leaked ones, by the same name or the same code
    of_others: int  # items whose shown code contains only solutions of other items
    items: int  # items whose shown code does not contain their own solution
    solved: int  # of these items
    fixed: int | None  # of these items, as for the whole column
    broken: int | None


def count_leaks(first: Mapping[str, Record], base: Mapping[str, Record]) -> LeakFigures | None:
    """Count leaks in the first samples of a column, by item, against the base; None if they were not searched for.

    An answer chosen among others counts by the code shown in its own prompt.
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
    """List the kinds of leak of the item's own solution."""
    told = (leak.split(" ", 1) for leak in record.leaks or ())
    return [kind for kind, task in told if task == record.item]
