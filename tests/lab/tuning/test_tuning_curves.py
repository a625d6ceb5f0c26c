"""The report of a trainer becomes one line for each step, and a figure."""

from __future__ import annotations

from pathlib import Path

from pkg.lab.tuning.tuning_curves import CURVES, FIGURE, read_curves, read_history, write_curves

HISTORY = [
    {"step": 0, "epoch": 0, "eval_loss": 3.0, "eval_runtime": 1.0},
    {"step": 1, "epoch": 0.5, "loss": 2.5, "learning_rate": 1e-4, "num_tokens": 5.0},
    {"step": 2, "epoch": 1.0, "loss": 2.0, "rewards/accuracies": 1.0, "rewards/margins": 0.3, "learning_rate": 0.0},
    {"step": 2, "epoch": 1.0, "eval_loss": 2.2, "eval_rewards/accuracies": 0.5},
    {"step": 2, "epoch": 1.0, "train_runtime": 9.0},
]


def test_a_line_has_the_figures_of_a_step_and_no_times() -> None:
    assert read_history(HISTORY) == [
        {"step": 0, "epoch": 0.0, "held_out_loss": 3.0},
        {"step": 1, "epoch": 0.5, "loss": 2.5, "learning_rate": 1e-4},
        {
            "step": 2,
            "epoch": 1.0,
            "loss": 2.0,
            "accuracy": 1.0,
            "margin": 0.3,
            "learning_rate": 0.0,
            "held_out_loss": 2.2,
            "held_out_accuracy": 0.5,
        },
    ]


def test_the_curves_are_written_as_lines_and_as_a_figure(tmp_path: Path) -> None:
    lines = read_history(HISTORY)
    assert write_curves(lines, tmp_path, "sft of m") == []
    assert len((tmp_path / CURVES).read_text().splitlines()) == 3
    assert read_curves(tmp_path) == lines
    figure = (tmp_path / FIGURE).read_text()
    for title in ("loss", "learning rate", "accuracy of pairs: no choice of a model", "margin of rewards"):
        assert title in figure
    assert "rewards of held-out pairs" not in figure
