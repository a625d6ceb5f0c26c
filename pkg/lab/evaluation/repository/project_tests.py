"""Run tests of a project in the sandbox: all of them under a tracer, or some with a replaced file."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pkg.errors import InputError, shorten
from pkg.lab.evaluation.code.scorer import LONGEST, Score
from pkg.lab.evaluation.repository.project_files import Project
from pkg.rerank.diagnosis import classify
from pkg.sandbox.protocol import BOX, Kind, Limits, Program, Sandbox, Step

TRACE_LIMITS = Limits(cpu_seconds=900.0, wall_seconds=1200.0, memory_bytes=4 << 30, output_bytes=64 << 20, processes=64)
RUN_LIMITS = Limits(cpu_seconds=20.0, wall_seconds=40.0, memory_bytes=2 << 30, output_bytes=1 << 20, processes=64)
"""For at most ten tests, the fastest that reach a function."""

CONTROL = "test_pkg_{}.py"
CONTROL_TEST = "def test_{}():\n    value = 1\n    assert value == 2\n"
"""A test that must fail, to detect answers that make tests pass or change how they are reported."""

RUNNER = Path(__file__).with_name("inside_runner.py")


@dataclass(frozen=True, slots=True)
class TestEnd:
    """The outcome of one test."""

    __test__ = False  # not a test class of pytest

    outcome: str  # passed, failed, skipped or xpassed; started or called if it did not end
    seconds: float
    error: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TracedTests:
    """The outcomes of all tests of a project, and the tests that reach each function."""

    python: str
    ends: dict[str, TestEnd]
    broken: tuple[str, ...]  # files that could not be collected, with the reason
    reached: dict[tuple[str, int], tuple[str, ...]]  # by path and first line of a function, the fastest first


def trace_tests(sandbox: Sandbox, project: Project, tests: Sequence[str]) -> TracedTests:
    """Run the tests of a project once and record the functions that they reach.

    tests: files, folders or names for pytest; if empty, all that it finds. Raises InputError if pytest is missing, if
    there is no test, or if the tests do not end.
    """
    result = sandbox.run(_write_program(project.pack(), {}, tests, is_traced=True), TRACE_LIMITS)
    found = _read_value(result.steps[0].value)
    if found is None:
        verdict = result.load if result.load.kind is not Kind.OK else result.steps[0]
        if "No module named 'pytest'" in verdict.detail:
            raise InputError(
                "the interpreter has no pytest; install it there, or name another interpreter with --python"
            )
        raise InputError(
            f"the tests of {project.name} could not be run in the sandbox: {verdict.detail or verdict.kind.value}"
        )
    ends = {name: TestEnd(end[0], end[1], end[2], end[3]) for name, end in found["ends"].items()}
    if not ends:
        why = f": {'; '.join(found['broken'][:3])}" if found["broken"] else ""
        raise InputError(
            f"pytest runs no test of {project.name} (exit status {found['code']}){why}; expected a folder whose tests"
            " pytest finds, or --tests with their place in it"
        )
    reached = {}
    for place, names in found["reached"].items():
        path, _, line = place.rpartition(":")
        reached[path, int(line)] = tuple(names)
    return TracedTests(found["python"], ends, tuple(found["broken"]), reached)


@dataclass(frozen=True, slots=True)
class Replacement:
    """The text of a file with an answer in it, and the tests that score the answer."""

    path: str
    text: str
    tests: tuple[str, ...]


def judge_replacements(sandbox: Sandbox, project: Project, tried: Iterable[Replacement]) -> Iterator[Score]:
    """Yield the score of each replacement, in order; several run at once.

    An answer passes if pytest has run each test by name, all passed, and the control test failed; exit status and
    printed output are ignored.
    """
    kept: list[Replacement] = []

    def write() -> Iterator[Program]:
        for each in tried:
            kept.append(each)
            control, written = _write_control(each)
            files = {each.path: each.text, **written}
            yield _write_program(project.pack(each.path), files, (*each.tests, control), is_traced=False)

    for place, result in enumerate(sandbox.run_all(write(), RUN_LIMITS)):
        verdict = result.steps[0]
        found = _read_value(verdict.value) if verdict.kind is Kind.OK else None
        if found is None:
            yield Score(False, classify(verdict.kind), shorten(verdict.detail, LONGEST), verdict.seconds)
        else:
            control, _ = _write_control(kept[place])
            yield _judge(found, kept[place].tests, control, verdict.seconds)


def _write_control(tried: Replacement) -> tuple[str, dict[str, str]]:
    """Write the control test of a replacement: its name and its file, which an answer cannot predict."""
    sign = hashlib.sha256(tried.text.encode("utf-8", "replace")).hexdigest()[:12]
    path = CONTROL.format(sign)
    return f"{path}::test_{sign}", {path: CONTROL_TEST.format(sign)}


def _judge(found: dict[str, Any], tests: Sequence[str], control: str, seconds: float) -> Score:
    ends = found["ends"]
    if ends.pop(control, [""])[0] == "passed":
        return Score(False, "Other", "a test that has to fail was reported as passed", seconds)
    if all(ends.get(test, [""])[0] == "passed" for test in tests):
        return Score(True, seconds=seconds)
    failed = next((end for end in ends.values() if end[0] == "failed"), None)
    if failed is not None:
        return Score(False, failed[2] or "Other", shorten(failed[3], LONGEST), seconds)
    if found["broken"]:
        broken = str(found["broken"][0])
        error = next((name for name in ("NameError", "TypeError", "SyntaxError") if name in broken), "Other")
        return Score(False, error, shorten(broken, LONGEST), seconds)
    missing = next(test for test in tests if ends.get(test, [""])[0] != "passed")
    return Score(False, "Other", shorten(f"{missing} did not pass", LONGEST), seconds)


def _write_program(packed: str, files: dict[str, str], tests: Sequence[str], is_traced: bool) -> Program:
    code = f"{RUNNER.read_text(encoding='utf-8')}\nROOT = unpack({packed!r}, {files!r}, {BOX!r})\n"
    return Program(code, (Step(f"run_tests(ROOT, {list(tests)!r}, {is_traced!r})", is_expression=True),))


def _read_value(value: str | None) -> dict[str, Any] | None:
    """Parse the output of the runner; None if it is invalid."""
    try:
        found = json.loads(ast.literal_eval(value or ""))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return found if isinstance(found, dict) and {"ends", "broken", "code"} <= found.keys() else None
