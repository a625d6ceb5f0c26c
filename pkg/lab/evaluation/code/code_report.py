"""Compute the figures of a run from its files: solved, fixed, broken, errors, topics and costs (P-32 to P-36, P-38)."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pkg.errors import InputError
from pkg.lab.evaluation.code.columns import choose_columns, order_columns
from pkg.lab.evaluation.code.leak_figures import LeakFigures, count_leaks
from pkg.lab.evaluation.code.run_folder import Record, read_costs, read_head, read_records, read_tasks
from pkg.lab.evaluation.code.scorer import ERRORS
from pkg.lab.evaluation.code.task_outcomes import (
    ColumnCases,
    TaskOutcome,
    TopicFigures,
    count_overlaps,
    count_topics,
    list_cases,
    list_tasks,
)
from pkg.lab.evaluation.statistics import Interval, compare_paired, find_share_interval, pass_at_k

BASE = "none"  # the baseline of the other columns
AT = (1, 10)  # k of pass@k, up to the number of samples


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """The figures of one column."""

    column: str
    title: str
    items: int
    samples: int
    solved: int  # items whose first sample passes
    share: float
    interval: Interval  # of the share, 95 %, Wilson
    pass_at: Mapping[int, float]
    fixed: int | None  # items that the base fails; None without the base
    broken: int | None
    p_value: float | None
    base: str
    fixed_shown: int | None  # fixed items whose task shows an example
    broken_shown: int | None
    errors: Mapping[str, int]  # counts by class, of the failed items (P-33)
    empty: int  # items without shown code, in a column that shows code
    cut: int
    prompt_tokens: float  # mean per answer
    completion_tokens: float
    seconds: float  # model time of all answers
    retrieval_seconds: float  # of all answers; a shared search counts for each column
    leaks: LeakFigures | None  # None if leaks were not searched for
    lost: int = 0  # answers lost to an internal error, counted as wrong until the run is resumed


@dataclass(frozen=True, slots=True)
class CodeReport:
    """The figures of one run."""

    path: str
    head: Mapping[str, Any]
    columns: tuple[ColumnFigures, ...]
    overlaps: Mapping[str, int]  # items by the set of the paper's columns that solve them, joined by " + " (P-35)
    tasks: tuple[TaskOutcome, ...]
    topics: tuple[TopicFigures, ...]  # empty if the run has no topics (P-34)
    cases: tuple[ColumnCases, ...]  # fixed and broken tasks to look at (P-38)
    costs: Mapping[str, Any]  # of the graph: seconds by stage, bytes, nodes; empty without one (P-36)
    kinds: Mapping[str, tuple[ColumnFigures, ...]] = field(default_factory=dict)  # columns by kind of item


def read_report(path: Path) -> CodeReport:
    """Build the report of a run; raises InputError if it has no record, or columns of different items."""
    head = read_head(path)
    kept: dict[str, dict[tuple[str, int], Record]] = defaultdict(dict)
    for record in read_records(path):
        kept[record.column][record.item, record.sample] = record
    if not kept:
        raise InputError(f"the run in {path} has no record yet; run the same evaluation again")
    names = order_columns(list(kept))
    order = {item: place for place, item in enumerate(head["items"])}
    first = {name: _take_first(kept[name], order) for name in names}
    tasks = list_tasks(head["items"], first, read_tasks(path))
    return CodeReport(
        str(path),
        head,
        _sum_up_all(kept),
        count_overlaps(tasks, [name for name in names if name in _OVERLAPPED]),
        tasks,
        count_topics(tasks, names),
        list_cases(first, BASE),
        read_costs(path),
        _sum_up_kinds(kept, head.get("kinds", {})),
    )


_Kept = Mapping[str, Mapping[tuple[str, int], Record]]


def _sum_up_all(kept: _Kept) -> tuple[ColumnFigures, ...]:
    return tuple(_sum_up(name, kept[name], kept.get(BASE, {})) for name in order_columns(list(kept)))


def _sum_up_kinds(kept: _Kept, kinds: Mapping[str, str]) -> dict[str, tuple[ColumnFigures, ...]]:
    """Sum up the items of each kind separately; kinds: by item."""
    found = {}
    for kind in sorted(set(kinds.values())):
        parts = {
            name: {key: record for key, record in records.items() if kinds.get(key[0]) == kind}
            for name, records in kept.items()
        }
        figures = _sum_up_all({name: part for name, part in parts.items() if part})
        if figures:
            found[kind] = figures
    return found


def _take_first(records: Mapping[tuple[str, int], Record], order: Mapping[str, int]) -> dict[str, Record]:
    """Return the first sample of each item, in the order of the run."""
    found = {item: record for (item, sample), record in records.items() if sample == 0}
    return dict(sorted(found.items(), key=lambda each: order.get(each[0], len(order))))


_OVERLAPPED = ("none", "func-bm25", "func-pkg", "block-pkg")


def _sum_up(
    name: str, records: Mapping[tuple[str, int], Record], base: Mapping[tuple[str, int], Record]
) -> ColumnFigures:
    column = next(each for each in choose_columns([name]) if each.name == name)
    first = {item: record for (item, sample), record in sorted(records.items()) if sample == 0}
    shared = [item for item in first if (item, 0) in base] if name != BASE else []
    solved = sum(record.passed for record in first.values())
    pairs = [(base[item, 0], first[item]) for item in shared]
    paired = compare_paired([a.passed for a, _ in pairs], [b.passed for _, b in pairs]) if pairs else None
    visible = [(a, b) for a, b in pairs if b.is_shown_right is not None]
    by_item: dict[str, list[bool]] = defaultdict(list)
    for (item, _), record in records.items():
        by_item[item].append(record.passed)
    samples = min(map(len, by_item.values()))
    errors = Counter(record.error for record in first.values() if not record.passed)
    every = list(records.values())
    return ColumnFigures(
        name,
        column.title,
        len(first),
        samples,
        solved,
        solved / len(first) if first else 0.0,
        find_share_interval(solved, len(first)),
        {
            k: statistics.mean(pass_at_k(len(each), sum(each), k) for each in by_item.values())
            for k in AT
            if k <= samples
        },
        paired.fixed if paired else None,
        paired.broken if paired else None,
        paired.p_value if paired else None,
        BASE,
        sum(b.passed > a.passed for a, b in visible) if paired else None,
        sum(a.passed > b.passed for a, b in visible) if paired else None,
        {error: errors[error] for error in ERRORS},
        sum(not record.shown for record in first.values()) if column.finder else 0,
        sum(record.is_cut for record in first.values()),
        statistics.mean(record.prompt_tokens for record in every),
        statistics.mean(record.completion_tokens for record in every),
        sum(record.seconds for record in every),
        sum(record.retrieval_seconds for record in every),
        count_leaks(first, {item: record for (item, sample), record in base.items() if sample == 0 and name != BASE}),
        sum(record.is_lost for record in every),
    )
