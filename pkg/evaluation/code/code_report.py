"""Make the tables of a run from its records alone: solved, fixed, broken, errors, cost (P-32, P-33, P-35)."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from pkg.errors import InputError
from pkg.evaluation.code.columns import PAPER, choose_columns, order_columns
from pkg.evaluation.code.leak_figures import LeakFigures, count_leaks
from pkg.evaluation.code.run_folder import Record, read_head, read_records
from pkg.evaluation.code.scorer import ERRORS
from pkg.evaluation.statistics import Interval, compare_paired, find_share_interval, pass_at_k

BASE = "none"  # the column that the others are compared with
AT = (1, 10)  # k of pass@k, as far as there are samples


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """What came of one column."""

    column: str
    title: str
    items: int
    samples: int
    solved: int  # items of which the first sample passes
    share: float
    interval: Interval  # of the share, 95 %, Wilson
    pass_at: Mapping[int, float]
    fixed: int | None  # of the items that the base fails at; None without the base
    broken: int | None
    p_value: float | None
    base: str
    fixed_shown: int | None  # of those whose task shows an example
    broken_shown: int | None
    errors: Mapping[str, int]  # of the items that fail (P-33)
    empty: int  # items for which no code was found, though the column shows some
    cut: int
    prompt_tokens: float  # mean of an answer
    completion_tokens: float
    seconds: float  # of the model, all answers together
    leaks: LeakFigures | None  # and what is left without them; None where nobody looked for leaks


@dataclass(frozen=True, slots=True)
class CodeReport:
    """The figures of one run."""

    path: str
    head: Mapping[str, Any]
    columns: tuple[ColumnFigures, ...]
    overlaps: Mapping[str, int]  # items by the paper's columns that solve them, joined by " + " (P-35)


def read_report(path: Path) -> CodeReport:
    """Make the report of a run; an InputError where it has no record, or columns of different items."""
    head = read_head(path)
    kept: dict[str, dict[tuple[str, int], Record]] = defaultdict(dict)
    for record in read_records(path):
        kept[record.column][record.item, record.sample] = record
    if not kept:
        raise InputError(f"the run in {path} has no record yet; run the same evaluation again")
    names = order_columns(list(kept))
    columns = tuple(_sum_up(name, kept[name], kept.get(BASE, {})) for name in names)
    return CodeReport(str(path), head, columns, count_overlaps(kept, [name for name in names if name in _OVERLAPPED]))


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
        count_leaks(first, {item: record for (item, sample), record in base.items() if sample == 0 and name != BASE}),
    )


def _average_pass(passed: Iterable[Sequence[bool]], k: int) -> float:
    return statistics.mean(pass_at_k(len(each), sum(each), k) for each in passed)


def count_overlaps(kept: Mapping[str, Mapping[tuple[str, int], Record]], names: Sequence[str]) -> dict[str, int]:
    """Count the items that exactly these of some columns solve, for each set of them (P-35)."""
    counts: Counter[str] = Counter()
    items = {item for name in names for item, sample in kept[name] if sample == 0}
    for item in items:
        solving = [name for name in names if (item, 0) in kept[name] and kept[name][item, 0].passed]
        counts[" + ".join(solving) or "no column"] += 1
    sets = [" + ".join(each) for size in range(len(names), 0, -1) for each in combinations(names, size)]
    return {name: counts[name] for name in (*sets, "no column") if counts[name]}


PAPER_HUMANEVAL = {
    "CodeLlama-7B": (33, 21, 42, 33, 38, 40, 46, 56),
    "CodeLlama-13B": (42, 34, 45, 43, 46, 47, 51, 63),
    "Llama3.1-8B": (55, 34, 50, 54, 55, 50, 61, 75),
    "StarCoder2-7B": (45, 41, 53, 57, 56, 59, 63, 72),
    "DeepSeek-7B": (70, 44, 60, 62, 69, 68, 73, 83),
}
PAPER_MBPP = {
    "CodeLlama-7B": (38, 27, 32, 27, 44, 46, 58, 60),
    "CodeLlama-13B": (44, 36, 26, 36, 40, 48, 55, 57),
    "Llama3.1-8B": (43, 38, 41, 41, 46, 49, 63, 66),
    "StarCoder2-7B": (46, 25, 17, 31, 29, 51, 62, 64),
    "DeepSeek-7B": (56, 50, 45, 47, 50, 47, 65, 68),
}
"""The paper's tables 1 and 2, in per cent, in the order of pkg.evaluation.code.columns.PAPER; with VoyageEmb as Dense.

