"""The tables and bars of pass@k before and after tuning, with those of two papers below (Q-19, Q-21, C-23)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pkg.lab.evaluation.code.code_report import BASE
from pkg.lab.evaluation.code.forgetting import BenchmarkChange
from pkg.lab.evaluation.model_labels import label_models
from pkg.lab.evaluation.report.report_format import (
    COLOURS,
    HATCHES,
    NOTHING,
    Mark,
    Picture,
    Section,
    Table,
    new_figure,
    write_number,
)

TITLE = "Forgetting"
MEASURES = (("humaneval", 1), ("humaneval", 10), ("humaneval+", 1), ("humaneval+", 10), ("mbpp", 1), ("mbpp", 10))
"""Benchmarks and k of the papers, in the order of the columns."""

Shares = Sequence[float | None]
"""A value in per cent, or points, for each of MEASURES; None for a missing one."""

CODE_ULTRA_FEEDBACK: Mapping[str, Shares] = {
    "CodeLlama-7B": (37.9, 60.4, 33.2, 54.9, None, None),
    "CodeLlama-7B, SFT": (51.2, 82.9, 45.6, 79.3, None, None),
    "CodeLlama-7B, DPO": (42.3, 80.5, 35.8, 70.1, None, None),
    "CodeLlama-7B, SFT and DPO": (43.1, 75.6, 36.7, 69.5, None, None),
}
"""Table 5 of CodeUltraFeedback (C-23), in the order of MEASURES."""

SPYDER_CHANGES: Shares = (-6.8, -8.0, None, None, -11.5, -12.6)
"""Changes by fine-tuning in SpyderCodeQA, in points (Q-22), in the order of MEASURES."""


def list_forgetting_sections(changes: Sequence[BenchmarkChange]) -> Iterator[Section]:
    """Yield the tables of the papers with our figures above them, and the tests of each change."""
    picture = Picture("forgetting", "pass@k before and after tuning", partial(draw_passes, changes))
    text = (
        "pass@k is estimated without bias from all samples of a task. A change below zero is forgetting. Columns other"
        " than None answer with retrieved code."
    )
    tables = (_write_tests(changes), _write_passes(changes), _write_changes(changes))
    yield Section(TITLE, 2, text, tables, (picture,))


def _name_models(changes: Sequence[BenchmarkChange]) -> dict[tuple[str, bool], str]:
    """Return a short name for each model and whether it is one after tuning, which matters if its name is the same."""
    labels = label_models(list(dict.fromkeys(model for each in changes for model in _list_sides(each))))
    same = {each.model_after for each in changes if each.model_before == each.model_after}
    names = {}
    for model, label in labels.items():
        names[model, False] = f"{label}, before" if model in same else label
        names[model, True] = f"{label}, after" if model in same else label
    return names


def _list_sides(change: BenchmarkChange) -> tuple[str, str]:
    return change.model_before, change.model_after


def name_measure(benchmark: str, k: int) -> str:
    """Return the heading of a benchmark and k, such as HumanEval+@10."""
    plus = "+" * benchmark.endswith("+")
    name = {"humaneval": "HumanEval", "mbpp": "MBPP"}.get(benchmark.rstrip("+"), benchmark.rstrip("+"))
    return f"{name}{plus}@{k}"


def _list_measures(changes: Sequence[BenchmarkChange]) -> list[tuple[str, int]]:
    """Return the measures of the papers, and then others of the runs."""
    own = [(each.benchmark, found.k) for each in changes for found in each.passes]
    return list(dict.fromkeys((*MEASURES, *own)))


def _write_tests(changes: Sequence[BenchmarkChange]) -> Table:
    models = _name_models(changes)
    rows = tuple(
        (
            f"{models[each.model_after, True]}, {name_measure(each.benchmark, found.k)}", each.title, str(each.items),
            str(each.samples), write_number(100 * found.before, 1), write_number(100 * found.after, 1),
            f"{100 * found.change:+.1f}", f"{100 * found.interval.low:+.1f} to {100 * found.interval.high:+.1f}",
            *((str(each.fixed), str(each.broken), _write_chance(each.p_value)) if found.k == 1 else ("", "", "")),
        )
        for each in changes
        for found in each.passes
    )  # fmt: skip
    names = (
        "after tuning", "column", "tasks", "samples", "before, %", "after, %", "change", "95 %", "fixed", "broken", "p",
    )  # fmt: skip
    notes = list(
        dict.fromkeys(
            f"{models[each.model_after, True]}, {each.benchmark}: {note}." for each in changes for note in each.notes
        )
    )
    note = (
        "95 %: of the change, by bootstrap over tasks; fixed, broken: tasks whose first answer passes only after, only"
        " before; p: McNemar's exact test of these."
    )
    return Table(names, rows, " ".join((note, *notes)))


def _write_chance(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def _collect(changes: Sequence[BenchmarkChange]) -> dict[str, dict[tuple[str, int], float]]:
    """Return pass@k in per cent by model, those before tuning first; other columns than None are named."""
    models = _name_models(changes)
    before: dict[str, dict[tuple[str, int], float]] = {}
    after: dict[str, dict[tuple[str, int], float]] = {}
    for each in changes:
        column = "" if each.column == BASE else f", {each.title}"
        for found in each.passes:
            measure = (each.benchmark, found.k)
            before.setdefault(f"{models[each.model_before, False]}{column}", {})[measure] = 100 * found.before
            after.setdefault(f"{models[each.model_after, True]}{column}", {})[measure] = 100 * found.after
    return {**before, **{name: {**before.get(name, {}), **shares} for name, shares in after.items()}}


def _write_passes(changes: Sequence[BenchmarkChange]) -> Table:
    measures = _list_measures(changes)
    own = [
        (name, *(write_number(shares.get(each), 1) for each in measures)) for name, shares in _collect(changes).items()
    ]
    theirs = [
        (f"paper, {name}", *(write_number(share, 1) for share in shares), *(NOTHING,) * (len(measures) - len(MEASURES)))
        for name, shares in CODE_ULTRA_FEEDBACK.items()
    ]
    note = "As in table 5 of CodeUltraFeedback."
    return Table(("pass@k, %", *(name_measure(*each) for each in measures)), (*own, *theirs), note)


def _write_changes(changes: Sequence[BenchmarkChange]) -> Table:
    measures, models = _list_measures(changes), _name_models(changes)
    own: dict[str, dict[tuple[str, int], float]] = {}
    for each in changes:
        column = "" if each.column == BASE else f", {each.title}"
        row = own.setdefault(f"{models[each.model_after, True]}{column}", {})
        row |= {(each.benchmark, found.k): 100 * found.change for found in each.passes}
    base, *tuned = CODE_ULTRA_FEEDBACK.items()
    theirs: dict[str, Shares] = {
        f"paper, {name}": [
            None if share is None or known is None else share - known
            for share, known in zip(shares, base[1], strict=True)
        ]
        for name, shares in tuned
    }
    theirs["paper, Mistral-7B, SpyderCodeQA"] = SPYDER_CHANGES
    values = [(name, [shares.get(each) for each in measures]) for name, shares in own.items()]
    values += [(name, [*shares, *(None,) * (len(measures) - len(MEASURES))]) for name, shares in theirs.items()]
    rows = tuple((name, *(NOTHING if each is None else f"{each:+.1f}" for each in row)) for name, row in values)
    marks = tuple(tuple(map(_mark, row)) for _, row in values)
    names = ("change, points", *(name_measure(*each) for each in measures))
    return Table(names, rows, "As in the text of SpyderCodeQA, and from table 5 of CodeUltraFeedback.", marks)


def _mark(change: float | None) -> Mark:
    return "" if not change else "up" if change > 0 else "down"


def draw_passes(changes: Sequence[BenchmarkChange]) -> Any:
    """Draw pass@k of each model as bars, by benchmark and k, without context if the runs have that (Q-21)."""
    collected = _collect([each for each in changes if each.column == BASE] or changes)
    measures = [each for each in _list_measures(changes) if any(each in shares for shares in collected.values())]
    figure = new_figure(2.4 + 1.1 * len(measures), 3.2)
    axes = figure.subplots()
    places, width = np.arange(len(measures)), 0.8 / len(collected)
    for number, (name, shares) in enumerate(collected.items()):
        offset = (number - (len(collected) - 1) / 2) * width
        bars = axes.bar(
            places + offset, [shares.get(each, 0.0) for each in measures], width, color=COLOURS[number % len(COLOURS)],
            hatch=HATCHES[number % len(HATCHES)], edgecolor="white", label=name,
        )  # fmt: skip
        axes.bar_label(bars, fmt="%.0f", fontsize=7)
    axes.set_xticks(places, [name_measure(*each) for each in measures])
    axes.set_ylabel("pass@k, %")
    figure.legend(loc="outside lower center", ncols=min(3, len(collected)))
    return figure
