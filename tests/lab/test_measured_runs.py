"""The pages quote what `pkg eval report` makes of the runs that are kept, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pkg.lab import report_evaluation

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "benchmarks" / "results" / "runs"
ROW = re.compile(
    r"^\| `(?P<run>[\w.-]+)` \| `(?P<column>[\w:-]+)` \|[^|]*\| (?P<solved>\d+) of (?P<items>\d+) \|"
    r" (?P<fixed>\d*) \| (?P<broken>\d*) \|$",
    re.MULTILINE,
)
GAIN = re.compile(r"fixes more than it breaks, (\d+) against (\d+) over all six runs")
PAGE = (ROOT / "docs" / "evaluate.md").read_text(encoding="utf-8")


def test_the_page_quotes_every_run_that_is_kept() -> None:
    assert {row["run"] for row in ROW.finditer(PAGE)} == {path.name for path in RUNS.iterdir()}


@pytest.mark.parametrize("run", sorted(path.name for path in RUNS.iterdir()))
def test_the_figures_of_the_page_are_those_of_the_run(run: str) -> None:
    found = {each.column: each for each in report_evaluation(RUNS / run).columns}
    for row in (each for each in ROW.finditer(PAGE) if each["run"] == run):
        figures = found[row["column"]]
        told = (int(row["solved"]), int(row["items"]), *(int(row[name] or 0) for name in ("fixed", "broken")))
        assert told == (figures.solved, figures.items, figures.fixed or 0, figures.broken or 0), row["column"]


@pytest.mark.parametrize("run", sorted(path.name for path in RUNS.iterdir()))
def test_no_search_of_the_graph_came_back_empty(run: str) -> None:
    found = {each.column: each for each in report_evaluation(RUNS / run).columns}
    if not run.startswith("repository"):
        assert (found["func-pkg"].empty, found["block-pkg"].empty) == (0, 0)


def test_the_page_quotes_the_sum_over_the_repositories() -> None:
    reports = [report_evaluation(path) for path in RUNS.iterdir() if path.name.startswith("repository")]
    blocks = [each for report in reports for each in report.columns if each.column == "block-pkg"]
    quoted = GAIN.search(" ".join(PAGE.split()))
    assert quoted is not None
    assert [int(each) for each in quoted.groups()] == [
        sum(each.fixed or 0 for each in blocks),
        sum(each.broken or 0 for each in blocks),
    ]
