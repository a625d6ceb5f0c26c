"""Several models answer the same instructions: assignment, principles, and dropped records."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from scripted_model import ScriptedModel

from pkg.errors import UsageError
from pkg.lab.datasets.dataset_rows import Row, StepCounts
from pkg.lab.datasets.model_responses import (
    NO_RESPONSE,
    OpenRunner,
    Task,
    estimate_responses,
    plan_tasks,
    write_responses,
)
from pkg.lab.datasets.request_runner import RequestRunner
from pkg.lab.judge.items import JudgedItem, read_items
from pkg.lab.judge.judge_tasks import PREFERENCES
from pkg.lab.lab_options import DatasetOptions
from pkg.models.text_cache import TextCache

ITEMS = [JudgedItem(str(number), f"Write function {number}.") for number in range(50)]
POOL = [f"m{number}" for number in range(5)]


def open_models(models: dict[str, ScriptedModel]) -> OpenRunner:
    @contextmanager
    def open_runner(name: str) -> Iterator[RequestRunner]:
        with closing(TextCache()) as cache, closing(RequestRunner(models[name], cache)) as runner:
            yield runner

    return open_runner


def script(name: str, *answers: str) -> ScriptedModel:
    return ScriptedModel(answers or [f"{name} says so"], name=name, identity=name)


def answer(
    tasks: list[Task], models: dict[str, ScriptedModel], principles: bool = True
) -> tuple[list[Row], StepCounts]:
    counts = StepCounts("responses")
    return list(write_responses(tasks, open_models(models), DatasetOptions(), principles, counts)), counts


def test_preferences_are_assigned_in_equal_parts_and_models_are_drawn() -> None:
    tasks = plan_tasks(ITEMS, POOL, (), 4, 0)
    assert Counter(task.preference for task in tasks) == dict.fromkeys(PREFERENCES, 10)
    assert {len(set(task.models)) for task in tasks} == {4}
    assert len({task.models for task in tasks}) > 10
    assert tasks == plan_tasks(ITEMS, POOL, (), 4, 0) != plan_tasks(ITEMS, POOL, (), 4, 1)


def test_the_preference_of_a_row_is_kept_and_an_unknown_one_replaced() -> None:
    items = [JudgedItem("1", "x", preference="style"), JudgedItem("2", "y", preference="speed")]
    assert [each.preference for each in plan_tasks(items, POOL, ("readability",), None, 0)] == ["style", "readability"]
    with pytest.raises(UsageError, match="no preference 'speed'"):
        plan_tasks(items, POOL, ("speed",), None, 0)


def test_the_judge_reads_the_records() -> None:
    models = {name: script(name) for name in POOL[:2]}
    rows, counts = answer(plan_tasks(ITEMS[:3], list(models), (), None, 0), models)
    assert counts.written == 3
    read = read_items([json.dumps(row) for row in rows])
    assert not read.bad
    assert [item.question for item in read.items] == [item.question for item in ITEMS[:3]]
    assert {item.answers["m0"] for item in read.items} == {"m0 says so"}


def test_a_principle_precedes_the_instruction_and_is_optional() -> None:
    models = {name: script(name) for name in POOL[:2]}
    tasks = plan_tasks(ITEMS[:1], list(models), ("style",), None, 0)
    rows, _ = answer(tasks, models)
    for response in rows[0]["responses"]:
        before, instruction = models[response["model"]].asked[0]
        assert (before.role, before.content) == ("system", response["principle"])
        assert instruction.content == ITEMS[0].question
    plain = {name: script(name) for name in models}
    answer(tasks, plain, principles=False)
    assert [message.role for message in plain["m0"].asked[0]] == ["user"]


def test_an_instruction_that_lacks_a_response_is_dropped_and_counted() -> None:
    models = {"m0": script("m0"), "m1": script("m1", "fine", "  ", "fine")}
    rows, counts = answer(plan_tasks(ITEMS[:3], list(models), (), None, 0), models)
    assert [row["id"] for row in rows] == ["0", "2"]
    assert counts.dropped == {"nothing written": 1, NO_RESPONSE: 1}


def test_cached_responses_are_not_requested_again() -> None:
    models = {name: script(name) for name in POOL[:2]}
    tasks = plan_tasks(ITEMS[:5], list(models), (), None, 0)
    first, _ = answer(tasks, models)
    again = {name: script(name, "something else") for name in models}
    assert answer(tasks, again)[0] == first
    assert not again["m0"].asked


def test_an_estimate_counts_the_requests_of_each_model() -> None:
    tasks = plan_tasks(ITEMS, POOL, (), 2, 0)
    found = dict(estimate_responses(tasks, DatasetOptions(max_tokens=100), True, None))
    assert sum(each.requests for each in found.values()) == 100
    assert all(each.completion_tokens == each.requests * 100 for each in found.values())
