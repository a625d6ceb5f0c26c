"""Forgetting is the change of pass@k between two runs of the same items, with tests of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from code_runs import alternate, write_run
from scipy import stats

from pkg.cli import main
from pkg.errors import InputError
from pkg.lab.evaluation.code.forgetting import compare_runs
from pkg.lab.evaluation.share_statistics import pass_at_k

COUNT = 40
BASE, TUNED = "gguf:base.gguf", "hf:base+tuned"


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Write a run before and one after tuning, with ten samples of each task."""
    solved = {"before": alternate(COUNT, 2), "after": alternate(COUNT, 4)}
    models = {"before": BASE, "after": TUNED}
    return [write_run(tmp_path / name, {"none": each}, model=models[name], samples=10) for name, each in solved.items()]


def report(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["eval", "report", *map(str, words), "--forgetting"])


def test_the_change_is_of_unbiased_estimates_with_an_exact_test_of_first_answers(runs: list[Path]) -> None:
    (change,) = compare_runs(runs)
    one, ten = change.passes
    assert (change.items, change.samples, one.k, ten.k) == (COUNT, 10, 1, 10)
    assert [one.before, one.after] == pytest.approx([0.5 * pass_at_k(10, 5, 1), 0.25 * 0.5])
    assert (ten.before, ten.after) == (0.5, 0.25)
    assert one.change == pytest.approx(-0.125)
    assert one.interval.low < one.change < one.interval.high < 0
    assert (change.fixed, change.broken) == (0, 10)
    assert change.p_value == pytest.approx(stats.binomtest(0, 10).pvalue)
    assert change.notes == ()


def test_runs_of_other_items_or_options_are_compared_on_shared_ones_and_told(tmp_path: Path, runs: list[Path]) -> None:
    short = write_run(tmp_path / "short", {"none": [True] * 30, "func-pkg": [True] * 30}, model=TUNED)
    (change,) = compare_runs([runs[0], short])
    assert (change.column, change.items, change.samples, [each.k for each in change.passes]) == ("none", 30, 1, [1])
    assert "samples is 10 before and 1 after" in change.notes
    assert "10 items of one run alone are left out" in change.notes


def test_the_report_has_the_published_changes_below_ours(runs: list[Path], tmp_path: Path) -> None:
    mbpp = [
        write_run(tmp_path / f"mbpp-{name}", {"none": [solved] * 6}, "mbpp", model)
        for name, model, solved in (("before", BASE, False), ("after", TUNED, True))
    ]
    files = ("--figures", tmp_path / "figures", "--html", tmp_path / "page.html")
    done = report(*runs, *mbpp, "--format", "markdown", *files)
    assert done.exit_code == 0, done.output
    rows = {line.split("|")[1].strip(): line for line in done.stdout.splitlines() if line.startswith("|")}
    assert "| tuned | -12.5 | -25.0 | – | – | +100.0 | – |" in done.stdout
    assert "-6.8 | -8.0 | – | – | -11.5 | -12.6 |" in rows["paper, Mistral-7B, SpyderCodeQA"]
    assert "+13.3" in rows["paper, CodeLlama-7B, SFT"]
    assert "| base | 25.0 | 50.0 |" in done.stdout
    assert (tmp_path / "figures" / "forgetting.svg").exists()
    assert "Forgetting" in (tmp_path / "page.html").read_text()
    lines = [json.loads(line) for line in report(*runs, "--json").stdout.splitlines()]
    assert [(line["type"], line["benchmark"], line["broken"]) for line in lines] == [("forgetting", "humaneval", 10)]
    assert len(report(*runs, "--format", "csv").stdout.splitlines()) == 3


def test_a_model_of_the_same_name_is_shown_twice(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, {"none": [name == "a"] * 4}, model=BASE) for name in "ab"]
    done = report(*runs, "--format", "markdown")
    assert "| base, before | 100.0 |" in done.stdout
    assert "| base, after | 0.0 |" in done.stdout
    assert "both runs are of the same model" in done.stdout


def test_one_run_alone_and_runs_of_other_data_are_refused(tmp_path: Path, runs: list[Path]) -> None:
    with pytest.raises(InputError, match="only run of humaneval"):
        compare_runs(runs[:1])
    mbpp = write_run(tmp_path / "mbpp", {"none": [True]}, "mbpp")
    with pytest.raises(InputError, match="only run of mbpp"):
        compare_runs([*runs, mbpp])
    other = write_run(tmp_path / "other", {"func-pkg": [True] * COUNT})
    with pytest.raises(InputError, match="no item in the same column"):
        compare_runs([runs[0], other])
    assert report(runs[0]).exit_code == 1
