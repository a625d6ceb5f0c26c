"""Several models answer the same instructions: who answers what, what stands before it, and what is dropped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from scripted_model import ScriptedModel

from pkg.errors import UsageError
from pkg.lab.datasets.asking import Asker
from pkg.lab.datasets.dataset_options import DatasetOptions
from pkg.lab.datasets.dataset_rows import Row, StepCounts
from pkg.lab.datasets.model_responses import (
    NO_RESPONSE,
    OpenAsker,
    Task,
    estimate_responses,
    plan_tasks,
    write_responses,
)
from pkg.lab.datasets.text_cache import TextCache
from pkg.lab.judge.items import JudgedItem, read_items
from pkg.lab.judge.templates import PREFERENCES

ITEMS = [JudgedItem(str(number), f"Write function {number}.") for number in range(50)]
POOL = [f"m{number}" for number in range(5)]


def open_models(models: dict[str, ScriptedModel]) -> OpenAsker:
    @contextmanager
    def open_asker(name: str) -> Iterator[Asker]:
        with closing(TextCache()) as cache, closing(Asker(models[name], cache)) as asker:
            yield asker

    return open_asker


def script(name: str, *answers: str) -> ScriptedModel:
    return ScriptedModel(answers or [f"{name} says so"], name=name, identity=name)


def answer(
    tasks: list[Task], models: dict[str, ScriptedModel], principles: bool = True
) -> tuple[list[Row], StepCounts]:
    counts = StepCounts("responses")
    return list(write_responses(tasks, open_models(models), DatasetOptions(), principles, counts)), counts


def test_preferences_come_in_equal_parts_and_models_are_drawn() -> None:
    tasks = plan_tasks(ITEMS, POOL, (), 4, 0)
    assert Counter(task.preference for task in tasks) == dict.fromkeys(PREFERENCES, 10)
    assert {len(set(task.models)) for task in tasks} == {4}
    assert len({task.models for task in tasks}) > 10
    assert tasks == plan_tasks(ITEMS, POOL, (), 4, 0) != plan_tasks(ITEMS, POOL, (), 4, 1)


def test_a_preference_of_a_row_stays_and_one_that_is_none_is_replaced() -> None:
    items = [JudgedItem("1", "x", preference="style"), JudgedItem("2", "y", preference="speed")]
    assert [each.preference for each in plan_tasks(items, POOL, ("readability",), None, 0)] == ["style", "readability"]
    with pytest.raises(UsageError, match="no preference 'speed'"):
        plan_tasks(items, POOL, ("speed",), None, 0)


def test_records_are_what_the_judge_reads() -> None:
    models = {name: script(name) for name in POOL[:2]}
    rows, counts = answer(plan_tasks(ITEMS[:3], list(models), (), None, 0), models)
    assert counts.written == 3
    read = read_items([json.dumps(row) for row in rows], min_answers=2)
    assert not read.bad
    assert [item.question for item in read.items] == [item.question for item in ITEMS[:3]]
    assert {item.answers["m0"] for item in read.items} == {"m0 says so"}


def test_a_principle_stands_before_the_instruction_and_may_be_left_out() -> None:
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


def test_an_instruction_without_one_of_its_responses_is_dropped_and_counted() -> None:
    models = {"m0": script("m0"), "m1": script("m1", "fine", "  ", "fine")}
    rows, counts = answer(plan_tasks(ITEMS[:3], list(models), (), None, 0), models)
    assert [row["id"] for row in rows] == ["0", "2"]
    assert counts.dropped == {"nothing written": 1, NO_RESPONSE: 1}


def test_what_was_written_is_not_asked_for_again() -> None:
    models = {name: script(name) for name in POOL[:2]}
    tasks = plan_tasks(ITEMS[:5], list(models), (), None, 0)
    first, _ = answer(tasks, models)
    again = {name: script(name, "something else") for name in models}
    assert answer(tasks, again)[0] == first
    assert not again["m0"].asked


def test_an_estimate_counts_what_each_model_is_drawn_for() -> None:
    tasks = plan_tasks(ITEMS, POOL, (), 2, 0)
    found = dict(estimate_responses(tasks, DatasetOptions(max_tokens=100), True, None))
    assert sum(each.requests for each in found.values()) == 100
    assert all(each.completion_tokens == each.requests * 100 for each in found.values())
