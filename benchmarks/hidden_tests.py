"""Read the tasks of the benchmarks, and check whether code passes their hidden tests, as `pkg eval` does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pkg.lab.evaluation.code.benchmarks import Item, read_benchmark
from pkg.lab.evaluation.code.hidden_tests import LIMITS, HiddenTests, score_all
from pkg.sandbox.protocol import Kind, Limits, Sandbox

FORMS = ("humaneval", "mbpp_one_assert", "mbpp_text_alone")


def read_forms(data: Path, form: str) -> list[Item]:
    """Read the tasks of HumanEval, or the 500 test tasks of MBPP with one assert in the query or with none (P-32).

    The query of a HumanEval task is its whole prompt (A-07).
    """
    if form == "mbpp_one_assert":
        return [replace(item, query=item.task) for item in read_benchmark("mbpp", data, shown=1).items]
    return list(read_benchmark({"humaneval": "humaneval", "mbpp_text_alone": "mbpp"}[form], data).items)


def judge_kinds(sandbox: Sandbox, pairs: Iterable[tuple[str, Item]], limits: Limits = LIMITS) -> list[Kind]:
    """Return the outcome of the hidden tests for each pair of code and task."""
    return [verdict.kind for verdict in HiddenTests(sandbox, limits).run_all(pairs)]


def judge_all(sandbox: Sandbox, pairs: Iterable[tuple[str, Item]]) -> list[bool]:
    """Return whether the hidden tests pass for each pair of code and task."""
    return [score.passed for score in score_all(HiddenTests(sandbox, LIMITS), pairs)]


def share_of_gap(chosen: float, mean: float, oracle: float) -> float | None:
    """Return the share of the gap between the mean candidate and the best one that a choice captures (9.6)."""
    return None if oracle <= mean else (chosen - mean) / (oracle - mean)


def mean(values: Iterable[float]) -> float:
    """Return the mean of some numbers; 0 of none."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
