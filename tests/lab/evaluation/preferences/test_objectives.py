"""One score of code and preferences has stated weights, and the front holds what no other model exceeds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from code_runs import alternate, write_run

from pkg.cli import main
from pkg.errors import UsageError
from pkg.lab.evaluation.code.run_folder import check_model
from pkg.lab.evaluation.preferences.objectives import combine_objectives, find_front, parse_weights
from pkg.lab.evaluation.preferences.preference_bench import PreferenceFolder
from pkg.lab.judge.judge_tasks import PREFERENCES
from pkg.lab.judge.judgements import Judgement
from pkg.lab.lab_options import DatasetOptions

GRADED = {"base": 4, "tuned": 7}


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    """Write a run on a bench and one of HumanEval for two models: tuning costs code and gains preference."""
    rows = [{"id": name, "instruction": name, "preference": name} for name in PREFERENCES]
    folder = PreferenceFolder(tmp_path / "graded", rows, DatasetOptions())
    grading = folder.open_grading("judge", "large")
    lines = []
    for model, grade in GRADED.items():
        check_model(tmp_path / "graded", model, f"gguf:{model}.gguf")
        lines += [
            Judgement("grade", name, (model,), "judge", name, ratings=(grade,), key=f"{model}{name}")
            for name in PREFERENCES
        ]
    (tmp_path / "graded" / grading.file).write_text("".join(f"{json.dumps(each.to_json())}\n" for each in lines))
    for model, every in (("base", 2), ("tuned", 4)):
        write_run(tmp_path / model, {"none": alternate(8, every)}, model=f"gguf:{model}.gguf")
    return [str(tmp_path / name) for name in ("graded", "base", "tuned")]


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["eval", "objectives", *words])


def test_the_score_is_the_weighted_mean_of_scaled_objectives(runs: list[str], tmp_path: Path) -> None:
    done = run(*runs, "--figures", str(tmp_path / "figures"))
    assert done.exit_code == 0, done.output
    tuned, base = (json.loads(line) for line in done.stdout.splitlines())
    assert (base["model"], base["code"], base["preference"]) == ("base", 0.5, pytest.approx(1 / 3))
    assert tuned["score"] == pytest.approx(0.5 * 0.25 + 0.5 * 2 / 3)
    assert base["score"] == pytest.approx(0.5 * 0.5 + 0.5 / 3)
    assert (base["is_on_front"], tuned["is_on_front"]) == (True, True)
    assert sum(base["weights"].values()) == pytest.approx(1)
    assert (tmp_path / "figures" / "objectives.png").exists()
    page = tmp_path / "page.html"
    table = run(*runs, "--no-json", "--weight", "code=15", "--html", str(page)).stdout
    assert "0.75 of code, 0.05 of instruction-following" in " ".join(table.split())
    assert "paper, CodeLlama-7B, SFT" in page.read_text()


def test_the_order_follows_the_weights(runs: list[str]) -> None:
    done = run(*runs, "--weight", "code=50", "--weight", "style=2,explanation=0")
    assert [json.loads(line)["model"] for line in done.stdout.splitlines()] == ["base", "tuned"]


def test_a_dominated_model_is_not_on_the_front() -> None:
    weights = parse_weights(())
    models = [
        combine_objectives(name, {"humaneval": share}, dict.fromkeys(PREFERENCES, grade), weights)
        for name, share, grade in (("a", 0.5, 4), ("b", 0.4, 6), ("worse", 0.4, 5), ("as a", 0.5, 4))
    ]
    assert find_front(models) == ("a", "b", "as a")


@pytest.mark.parametrize("given", ["speed=1", "code", "code=-1", "code=nan", "code=0"])
def test_weights_that_mean_nothing_are_refused(given: str) -> None:
    with pytest.raises(UsageError):
        parse_weights([given])


def test_models_without_all_objectives_are_named(runs: list[str], tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", {"none": [True] * 8}, model="gguf:other.gguf")
    done = run(*runs[:2], str(other))
    assert done.exit_code == 0, done.output
    assert [json.loads(line)["model"] for line in done.stdout.splitlines()] == ["base"]
    assert "tuned is without humaneval" in done.stderr
    assert "gguf:other.gguf is not in the run on the bench" in done.stderr
    assert run(runs[0], str(other)).exit_code == 1
    assert run(*runs[1:]).exit_code == 2
    missing = run(*runs, "--judge", "someone")
    assert (missing.exit_code, "found judge / large" in missing.stderr) == (1, True)
    assert run(*runs, "--at", "10").exit_code == 1
