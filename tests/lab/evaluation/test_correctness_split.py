"""A judge of correctness is compared with the tests themselves, on the answers of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from code_runs import write_run
from scipy import stats

from pkg.cli import main
from pkg.lab.evaluation.code.benchmarks import read_benchmark
from pkg.lab.evaluation.code.run_folder import RUN
from pkg.lab.judge.judgements import Judgement

PASSED = [True, True, True, False, False, False]
RATED = (9, 8, 5, 5, 3, None)


@pytest.fixture(name="place")
def write_place(tmp_path: Path) -> Path:
    """Write a run with its benchmark, and the ratings of a judge."""
    rows = [
        {
            "task_id": f"HumanEval/{number}", "prompt": f"def f{number}(x):\n", "entry_point": f"f{number}",
            "canonical_solution": "    return x\n", "test": "def check(candidate):\n    assert candidate(1) == 1\n",
        }
        for number in range(len(PASSED))
    ]  # fmt: skip
    (tmp_path / "tasks.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    run = write_run(tmp_path / "run", {"none": PASSED})
    head = json.loads((run / RUN).read_text())
    head["sha256"] = read_benchmark("humaneval", tmp_path / "tasks.jsonl", is_any=True).sha256
    (run / RUN).write_text(json.dumps(head))
    judged = [
        Judgement("correctness", f"HumanEval/{number}", ("none",), "coder", ratings=(rating,), key=str(number))
        for number, rating in enumerate(RATED)
    ]
    judged.append(Judgement("correctness", "HumanEval/99", ("none",), "coder", ratings=(1,), key="x"))
    (tmp_path / "judged.jsonl").write_text("".join(f"{json.dumps(each.to_json())}\n" for each in judged))
    return tmp_path


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def read(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_ratings_are_split_by_the_verdicts_of_the_run(place: Path) -> None:
    words = ("judge", "report", place / "judged.jsonl", "--verdicts", place / "run", "--figures", place / "figures")
    found = read(run(*words))[-1]
    assert (found["type"], found["mean_passed"], found["mean_failed"]) == ("verdicts", pytest.approx(22 / 3), 4)
    assert (found["unread"], found["unknown"], found["passed"]["9"], found["failed"]["3"]) == (1, 1, 1, 1)
    test = stats.mannwhitneyu([9, 8, 5], [5, 3])
    assert (found["separation"], found["p_value"]) == (pytest.approx(5.5 / 6), pytest.approx(test.pvalue))
    assert found["welch"]["p_value"] == pytest.approx(stats.ttest_ind([9, 8, 5], [5, 3], equal_var=False).pvalue)
    assert (place / "figures" / "verdicts-coder.svg").exists()
    assert "probability 0.92" in " ".join(run(*words, "--no-json").stdout.split())


def test_the_answers_of_a_run_are_rows_for_the_judge(place: Path) -> None:
    words = ("--data", place / "tasks.jsonl", "--answers", place / "answers.jsonl")
    assert "6 rows written" in run("eval", "report", place / "run", *words).stderr
    judged = read(run("judge", "correctness", place / "answers.jsonl", "--out", place / "new.jsonl"))
    assert sum(each["type"] == "judgement" for each in judged) == 6
    found = read(run("judge", "report", place / "new.jsonl", "--verdicts", place / "run"))[-1]
    assert (found["judge"], found["unknown"]) == ("overlap", 0)


def test_judgements_of_other_answers_and_a_run_without_its_benchmark_are_refused(place: Path) -> None:
    other = write_run(place / "other", {"func-pkg": [True]})
    done = run("judge", "report", place / "judged.jsonl", "--verdicts", other)
    assert (done.exit_code, "no rating of correctness is of an answer" in done.stderr) == (1, True)
    assert run("judge", "report", place / "judged.jsonl", "--verdicts", place).exit_code == 1
    assert "add --data" in run("eval", "report", place / "run", "--answers", place / "answers.jsonl").stderr
