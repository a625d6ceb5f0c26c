"""The table and the picture of several objectives, with those of a published model and its tuned versions (C-27)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from pkg.lab.evaluation.preferences.objectives import (
    CODE,
    ObjectiveReport,
    Objectives,
    combine_objectives,
    find_front,
)
from pkg.lab.evaluation.report.forgetting_tables import CODE_ULTRA_FEEDBACK, MEASURES
from pkg.lab.evaluation.report.preference_tables import GRADES, HEADINGS
from pkg.lab.evaluation.report.report_format import COLOURS, MARKERS, Picture, Section, Table, new_figure, write_number
from pkg.lab.judge.judge_tasks import PREFERENCES

TITLE = "Code and preferences"


def list_objective_sections(report: ObjectiveReport) -> Iterator[Section]:
    """Yield the table of scores with the weights, and the Pareto picture."""
    theirs = list_published(report)
    shares = ", ".join(f"{share:.2f} of {name}" for name, share in report.weights.items())
    text = (
        f"Score: {shares}. {CODE.capitalize()} is pass@{report.k}, the mean of the benchmarks; mean grades from 1 to 10"
        f" by {report.grading} are scaled to 0 to 1. On the front: no other model is better in code or preference and"
        " at least as good in the other."
    )
    left_out = "; ".join(f"{model} is {reason}" for model, reason in report.left_out.items())
    tables = (_write_scores(report, theirs, f"Left out: {left_out}." if left_out else ""),)
    picture = Picture("objectives", "pass@k and mean grade of each model", partial(draw_objectives, report, theirs))
    yield Section(TITLE, 2, text, tables, (picture,))


def list_published(report: ObjectiveReport) -> list[Objectives]:
    """Return the published models with grades and HumanEval, combined by the weights of the report."""
    if ("humaneval", report.k) not in MEASURES:
        return []
    place = MEASURES.index(("humaneval", report.k))
    found = []
    for name, shares in CODE_ULTRA_FEEDBACK.items():
        share, grades = shares[place], dict(zip(PREFERENCES, GRADES[name], strict=False))
        if share is not None:
            found.append(combine_objectives(f"paper, {name}", {"humaneval": share / 100}, grades, report.weights))
    return found


def _write_scores(report: ObjectiveReport, theirs: Sequence[Objectives], left_out: str) -> Table:
    fronts = {*report.front, *find_front(theirs)}
    rows = tuple(
        (
            each.model, write_number(each.score, 3), "yes" if each.model in fronts else "",
            write_number(100 * each.code, 1), write_number(each.preference, 3),
            *(write_number(each.grades.get(name), 2) for name in PREFERENCES),
        )
        for each in (*report.models, *theirs)
    )  # fmt: skip
    names = ("model", "score", "on the front", f"pass@{report.k}, %", "preferences, 0 to 1", *HEADINGS[:-1])
    note = (
        "The paper proposes such a score and has none: its rows combine its results on the bench and on HumanEval by"
        " these weights, with a front of their own, because judge and instructions are others."
    )
    return Table(names, rows, " ".join(filter(None, (note, left_out))))


def draw_objectives(report: ObjectiveReport, theirs: Sequence[Objectives]) -> Any:
    """Draw each model by pass@k and grade, with the Pareto front as a line."""
    figure = new_figure(6.2, 4.2)
    axes = figure.subplots()
    for number, (name, models) in enumerate((("these models", report.models), ("the paper's", theirs))):
        if not models:
            continue
        points = [(100 * each.code, each.preference) for each in models]
        axes.scatter(*zip(*points, strict=True), c=COLOURS[number], marker=MARKERS[number], label=name, zorder=3)
        for each, point in zip(models, points, strict=True):
            label = each.model.removeprefix("paper, ")
            axes.annotate(label, point, textcoords="offset points", xytext=(5, 4), fontsize=7)
        front = set(find_front(models))
        line = sorted((100 * each.code, each.preference) for each in models if each.model in front)
        axes.step(*zip(*line, strict=True), where="pre", color=COLOURS[number], linewidth=0.9, linestyle="--")
    axes.set_xlabel(f"pass@{report.k}, %")
    axes.set_ylabel("preferences, weighted mean grade, 0 to 1")
    axes.margins(0.15)
    figure.legend(loc="outside lower center", ncols=2)
    return figure
