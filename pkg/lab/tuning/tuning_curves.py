"""Curves of a run: JSON lines, and a figure of loss, learning rate, accuracy, margins and rewards (Q-21, C-25)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pkg.errors import MissingExtraError
from pkg.lab.evaluation.report.report_format import COLOURS, LINES, MARKERS, Picture, new_figure, render_svg

CURVES, FIGURE = "curves.jsonl", "curves.svg"

CAUTION = (
    "The accuracy of pairs reaches 100 % in most runs, so it chooses no model; compare answers instead, as with"
    " pkg eval and pkg judge."
)
"""The caution beside every accuracy (C-25)."""

NAMES = {
    "loss": "loss",
    "learning_rate": "learning_rate",
    "grad_norm": "gradient_norm",
    "mean_token_accuracy": "token_accuracy",
    "rewards/accuracies": "accuracy",
    "rewards/margins": "margin",
    "rewards/chosen": "chosen_reward",
    "rewards/rejected": "rejected_reward",
}
"""Figures of TRL and their names in a line; those of held-out rows begin with `held_out_`."""

Line = dict[str, float]


def read_history(history: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Return one line for each step that the trainer reported, with the figures of both kinds of rows."""
    lines: dict[int, Line] = {}
    for entry in history:
        step = int(entry["step"])
        line = lines.setdefault(step, {"step": step, "epoch": round(float(entry["epoch"]), 6)})
        for name, value in entry.items():
            held = name.startswith("eval_")
            known = NAMES.get(name.removeprefix("eval_"))
            if known is not None:
                line[f"held_out_{known}" if held else known] = float(value)
    kept = (line for _, line in sorted(lines.items()) if len(line) > 2)
    return list(kept)


def write_curves(lines: Sequence[Line], folder: Path, title: str) -> list[str]:
    """Write the lines and the figure into a folder; return notes, such as that the figure needs an extra."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / CURVES).write_text(text, encoding="utf-8")
    try:
        figure = render_svg(Picture("curves", title, partial(draw_curves, lines)))
    except MissingExtraError as fault:
        return [str(fault)]
    (folder / FIGURE).write_text(figure, encoding="utf-8")
    return []


def read_curves(folder: Path) -> list[Line]:
    """Read the lines of a finished run; none without their file."""
    try:
        text = (folder / CURVES).read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text.splitlines()]


PANELS = (
    ("loss", ("loss", "held_out_loss")),
    ("learning rate", ("learning_rate",)),
    ("accuracy of pairs: no choice of a model", ("accuracy", "held_out_accuracy")),
    ("margin of rewards", ("margin", "held_out_margin")),
    ("rewards of held-out pairs", ("held_out_chosen_reward", "held_out_rejected_reward")),
)
"""Panels of the figure: title and curves; those without a value are left out."""


def draw_curves(lines: Sequence[Line]) -> Any:
    """Draw the curves of a run side by side."""
    panels = [(title, names) for title, names in PANELS if any(name in line for line in lines for name in names)]
    figure = new_figure(3.4 * len(panels), 2.9)
    for axes, (title, names) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        for place, name in enumerate(names):
            points = [(line["step"], line[name]) for line in lines if name in line]
            marker = MARKERS[place] if len(points) < 25 else ""
            axes.plot(
                *zip(*points, strict=True), color=COLOURS[place], linestyle=LINES[place], marker=marker, markersize=4,
                label=name.replace("_", " "),
            ) if points else None  # fmt: skip
        axes.set_title(title)
        axes.set_xlabel("step")
        axes.legend(fontsize=8)
    return figure
