"""Have a judge say something about every task, and keep beside its judgements what its last check found."""

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

WITHOUT = "none"
"""The name that asks for the judge without a model."""
CHECK_RUNS = 2  # the fewest that tell whether a judge says the same twice

Listen = Callable[[int, int], None]
"""Told how many of how many are judged."""


@contextmanager
def open_judge(model: str | None, options: JudgeOptions, kept: JudgementFile, has_tests: bool) -> Iterator[Judge]:
    """Open the judge that a model is, or the one that counts; the sandbox is opened for answers that have tests.

    Raises what the model or the sandbox raises.
    """
    if model not in (None, WITHOUT):
        text_model = open_model(str(model))
        try:
            yield ModelJudge(text_model, options, kept)
        finally:
            text_model.close()
        return
    sandbox: Sandbox | None = open_sandbox() if has_tests else None
    try:
        yield OverlapJudge(sandbox, kept)
    finally:
        if sandbox is not None:
            sandbox.close()


def judge_tasks(judge: Judge, tasks: Sequence[JudgeTask], listen: Listen | None = None) -> Iterator[Judgement]:
    """Judge tasks in their order, and tell how far it is."""
    for done, judgement in enumerate(judge.judge_all(tasks), 1):
        if listen is not None:
            listen(done, len(tasks))
        yield judgement


def plan_check(options: JudgeOptions) -> JudgeOptions:
    """Give the options of a check: at least two runs, to see whether the same is said twice."""
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
    """Have planted cases judged, and measure the judge by these, by its judgements, and by what people say."""
    planted = list_planted_tasks(plant_cases(items), options.kind)
    cases = count_cases(judge_tasks(judge, planted, listen))
    return check_judge(judge.name, options.kind, judgements, cases, items, ratings, tolerance)


def name_check(path: Path) -> Path:
    """Name the file beside judgements that holds the last check of their judge."""
    return path.with_name(f"{path.name}.check.json")


def write_check(path: Path, check: JudgeCheck) -> None:
    """Keep a check beside the judgements; a PathError where it cannot be written."""
    try:
        name_check(path).write_text(json.dumps(check.to_json(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as fault:
        raise PathError(f"cannot write {name_check(path)}: {fault.strerror}; expected a folder that exists") from None


def find_check(judge: str, kind: str, *paths: Path | None) -> dict[str, Any] | None:
    """Read the last check of a judge beside one of some files; None where there is none, or it is of another judge."""
    for path in paths:
        try:
            found = json.loads(name_check(path).read_text(encoding="utf-8")) if path is not None else None
        except (OSError, ValueError):
            continue
        if isinstance(found, dict) and (found.get("judge"), found.get("kind")) == (judge, kind):
            return found
    return None
