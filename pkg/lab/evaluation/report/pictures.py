"""The figures of a run: conditions compared, overlaps of solved tasks, radar, map and heat maps (P-35)."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pkg.lab.evaluation.code.code_report import BASE, NONE_SOLVES, CodeReport
from pkg.lab.evaluation.code.hidden_tests import ERRORS
from pkg.lab.evaluation.report.report_format import COLOURS, HATCHES, LINES, MARKERS, Picture, name_file, new_figure

RADAR = ("none", "func-bm25", "block-pkg", "reranked")
"""Conditions of the radar, as in the paper; the first four of the run if it has fewer than two of these."""

MAPPED = ("block-pkg", "func-pkg", "func-bm25", "reranked")
"""Conditions to compare with the base on the map; the first available one is used."""

DARK = 0.55  # share of the scale above which black text is illegible


def list_pictures(name: str, report: CodeReport) -> Iterator[Picture]:
    """Yield the figures that the conditions of a run allow."""
    prefix = name_file(f"{report.head['benchmark']} {name}")
    yield Picture(
        f"{prefix}-columns", f"{name}: tasks solved, fixed and broken by column", partial(draw_columns, report)
    )
    if len(report.overlaps) > 1 and any(" + " in each for each in report.overlaps):
        caption = f"{name}: tasks that exactly these columns solve"
        yield Picture(f"{prefix}-overlap", caption, partial(draw_overlap, report))
    if len(report.columns) > 1:
        yield Picture(f"{prefix}-errors", f"{name}: failures by class", partial(draw_errors, report))
    if len(report.topics) > 2:
        yield Picture(f"{prefix}-topics", f"{name}: share of tasks solved by topic", partial(draw_topics, report))
        yield Picture(f"{prefix}-radar", f"{name}: share of tasks solved by topic", partial(draw_radar, report))
    compared = next((each for each in MAPPED if each in _titles(report)), None)
    if compared is not None and BASE in _titles(report) and any(task.place for task in report.tasks):
        caption = f"{name}: the tasks by PCA of what the default encoder makes of them"
        yield Picture(f"{prefix}-map", caption, partial(draw_map, report, compared))


def _titles(report: CodeReport) -> dict[str, str]:
    return {each.column: each.title for each in report.columns}


def draw_columns(report: CodeReport) -> Any:
    """Draw the share solved by each condition with its interval, and the tasks that it fixes and breaks."""
    columns = report.columns[::-1]
    rows = np.arange(len(columns))
    figure = new_figure(7.5, 1.3 + 0.33 * len(columns))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    shares = np.array([100 * each.share for each in columns])
    spread = np.abs(100 * np.array([tuple(each.interval) for each in columns]).T - shares)
    left.errorbar(shares, rows, xerr=spread, fmt="o", color=COLOURS[0], capsize=3)
    base = next((100 * each.share for each in columns if each.column == BASE), None)
    if base is not None:
        left.axvline(base, color="0.6", linestyle=":", zorder=0)
    left.set_yticks(rows, [each.title for each in columns])
    left.set_xlabel("solved, % (95 %, Wilson)")
    fixed, broken = ([getattr(each, kind) or 0 for each in columns] for kind in ("fixed", "broken"))
    for counts, sign, name, place in ((broken, -1, "broken", 1), (fixed, 1, "fixed", 0)):
        bars = right.barh(
            rows, [sign * count for count in counts], color=COLOURS[place], hatch=HATCHES[place], edgecolor="white",
            label=name,
        )  # fmt: skip
        right.bar_label(bars, [str(count) if count else "" for count in counts], padding=2, fontsize=8)
    right.axvline(0, color="0.2", linewidth=0.8)
    right.spines["left"].set_visible(False)
    right.tick_params(axis="y", left=False)
    limit = 1.35 * max(*fixed, *broken, 1)
    right.set_xlim(-limit, limit)
    right.xaxis.set_major_formatter(lambda value, place: f"{abs(value):g}")
    right.set_xlabel("tasks, beside None")
    right.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure


def draw_overlap(report: CodeReport) -> Any:
    """Draw the number of tasks that exactly each set of conditions solves: bars, and below them the sets."""
    titles = _titles(report)
    names = [name for name in titles if any(name in each.split(" + ") for each in report.overlaps)]
    sets = sorted(report.overlaps.items(), key=lambda each: (each[0] == NONE_SOLVES, -each[1], each[0]))
    places = np.arange(len(sets))
    figure = new_figure(max(6, 0.42 * len(sets) + 1.6), 3.9)
    bars, dots = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.2))
    for kind, (label, colour, hatch) in _KINDS.items():
        of_kind = [place for place, (name, _) in enumerate(sets) if _name_kind(name) == kind]
        drawn = bars.bar(
            places[of_kind], [sets[place][1] for place in of_kind], width=0.7, color=colour, hatch=hatch,
            edgecolor="white", label=label,
        )  # fmt: skip
        bars.bar_label(drawn, fontsize=8)
    figure.legend(loc="outside upper center", ncols=len(_KINDS))
    bars.set_ylabel("tasks")
    bars.tick_params(axis="x", bottom=False)
    for place, (solving, _) in enumerate(sets):
        rows = [row for row, name in enumerate(names) if name in solving.split(" + ")]
        dots.scatter([place] * len(names), range(len(names)), color="0.85", s=40, zorder=1)
        dots.plot([place] * len(rows), rows, color="0.1", marker="o", markersize=6.5, linewidth=1.5, zorder=2)
    dots.set_yticks(range(len(names)), [titles[name] for name in names])
    dots.set_ylim(len(names) - 0.5, -0.5)
    dots.set_xticks([])
    dots.set_xlabel("solved by")
    dots.tick_params(axis="y", left=False)
    for side in ("left", "bottom"):
        dots.spines[side].set_visible(False)
    return figure


_KINDS = {
    "base": ("solved without context too", COLOURS[0], HATCHES[0]),
    "context": ("solved with context alone", COLOURS[1], HATCHES[1]),
    "none": ("not solved", "0.75", HATCHES[2]),
}


def _name_kind(name: str) -> str:
    if name == NONE_SOLVES:
        return "none"
    return "base" if BASE in name.split(" + ") else "context"


def draw_errors(report: CodeReport) -> Any:
    """Draw a heat map of the failures of each condition by class (P-33)."""
    counts = [[each.errors[error] for error in ERRORS] for each in report.columns]
    return draw_heat_map(counts, [each.title for each in report.columns], ERRORS, "failures")


def draw_topics(report: CodeReport) -> Any:
    """Draw a heat map of the share of each topic that each condition solves (P-34)."""
    shares = [[100 * topic.solved[each.column] / topic.items for topic in report.topics] for each in report.columns]
    names = [f"{topic.topic} ({topic.items})" for topic in report.topics]
    return draw_heat_map(shares, [each.title for each in report.columns], names, "% solved")


def draw_heat_map(
    values: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str], what: str, digits: int = 0
) -> Any:
    """Draw a table whose cells are darker for larger values, with the numbers in them; none for a missing value."""
    figure = new_figure(2.2 + 0.62 * len(columns), 1.9 + 0.28 * len(rows))
    axes = figure.subplots()
    table = np.array(values, float)
    most = max(np.nanmax(table), 1)
    axes.pcolormesh(table, cmap="cividis_r", vmin=0, vmax=most, edgecolors="white", linewidth=1)
    axes.invert_yaxis()
    axes.set_title(f"{what}; the darker, the more")
    labels = [textwrap.fill(each, 22) for each in columns]
    axes.set_xticks(np.arange(len(columns)) + 0.5, labels, rotation=40, ha="right", fontsize=8)
    axes.set_yticks(np.arange(len(rows)) + 0.5, rows)
    axes.tick_params(length=0)
    for (row, column), value in np.ndenumerate(table):
        colour = "white" if value > DARK * most else "black"
        shown = "" if math.isnan(value) else f"{value:.{digits}f}"
        axes.text(column + 0.5, row + 0.5, shown, ha="center", va="center", color=colour, fontsize=8)
    for side in axes.spines.values():
        side.set_visible(False)
    return figure


def draw_radar(report: CodeReport) -> Any:
    """Draw the share of each topic that some conditions solve as a radar."""
    titles = _titles(report)
    names = [name for name in RADAR if name in titles]
    names = names if len(names) > 1 else list(titles)[:4]
    turns = [2 * math.pi * place / len(report.topics) for place in range(len(report.topics))]
    figure = new_figure(6.8, 5.6)
    figure.set_layout_engine("none")  # it leaves too little space for labels around a circle
    axes = figure.add_axes((0.24, 0.2, 0.52, 0.64), projection="polar")
    axes.set_theta_offset(math.pi / 2)
    axes.set_theta_direction(-1)
    for place, name in enumerate(names):
        shares = [topic.solved[name] / topic.items for topic in report.topics]
        axes.plot(
            [*turns, turns[0]], [*shares, shares[0]], color=COLOURS[place], linestyle=LINES[place],
            marker=MARKERS[place], markersize=4, linewidth=1.4, label=titles[name],
        )  # fmt: skip
    axes.set_xticks(
        turns, [f"{textwrap.fill(topic.topic, 16)}\n({topic.items})" for topic in report.topics], fontsize=8
    )
    for label, turn in zip(axes.get_xticklabels(), turns, strict=True):
        side = math.sin(turn)
        label.set_horizontalalignment("center" if abs(side) < 0.2 else "left" if side > 0 else "right")
        height = math.cos(turn)
        label.set_verticalalignment("center" if abs(height) < 0.9 else "bottom" if height > 0 else "top")
    most = max(topic.solved[name] / topic.items for topic in report.topics for name in names)
    axes.set_ylim(0, min(1.0, max(0.6, math.ceil(10 * most + 1) / 10)))
    axes.set_yticks([0.3, 0.6, 0.9], [".3", ".6", ".9"], fontsize=7, color="0.35")
    axes.tick_params(axis="x", pad=4)
    axes.grid(color="0.85")
    axes.spines["polar"].set_color("0.7")
    figure.legend(loc="lower center", ncols=len(names))
    return figure


def draw_map(report: CodeReport, compared: str) -> Any:
    """Draw the tasks at their places by PCA, marked by whether the base and another condition solve them."""
    titles = _titles(report)
    other = titles[compared]
    kinds: Mapping[tuple[bool, bool], tuple[str, str, str]] = {
        (False, False): ("neither", "0.65", "x"),
        (True, True): ("None and " + other, COLOURS[0], "o"),
        (True, False): (f"None alone (broken by {other})", COLOURS[1], "s"),
        (False, True): (f"{other} alone (fixed)", COLOURS[2], "^"),
    }
    figure = new_figure(6.4, 5.2)
    axes = figure.subplots()
    for (by_base, by_other), (label, colour, marker) in kinds.items():
        found = [
            task.place
            for task in report.tasks
            if task.place is not None and (BASE in task.solved_by, compared in task.solved_by) == (by_base, by_other)
        ]
        points = np.array(found).reshape(-1, 2)
        edge = {} if marker == "x" else {"edgecolors": "black", "linewidths": 0.4}
        axes.scatter(points[:, 0], points[:, 1], c=colour, marker=marker, s=26, label=f"{label}: {len(points)}", **edge)
    axes.set_title("tasks by PCA of their embeddings (default encoder)")
    axes.set_xlabel("first principal component")
    axes.set_ylabel("second")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
