"""The figures of ratings: best and worst shares, lengths, wins and losses, distributions (C-09 to C-11, C-22)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pkg.lab.evaluation.correctness_split import RatingSplit
from pkg.lab.evaluation.judgement_report import JudgementReport, SystemReport
from pkg.lab.evaluation.model_labels import label_models
from pkg.lab.evaluation.rating_statistics import Extremes, Spread, Wins
from pkg.lab.evaluation.report.report_format import COLOURS, HATCHES, Picture, name_file, new_figure
from pkg.lab.evaluation.report.win_rate_tables import list_outcome_pictures


def list_rating_pictures(report: JudgementReport, baseline: str) -> Iterator[Picture]:
    """Yield the figures that the judgements allow: of ratings, or of the outcomes of comparisons."""
    if report.kind == "pairwise":
        yield from list_outcome_pictures(report.pairs)
        return
    labels = label_models(list(dict.fromkeys(each.system for each in report.systems)))
    prefix = name_file(f"{report.kind} {label_models([report.judge])[report.judge]}")
    extremes = {labels[system]: found for system, found in sum_extremes(report.systems).items() if found.samples}
    if any(each.best or each.worst for each in extremes.values()):
        caption = "share of samples on which an answer is the best, or the worst"
        yield Picture(f"{prefix}-best", caption, partial(draw_extremes, extremes))
    if report.best_lengths is not None and report.worst_lengths is not None:
        lengths = {"best": report.best_lengths, "worst": report.worst_lengths}
        yield Picture(f"{prefix}-lengths", "length of the best and the worst answers", partial(draw_lengths, lengths))
    wins = {labels[system]: found for system, found in sum_wins(report.systems).items() if sum(found)}
    if wins:
        caption = f"wins, ties and losses against {labels.get(baseline, baseline)}"
        yield Picture(f"{prefix}-wins", caption, partial(draw_wins, wins, labels.get(baseline, baseline)))
    scores = {labels[system]: found for system, found in sum_scores(report.systems).items() if sum(found.values())}
    if scores:
        yield Picture(f"{prefix}-ratings", "how often each rating was given", partial(draw_scores, scores))


def list_split_pictures(splits: Sequence[RatingSplit]) -> Iterator[Picture]:
    """Yield the ratings of answers that pass their tests and of those that fail, for each judge (C-24)."""
    labels = label_models([each.judge for each in splits])
    for each in splits:
        scores = {
            name: counts for name, counts in (("pass", each.passed), ("fail", each.failed)) if any(counts.values())
        }
        caption = f"ratings of correctness by {labels[each.judge]}, by whether the answer passes"
        if scores:
            yield Picture(name_file(f"verdicts {labels[each.judge]}"), caption, partial(draw_scores, scores))


def sum_extremes(systems: Sequence[SystemReport]) -> dict[str, Extremes]:
    """Sum up how often each system is best and worst, over all preferences."""
    parts = ((each.system, each.extremes) for each in systems if each.extremes is not None)
    return {system: Extremes(*counts) for system, counts in _sum_counts(parts).items()}


def sum_wins(systems: Sequence[SystemReport]) -> dict[str, Wins]:
    """Sum up wins, ties and losses of each system against the baseline, over all preferences."""
    parts = ((each.system, each.wins) for each in systems if each.wins is not None)
    return {system: Wins(*counts) for system, counts in _sum_counts(parts).items()}


def _sum_counts(parts: Iterable[tuple[str, tuple[int, ...]]]) -> dict[str, tuple[int, ...]]:
    """Sum up the counts of each system, each at its place."""
    found: dict[str, tuple[int, ...]] = {}
    for system, counts in parts:
        old = found.get(system, (0,) * len(counts))
        found[system] = tuple(a + b for a, b in zip(old, counts, strict=True))
    return found


def sum_scores(systems: Sequence[SystemReport]) -> dict[str, dict[int, int]]:
    """Sum up how often each system got each rating, over all preferences."""
    found: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for each in systems:
        for score, count in each.scores.items():
            found[each.system][score] += count
    return {system: dict(scores) for system, scores in found.items()}


def draw_extremes(extremes: Mapping[str, Extremes]) -> Any:
    """Draw the share of samples on which each system is best, and worst (C-09)."""
    ordered = sorted(extremes.items(), key=lambda pair: pair[1].best / pair[1].samples)
    figure = new_figure(6.4, 1.4 + 0.42 * len(ordered))
    axes = figure.subplots()
    places = np.arange(len(ordered))
    for number, (name, counts) in enumerate(
        (("best", [each.best for _, each in ordered]), ("worst", [each.worst for _, each in ordered]))
    ):
        shares = [100 * count / each.samples for count, (_, each) in zip(counts, ordered, strict=True)]
        bars = axes.barh(
            places + 0.19 - 0.38 * number, shares, 0.36, color=COLOURS[number], hatch=HATCHES[number],
            edgecolor="white", label=name,
        )  # fmt: skip
        axes.bar_label(bars, fmt="%.0f", padding=2, fontsize=8)
    axes.set_yticks(places, [f"{system} ({each.samples})" for system, each in ordered])
    axes.set_xlabel("samples, %; equal ratings count for each")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def draw_lengths(lengths: Mapping[str, Spread]) -> Any:
    """Draw the quartiles and extremes of the lengths of best and worst answers (C-10)."""
    figure = new_figure(5.2, 3.2)
    axes = figure.subplots()
    boxes = [
        {
            "label": f"{name} ({each.size})", "mean": each.mean, "med": each.middle, "q1": each.lower,
            "q3": each.upper, "whislo": each.least, "whishi": each.most, "fliers": [],
        }
        for name, each in lengths.items()
    ]  # fmt: skip
    axes.bxp(boxes, showmeans=True, showfliers=False, medianprops={"color": COLOURS[5]})
    axes.set_ylabel("characters; triangle: the mean")
    return figure


def draw_wins(wins: Mapping[str, Wins], baseline: str) -> Any:
    """Draw the shares of wins, ties and losses of each system against a baseline (C-11, C-20)."""
    ordered = sorted(wins.items(), key=lambda pair: pair[1].win / sum(pair[1]))
    figure = new_figure(6.8, 1.5 + 0.34 * len(ordered))
    axes = figure.subplots()
    rows, left = np.arange(len(ordered)), np.zeros(len(ordered))
    for number, name in enumerate(Wins._fields):
        shares = np.array([100 * each[number] / sum(each) for _, each in ordered])
        bars = axes.barh(
            rows, shares, 0.7, left, color=COLOURS[number], hatch=HATCHES[number], edgecolor="white", label=name
        )
        axes.bar_label(
            bars, [f"{share:.0f}" if share else "" for share in shares], label_type="center", fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )  # fmt: skip
        left += shares
    axes.set_yticks(rows, [f"{system} ({sum(each)})" for system, each in ordered])
    axes.set_xlabel(f"answers, %, against {baseline}")
    axes.set_xlim(0, 100)
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def draw_scores(scores: Mapping[str, Mapping[int, int]]) -> Any:
    """Draw the share of each rating by system (C-22)."""
    figure = new_figure(6.4, 3.4)
    axes = figure.subplots()
    values = sorted({score for found in scores.values() for score in found})
    places, width = np.arange(len(values)), 0.8 / len(scores)
    for number, (system, found) in enumerate(scores.items()):
        shares = [100 * found.get(score, 0) / sum(found.values()) for score in values]
        axes.bar(
            places + (number - (len(scores) - 1) / 2) * width, shares, width, color=COLOURS[number % len(COLOURS)],
            hatch=HATCHES[number % len(HATCHES)], edgecolor="white", label=f"{system} ({sum(found.values())})",
        )  # fmt: skip
    axes.set_xticks(places, [str(score) for score in values])
    axes.set_xlabel("rating")
    axes.set_ylabel("answers, %")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