Its table of errors contradicts these for two models: these are trusted.
"""


def write_markdown(reports: Iterable[CodeReport]) -> str:
    """Write the tables of runs as Markdown, the paper's figures beside them."""
    parts = [part for report in reports for part in _write_report(report)]
    return "\n\n".join(parts) + "\n"


def _write_report(report: CodeReport) -> list[str]:
    head = report.head
    title = f"## {head['benchmark']}, {head['model']}"
    what = f"{report.columns[0].items} items; form {head['options']['form']}; graph {head.get('graph') or 'none'}"
    return [
        title,
        what,
        _write_shares(report),
        _write_harm(report),
        *write_leaks(report.columns),
        _write_errors(report),
        _write_overlaps(report),
    ]


def _write_shares(report: CodeReport) -> str:
    found = {each.column: each for each in report.columns}
    names = [each.title for each in report.columns if each.column in PAPER]
    own = [f"{100 * found[name].share:.1f}" for name in PAPER if name in found]
    published = PAPER_HUMANEVAL if report.head["benchmark"].startswith("humaneval") else PAPER_MBPP
    rows = [[str(report.head["model"]), *own]]
    places = [place for place, name in enumerate(PAPER) if name in found]
    rows += [[f"paper, {model}", *(str(row[place]) for place in places)] for model, row in published.items()]
    return write_table(["pass@1, %", *names], rows)


def _write_harm(report: CodeReport) -> str:
    rows = [
        [
            each.title,
            f"{each.solved}/{each.items}",
            f"{100 * each.interval.low:.0f} to {100 * each.interval.high:.0f}",
            _say(each.fixed), _say(each.broken), "" if each.p_value is None else f"{each.p_value:.3f}",
            _say(each.fixed_shown), _say(each.broken_shown), str(each.empty),
            f"{each.prompt_tokens:.0f}", f"{each.completion_tokens:.0f}", f"{each.seconds / 60:.1f}",
        ]
        for each in report.columns
    ]  # fmt: skip
    names = ["column", "solved", "95 %", "fixed", "broken", "p", "fixed, shown", "broken, shown", "empty"]
    return write_table([*names, "prompt tokens", "answer tokens", "minutes"], rows)


def write_leaks(columns: Iterable[ColumnFigures]) -> list[str]:
    """Write what is left of each column without the items whose shown code gives their solution away."""
    rows = [
        [
            each.title, str(each.leaks.leaked), str(each.leaks.same), str(each.leaks.of_others),
            f"{each.leaks.solved}/{each.leaks.items}", _say(each.leaks.fixed), _say(each.leaks.broken),
        ]
        for each in columns if each.leaks is not None
    ]  # fmt: skip
    names = ["without leaks", "leaked", "same name or code", "leaks of other items", "solved", "fixed", "broken"]
    return [write_table(names, rows)] if rows else []


def _write_errors(report: CodeReport) -> str:
    rows = [[each.title, *(str(each.errors[error]) for error in ERRORS)] for each in report.columns]
    return write_table(["failures", *ERRORS], rows)


def _write_overlaps(report: CodeReport) -> str:
    return write_table(["solved by", "items"], [[name, str(count)] for name, count in report.overlaps.items()])


def _say(value: int | None) -> str:
    return "" if value is None else str(value)


def write_table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table as Markdown; all but the first column to the right."""
    lines = [names, ["---", *("---:" for _ in names[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
