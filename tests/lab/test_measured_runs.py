"""The pages quote what `pkg eval report` makes of the runs that are kept, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pkg.lab import report_evaluation
from pkg.lab.evaluation.code.code_report import ConditionFigures
from pkg.lab.evaluation.code.run_folder import read_records
from pkg.lab.evaluation.share_statistics import compare_paired

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "benchmarks" / "results" / "runs"
ROW = re.compile(
    r"^\| `(?P<run>[\w.-]+)` \| `(?P<column>[\w:-]+)` \|[^|]*\| (?P<solved>\d+) of (?P<items>\d+) \|"
    r" (?P<fixed>\d*) \| (?P<broken>\d*) \|$",
    re.MULTILINE,
)
GAIN = re.compile(r"fixes more than it breaks, (\d+) against (\d+) over all six runs")
PARTS = [RUNS / f"repository-{name}-0.5b-parts" for name in ("toolz", "parso", "boltons")]
PARTS_ROW = re.compile(
    r"^\| `(?P<column>[\w:-]+)` \|[^|]*\| (?P<toolz>\d+) \| (?P<parso>\d+) \| (?P<boltons>\d+) \|"
    r" (?P<solved>\d+) of (?P<items>\d+) \| (?P<fixed>\d*) \| (?P<broken>\d*) \| (?P<p>[\d.]*) \|$",
    re.MULTILINE,
)
FOUND = re.compile(r"callers outside of the tests for (\d+) of the (\d+) functions")
SAME = re.compile(r"shows the same function as `func-pkg` for (\d+) of the (\d+)")
PAGE = (ROOT / "docs" / "evaluate.md").read_text(encoding="utf-8")


def test_the_page_quotes_every_run_that_is_kept() -> None:
    assert {row["run"] for row in ROW.finditer(PAGE)} == {path.name for path in {*RUNS.iterdir()} - {*PARTS}}


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
        names = ("tutorials", "tutorials-text") if run.endswith("tutorials") else ("func-pkg", "block-pkg")
        assert [found[name].empty for name in names] == [0, 0]


def test_the_page_quotes_the_sum_over_the_repositories() -> None:
    reports = [report_evaluation(path) for path in RUNS.iterdir() if path.name.startswith("repository")]
    blocks = [each for report in reports for each in report.columns if each.column == "block-pkg"]
    quoted = GAIN.search(" ".join(PAGE.split()))
    assert quoted is not None
    assert [int(each) for each in quoted.groups()] == [
        sum(each.fixed or 0 for each in blocks),
        sum(each.broken or 0 for each in blocks),
    ]


def read_columns(name: str) -> list[ConditionFigures]:
    """Return a column of the runs with parts of a helper, by package."""
    return [each for path in PARTS for each in report_evaluation(path).columns if each.column == name]


def test_the_page_quotes_the_runs_with_parts_of_a_helper() -> None:
    rows = list(PARTS_ROW.finditer(PAGE))
    assert {row["column"] for row in rows} == {each.column for each in report_evaluation(PARTS[0]).columns}
    for row in rows:
        found = read_columns(row["column"])
        assert [int(row[name]) for name in ("toolz", "parso", "boltons")] == [each.solved for each in found]
        assert int(row["solved"]) == sum(each.solved for each in found)
        assert int(row["items"]) == sum(each.items for each in found)
        if row["column"] != "none":
            fixed, broken = sum(each.fixed or 0 for each in found), sum(each.broken or 0 for each in found)
            assert (int(row["fixed"]), int(row["broken"])) == (fixed, broken), row["column"]
            chance = compare_paired([False] * fixed + [True] * broken, [True] * fixed + [False] * broken).p_value
            assert row["p"] == f"{chance:.2f}", row["column"]


def test_all_columns_of_a_run_with_parts_are_of_the_same_items() -> None:
    for path in PARTS:
        items: dict[str, set[str]] = {}
        for record in read_records(path):
            items.setdefault(record.column, set()).add(record.item)
        assert len({frozenset(each) for each in items.values()}) == 1


def test_the_page_quotes_how_often_a_column_differs_from_another() -> None:
    shown: dict[str, dict[str, tuple[str, ...]]] = {}
    for path in PARTS:
        for record in read_records(path):
            shown.setdefault(record.column, {})[record.item] = record.shown
    found = sum(map(bool, shown["usages"].values()))
    same = sum(places[:1] == shown["func-pkg"][item][:1] for item, places in shown["similar"].items())
    page = " ".join(PAGE.split())
    for quoted, count in ((FOUND.search(page), found), (SAME.search(page), same)):
        assert quoted is not None
        assert [int(each) for each in quoted.groups()] == [count, len(shown["none"])]
