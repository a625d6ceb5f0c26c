"""Compare runs of the same benchmarks before and after tuning: pass@k, and tests of the changes (Q-19, C-23)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from pkg.errors import InputError
from pkg.lab.evaluation.code.code_report import AT
from pkg.lab.evaluation.code.evaluation_conditions import name_condition, order_conditions
from pkg.lab.evaluation.code.run_folder import read_head, read_records
from pkg.lab.evaluation.rating_statistics import find_mean_interval
from pkg.lab.evaluation.share_statistics import Interval, compare_paired, pass_at_k

_COMPARED = ("options", "shown", "graph")
"""Parts of the head of a run that change its results and are not the model."""

Verdicts = Mapping[str, Mapping[int, bool]]
"""Whether each sample passes, by item."""


@dataclass(frozen=True, slots=True)
class PassChange:
    """One pass@k before and after, as shares, with the interval of the change by bootstrap over the items."""

    k: int
    before: float
    after: float
    interval: Interval

    @property
    def change(self) -> float:
        """Return the change of the share, below 0 for forgetting."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class BenchmarkChange:
    """One condition of a benchmark before and after tuning, on the items of both runs."""

    benchmark: str
    column: str
    title: str
    before: str  # the folders of the runs
    after: str
    model_before: str
    model_after: str
    items: int
    samples: int
    passes: tuple[PassChange, ...]
    fixed: int  # items whose first sample passes only after
    broken: int  # items whose first sample passes only before
    p_value: float  # McNemar, exact, of these
    notes: tuple[str, ...]  # other differences of the runs


@dataclass(frozen=True, slots=True)
class _Run:
    path: Path
    head: Mapping[str, Any]
    verdicts: Mapping[str, Verdicts]  # by condition


def compare_runs(paths: Sequence[Path], seed: int = 0) -> tuple[BenchmarkChange, ...]:
    """Compare the first run of each benchmark with the later ones, in the order of the paths.

    Raises InputError for a benchmark with one run alone, and for runs of other data or without a common item.
    """
    by_benchmark: dict[str, list[_Run]] = defaultdict(list)
    for path in paths:
        run = _read_run(path)
        by_benchmark[str(run.head["benchmark"])].append(run)
    alone = [(name, runs[0].path) for name, runs in by_benchmark.items() if len(runs) == 1]
    if alone:
        name, path = alone[0]
        raise InputError(f"{path} is the only run of {name}; expected one before tuning, and then one or more after it")
    return tuple(
        change
        for before, *later in by_benchmark.values()
        for after in later
        for change in _compare(before, after, seed)
    )


def _read_run(path: Path) -> _Run:
    """Read a run; raises InputError if it has no record."""
    head = read_head(path)
    verdicts: dict[str, dict[str, dict[int, bool]]] = defaultdict(lambda: defaultdict(dict))
    for record in read_records(path):
        verdicts[record.column][record.item][record.sample] = record.passed
    if not verdicts:
        raise InputError(f"the run in {path} has no record yet; run the same evaluation again")
    return _Run(path, head, verdicts)


def _compare(before: _Run, after: _Run, seed: int) -> Iterator[BenchmarkChange]:
    """Yield the change of each condition of both runs."""
    if before.head.get("sha256") != after.head.get("sha256"):
        raise InputError(f"{before.path} and {after.path} are runs of different data; expected the same file")
    columns = [name for name in order_conditions(list(before.verdicts)) if name in after.verdicts]
    shared = {name: [item for item in before.verdicts[name] if item in after.verdicts[name]] for name in columns}
    if not any(shared.values()):
        raise InputError(f"{before.path} and {after.path} have no item in the same column; expected runs of one sample")
    for name, items in shared.items():
        if items:
            yield _compare_column(before, after, name, items, seed)


def _compare_column(before: _Run, after: _Run, column: str, items: Sequence[str], seed: int) -> BenchmarkChange:
    of_both = [(before.verdicts[column][item], after.verdicts[column][item]) for item in items]
    samples = min(len(each) for pair in of_both for each in pair)
    paired = compare_paired([a.get(0, False) for a, _ in of_both], [b.get(0, False) for _, b in of_both])
    return BenchmarkChange(
        str(before.head["benchmark"]), column, name_condition(column), str(before.path), str(after.path),
        str(before.head["model"]), str(after.head["model"]), len(items), samples,
        tuple(_compare_pass(of_both, k, seed) for k in AT if k <= samples),
        paired.fixed, paired.broken, paired.p_value, tuple(_list_notes(before, after, column, len(items))),
    )  # fmt: skip


def _compare_pass(of_both: Sequence[tuple[Mapping[int, bool], Mapping[int, bool]]], k: int, seed: int) -> PassChange:
    shares = [[pass_at_k(len(each), sum(each.values()), k) for each in pair] for pair in of_both]
    interval = find_mean_interval([after - before for before, after in shares], seed)
    return PassChange(k, fmean(before for before, _ in shares), fmean(after for _, after in shares), interval)


def _list_notes(before: _Run, after: _Run, column: str, items: int) -> Iterator[str]:
    """Yield the differences of two runs that are not due to tuning."""
    for name in _COMPARED:
        old, new = before.head.get(name), after.head.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
            yield from (f"{key} is {old.get(key)} before and {new.get(key)} after" for key in keys)
        elif old != new:
            yield f"{name} is {old} before and {new} after"
    if before.head.get("identity") == after.head.get("identity"):
        yield "both runs are of the same model"
    lost = len(before.verdicts[column]) + len(after.verdicts[column]) - 2 * items
    if lost:
        yield f"{lost} items of one run alone are left out"
