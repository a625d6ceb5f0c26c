"""Compute the figures of a run from its files: solved, fixed, broken, errors, topics and costs (P-32 to P-36, P-38)."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from pkg.errors import InputError
from pkg.lab.evaluation.code.benchmarks import TaskFacts
from pkg.lab.evaluation.code.evaluation_conditions import choose_conditions, order_conditions
from pkg.lab.evaluation.code.hidden_tests import ERRORS
from pkg.lab.evaluation.code.run_folder import Record, read_costs, read_head, read_records, read_tasks
from pkg.lab.evaluation.code.topics import TOPICS
from pkg.lab.evaluation.share_statistics import Interval, compare_paired, find_share_interval, pass_at_k

First = Mapping[str, Mapping[str, Record]]
"""First answers by condition and item."""

SAME = ("same_name", "same_code")
"""The kinds that count for the contamination rate (A-16)."""

BASE = "none"  # the baseline of the other conditions
AT = (1, 10)  # k of pass@k, up to the number of samples


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """One task: its topic, and the conditions whose first answer passes."""

    item: str
    topic: str  # "" if the run has no topics
    place: tuple[float, float] | None
    solved_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopicFigures:
    """The tasks of one topic, and the number that each condition solves."""

    topic: str
    items: int
    solved: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Case:
    """One task that a condition fixed or broke, with the details for a reader."""

    item: str
    shown: tuple[str, ...]  # places of the code in the prompt
    chosen: str  # the condition of the chosen answer
    error: str  # of the failing side: the base if fixed, the condition if broken
    detail: str


@dataclass(frozen=True, slots=True)
class ConditionCases:
    """Tasks that a condition fixed and broke, compared with the base."""

    column: str
    fixed: tuple[Case, ...]
    broken: tuple[Case, ...]


def list_tasks(items: Sequence[str], first: First, facts: Mapping[str, TaskFacts]) -> tuple[TaskOutcome, ...]:
    """Return the items of a run, in its order, with the conditions that solve each."""
    return tuple(
        TaskOutcome(
            item,
            facts[item].topic if item in facts else "",
            facts[item].place if item in facts else None,
            tuple(name for name, records in first.items() if item in records and records[item].passed),
        )
        for item in items
        if any(item in records for records in first.values())
    )


def count_topics(tasks: Sequence[TaskOutcome], conditions: Sequence[str]) -> tuple[TopicFigures, ...]:
    """Count the solved tasks of each condition by topic, in the order of the topics, without empty topics."""
    found = []
    for topic in TOPICS:
        of_topic = [task for task in tasks if task.topic == topic]
        solved = {name: sum(name in task.solved_by for task in of_topic) for name in conditions}
        found.append(TopicFigures(topic, len(of_topic), solved))
    return tuple(each for each in found if each.items)


def list_cases(first: First, base: str) -> tuple[ConditionCases, ...]:
    """Return the tasks that each condition fixed and broke, compared with the base, in the order of the items."""
    known = first.get(base, {})
    return tuple(
        ConditionCases(
            name,
            tuple(
                _make_case(record, known[item])
                for item, record in records.items()
                if item in known and record.passed > known[item].passed
            ),
            tuple(
                _make_case(record, record)
                for item, record in records.items()
                if item in known and record.passed < known[item].passed
            ),
        )
        for name, records in first.items()
        if name != base and known
    )


def _make_case(record: Record, failing: Record) -> Case:
    return Case(record.item, record.shown, record.chosen, failing.error, failing.detail)


def count_overlaps(tasks: Sequence[TaskOutcome], conditions: Sequence[str]) -> dict[str, int]:
    """Count the tasks that each set of conditions, and no other condition, solves (P-35)."""
    counts: Counter[str] = Counter()
    for task in tasks:
        counts[" + ".join(name for name in conditions if name in task.solved_by) or NONE_SOLVES] += 1
    sets = [" + ".join(each) for size in range(len(conditions), 0, -1) for each in combinations(conditions, size)]
    return {name: counts[name] for name in (*sets, NONE_SOLVES) if counts[name]}


NONE_SOLVES = "no column"


@dataclass(frozen=True, slots=True)
class LeakFigures:
    """Frequency of shown code that contains solutions, and the results of a condition without these items."""

    leaked: int  # items whose shown code contains their own solution
    same: int  # of the leaked ones, by the same name or the same code
    of_others: int  # items whose shown code contains only solutions of other items
    items: int  # items whose shown code does not contain their own solution
    solved: int  # of these items
    fixed: int | None  # of these items, as for the whole condition
    broken: int | None


def count_leaks(first: Mapping[str, Record], base: Mapping[str, Record]) -> LeakFigures | None:
    """Count leaks in the first samples of a condition, by item, against the base; None if they were not searched for.

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


@dataclass(frozen=True, slots=True)
class ConditionFigures:
    """The figures of one condition."""

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
    empty: int  # items without shown code, in a condition that shows code
    cut: int
    prompt_tokens: float  # mean per answer
    completion_tokens: float
    seconds: float  # model time of all answers
    retrieval_seconds: float  # of all answers; a shared search counts for each condition
    leaks: LeakFigures | None  # None if leaks were not searched for
    lost: int = 0  # answers lost to an internal error, counted as wrong until the run is resumed


@dataclass(frozen=True, slots=True)
class CodeReport:
    """The figures of one run."""

    path: str
    head: Mapping[str, Any]
    columns: tuple[ConditionFigures, ...]
    overlaps: Mapping[str, int]  # items by the set of the paper's conditions that solve them, joined by " + " (P-35)
    tasks: tuple[TaskOutcome, ...]
    topics: tuple[TopicFigures, ...]  # empty if the run has no topics (P-34)
    cases: tuple[ConditionCases, ...]  # fixed and broken tasks to look at (P-38)
    costs: Mapping[str, Any]  # of the graph: seconds by stage, bytes, nodes; empty without one (P-36)
    kinds: Mapping[str, tuple[ConditionFigures, ...]] = field(default_factory=dict)  # conditions by kind of item


def read_report(path: Path) -> CodeReport:
    """Build the report of a run; raises InputError if it has no record, or conditions of different items."""
    head = read_head(path)
    kept: dict[str, dict[tuple[str, int], Record]] = defaultdict(dict)
    for record in read_records(path):
        kept[record.column][record.item, record.sample] = record
    if not kept:
        raise InputError(f"the run in {path} has no record yet; run the same evaluation again")
    names = order_conditions(list(kept))
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


def _sum_up_all(kept: _Kept) -> tuple[ConditionFigures, ...]:
    return tuple(_sum_up(name, kept[name], kept.get(BASE, {})) for name in order_conditions(list(kept)))


def _sum_up_kinds(kept: _Kept, kinds: Mapping[str, str]) -> dict[str, tuple[ConditionFigures, ...]]:
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
) -> ConditionFigures:
    condition = next(each for each in choose_conditions([name]) if each.name == name)
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
    return ConditionFigures(
        name,
        condition.title,
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
        sum(not record.shown for record in first.values()) if condition.finder else 0,
        sum(record.is_cut for record in first.values()),
        statistics.mean(record.prompt_tokens for record in every),
        statistics.mean(record.completion_tokens for record in every),
        sum(record.seconds for record in every),
        sum(record.retrieval_seconds for record in every),
        count_leaks(first, {item: record for (item, sample), record in base.items() if sample == 0 and name != BASE}),
        sum(record.is_lost for record in every),
    )
