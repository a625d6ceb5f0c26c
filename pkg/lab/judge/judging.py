"""Running a judge over tasks, and the file of its last check."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pkg.errors import PathError
from pkg.lab.judge.items import JudgedItem
from pkg.lab.judge.judge_check import JudgeCheck, check_judge
from pkg.lab.judge.judge_tasks import JudgeOptions, JudgeTask
from pkg.lab.judge.judgements import Judgement, JudgementFile
from pkg.lab.judge.model_judge import Judge, ModelJudge
from pkg.lab.judge.overlap_judge import OverlapJudge
from pkg.lab.judge.planted_cases import count_cases, list_planted_tasks, plant_cases
from pkg.lab.judge.ratings import Rating
from pkg.models.registry import open_model
from pkg.sandbox.protocol import Sandbox
from pkg.sandbox.worker_pool import open_sandbox

NO_MODEL = "none"
"""The name of the judge without a model on the command line."""
CHECK_RUNS = 2  # the fewest runs with which self-agreement can be measured

Listen = Callable[[int, int], None]
"""Called with the number of judged tasks and the total."""


@contextmanager
def open_judge(model: str | None, options: JudgeOptions, stored: JudgementFile, has_tests: bool) -> Iterator[Judge]:
    """Open a model as judge, or the judge without a model, with a sandbox if there are tests to run.

    Raises the errors of the model or the sandbox.
    """
    if model not in (None, NO_MODEL):
        text_model = open_model(str(model))
        try:
            yield ModelJudge(text_model, options, stored)
        finally:
            text_model.close()
        return
    sandbox: Sandbox | None = open_sandbox() if has_tests else None
    try:
        yield OverlapJudge(sandbox, stored)
    finally:
        if sandbox is not None:
            sandbox.close()


def judge_tasks(judge: Judge, tasks: Sequence[JudgeTask], listen: Listen | None = None) -> Iterator[Judgement]:
    """Judge tasks in their order and report progress."""
    for done, judgement in enumerate(judge.judge_all(tasks), 1):
        if listen is not None:
            listen(done, len(tasks))
        yield judgement


def plan_check(options: JudgeOptions) -> JudgeOptions:
    """Return the options of a check, with at least CHECK_RUNS runs."""
    return replace(options, runs=max(options.runs, CHECK_RUNS))


def run_check(
    judge: Judge,
    options: JudgeOptions,
    items: Sequence[JudgedItem],
    judgements: Sequence[Judgement],
    ratings: Sequence[Rating] | None = None,
    tolerance: float | None = None,
    listen: Listen | None = None,
) -> JudgeCheck:
    """Judge planted cases, and measure the judge from these, its judgements and the ratings of people."""
    planted = list_planted_tasks(plant_cases(items), options.kind)
    cases = count_cases(judge_tasks(judge, planted, listen))
    return check_judge(judge.name, options.kind, judgements, cases, items, ratings, tolerance)


def name_check(path: Path) -> Path:
    """Return the path of the check beside a file of judgements."""
    return path.with_name(f"{path.name}.check.json")


def write_check(path: Path, check: JudgeCheck) -> None:
    """Write a check beside the judgements; raises PathError if it cannot be written."""
    try:
        name_check(path).write_text(json.dumps(check.to_json(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as fault:
        raise PathError(f"cannot write {name_check(path)}: {fault.strerror}; expected a folder that exists") from None


def find_check(judge: str, kind: str, *paths: Path | None) -> dict[str, Any] | None:
    """Return the last check of a judge beside one of the files; None if there is none of this judge and kind."""
    for path in paths:
        try:
            found = json.loads(name_check(path).read_text(encoding="utf-8")) if path is not None else None
        except (OSError, ValueError):
            continue
        if isinstance(found, dict) and (found.get("judge"), found.get("kind")) == (judge, kind):
            return found
    return None
