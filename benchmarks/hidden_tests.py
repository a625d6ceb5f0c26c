"""Tell whether code passes the hidden tests of a benchmark; run in the sandbox like everything else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared_data import QUESTIONS, find_files, read_rows

from pkg.sandbox.protocol import Kind, Limits, Program, Sandbox, Step

LIMITS = Limits(cpu_seconds=10.0, wall_seconds=30.0, memory_bytes=1 << 30)


@dataclass(frozen=True, slots=True)
class Problem:
    """One task of a benchmark: what is asked, what is right, and the tests that nobody who answers has seen."""

    id: str
    query: str
    right: str
    tests: str  # statements; code is right when they run to their end


FORMS = ("humaneval", "mbpp_one_assert", "mbpp_text_alone")


def make_humaneval(row: dict[str, Any]) -> Problem:
    """Make a problem of a HumanEval row; the query is the whole prompt (A-07)."""
    tests = f"{row['test']}\ncheck({row['entry_point']})"
    return Problem(row["task_id"], row["prompt"], row["prompt"] + row["canonical_solution"], tests)


def make_mbpp(row: dict[str, Any], shown: int) -> Problem:
    """Make a problem of an MBPP row, whose query shows the first asserts or none; the tests are all asserts."""
    asserts = [each.replace("\r\n", "\n") for each in row["test_list"]]
    query = "\n".join((row["text"], *asserts[:shown]))
    tests = "\n".join((row["test_setup_code"].replace("\r\n", "\n"), *asserts))
    return Problem(f"MBPP/{row['task_id']}", query, row["code"].replace("\r\n", "\n"), tests)


def read_forms(data: Path, form: str) -> list[Problem]:
    """Read the tasks of HumanEval, or the 500 test tasks of MBPP with one assert in the query or with none (P-32)."""
    humaneval, mbpp = find_files(data, QUESTIONS)
    if form == "humaneval":
        return [make_humaneval(row) for row in read_rows(humaneval)]
    shown = {"mbpp_one_assert": 1, "mbpp_text_alone": 0}[form]
    return [make_mbpp(row, shown) for row in read_rows(mbpp) if 11 <= row["task_id"] <= 510]


def judge_kinds(sandbox: Sandbox, pairs: Iterable[tuple[str, Problem]], limits: Limits = LIMITS) -> list[Kind]:
    """Tell of each pair of code and problem how the hidden tests end."""
    programs = (Program(code, (Step(problem.tests, is_expression=False),)) for code, problem in pairs)
    return [result.steps[0].kind for result in sandbox.run_all(programs, limits)]


def judge_all(sandbox: Sandbox, pairs: Iterable[tuple[str, Problem]]) -> list[bool]:
    """Tell of each pair of code and problem whether the hidden tests pass."""
    return [kind is Kind.OK for kind in judge_kinds(sandbox, pairs)]


def share_of_gap(chosen: float, mean: float, oracle: float) -> float | None:
    """Give the share of the gap between the mean candidate and the best one that a choice captures (9.6)."""
    return None if oracle <= mean else (chosen - mean) / (oracle - mean)


def mean(values: Iterable[float]) -> float:
    """Give the mean of some numbers; 0 of none."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
