"""The outcome of each task of a run: who solves it, fixed and broken tasks by column, and topics (P-34, P-38)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from pkg.lab.evaluation.code.benchmark_items import TaskFacts
from pkg.lab.evaluation.code.run_folder import Record
from pkg.lab.evaluation.code.topics import TOPICS

First = Mapping[str, Mapping[str, Record]]
"""First answers by column and item."""


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """One task: its topic, and the columns whose first answer passes."""

    item: str
    topic: str  # "" if the run has no topics
    place: tuple[float, float] | None
    solved_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopicFigures:
    """The tasks of one topic, and the number that each column solves."""

    topic: str
    items: int
    solved: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Case:
    """One task that a column fixed or broke, with the details for a reader."""

    item: str
    shown: tuple[str, ...]  # places of the code in the prompt
    chosen: str  # the column of the chosen answer
    error: str  # of the failing side: the base if fixed, the column if broken
    detail: str


@dataclass(frozen=True, slots=True)
class ColumnCases:
    """Tasks that a column fixed and broke, compared with the base."""

    column: str
    fixed: tuple[Case, ...]
    broken: tuple[Case, ...]


def list_tasks(items: Sequence[str], first: First, facts: Mapping[str, TaskFacts]) -> tuple[TaskOutcome, ...]:
    """Return the items of a run, in its order, with the columns that solve each."""
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


def count_topics(tasks: Sequence[TaskOutcome], columns: Sequence[str]) -> tuple[TopicFigures, ...]:
    """Count the solved tasks of each column by topic, in the order of the topics, without topics that have no task."""
    found = []
    for topic in TOPICS:
        of_topic = [task for task in tasks if task.topic == topic]
        solved = {name: sum(name in task.solved_by for task in of_topic) for name in columns}
        found.append(TopicFigures(topic, len(of_topic), solved))
    return tuple(each for each in found if each.items)


def list_cases(first: First, base: str) -> tuple[ColumnCases, ...]:
    """Return the tasks that each column fixed and broke, compared with the base, in the order of the items."""
    known = first.get(base, {})
    return tuple(
        ColumnCases(
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


def count_overlaps(tasks: Sequence[TaskOutcome], columns: Sequence[str]) -> dict[str, int]:
    """Count the tasks that each set of columns, and no other column, solves (P-35)."""
    counts: Counter[str] = Counter()
    for task in tasks:
        counts[" + ".join(name for name in columns if name in task.solved_by) or NONE_SOLVES] += 1
    sets = [" + ".join(each) for size in range(len(columns), 0, -1) for each in combinations(columns, size)]
    return {name: counts[name] for name in (*sets, NONE_SOLVES) if counts[name]}


NONE_SOLVES = "no column"
