"""The table of documents and feedback shows our shares above the published ones."""

from __future__ import annotations

import pytest

from pkg.lab.evaluation.report.feedback_tables import REPRODUCED, list_feedback_tables


@pytest.mark.parametrize(
    ("name", "ratios"),
    [
        ("documents-reranked", (1.076, 1.034, 1.076, 1.003)),
        ("feedback", (1.085, 1.040, 1.130, 1.036)),
        ("documents-feedback", (1.091, 1.046, 1.136, 1.028)),
    ],
)
def test_published_figures_have_the_published_ratios_to_the_baseline(name: str, ratios: tuple[float, ...]) -> None:
    base, figures = REPRODUCED["none"], REPRODUCED[name]
    found = [ours / theirs for part in (0, 1) for ours, theirs in zip(figures[part], base[part], strict=True)]
    assert found == pytest.approx(ratios, abs=0.001)


def test_runs_without_such_columns_have_no_table() -> None:
    assert list_feedback_tables("humaneval", []) == []
