from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from fake_sandbox import FakeSandbox

from pkg.model import Skip
from pkg.rerank.candidates import Candidate, Ranking, RerankOptions, Task
from pkg.rerank.reranker import Reranker
from pkg.rerank.tasks import Item, Outcome, outcome_line, rank_all, rank_one_by_one

TASKS: list[Item] = [
    Task(f"Multiply by {number}. f(2) returns {2 * number}", tuple(
        Candidate(factor, f"def f(x):\n    return x * {factor}") for factor in range(4)
    ), id=number)
    for number in range(1, 4)
]  # fmt: skip


def strip_seconds(outcome: Outcome) -> object:
    line = outcome_line(outcome)
    for candidate in line.get("candidates", []):
        for stage in candidate["stages"]:
            del stage["seconds"]
    return line


def rank(items: list[Item], jobs: int) -> list[Outcome]:
    return list(rank_all(Reranker(RerankOptions(jobs=jobs), FakeSandbox()), items))


def test_rankings_come_in_the_order_of_the_tasks() -> None:
    found = rank([*TASKS, Skip("line 4", "no"), Task("x", ())], 2)
    assert [each.chosen for each in found if isinstance(each, Ranking)] == [1, 2, 3]
    assert found[3] == Skip("line 4", "no")
    assert isinstance(found[4], Skip)
    assert found[4].path == "task 5"


def test_the_number_of_workers_changes_nothing() -> None:
    one, many = ([strip_seconds(each) for each in rank(TASKS * 5, jobs)] for jobs in (1, 4))
    assert one == many


def test_the_line_of_a_ranking_marks_an_answer_that_broke_off() -> None:
    task = Task(
        "f(2) returns 4", (Candidate(0, "def f(x):\n    y = x\n    return (y"), Candidate(1, "def f(x): return 4"))
    )
    (ranking,) = rank([task], 1)
    assert [each["is_cut"] for each in outcome_line(ranking)["candidates"]] == [True, False]


def test_a_task_without_hidden_tests_is_left_out_of_an_oracle() -> None:
    reranker = Reranker(sandbox=FakeSandbox())
    first, second = rank_all(reranker, TASKS[:2], {1: ["assert f(1) == 3"]})
    assert isinstance(first, Ranking)
    assert (first.chosen, first.oracle) == (3, True)
    assert isinstance(second, Skip)
    assert "no tests for the task with the id 2" in second.reason


@pytest.mark.parametrize("is_async", [True, False])
def test_tasks_are_ranked_as_they_come(is_async: bool) -> None:
    sandbox = FakeSandbox()

    async def come() -> AsyncIterator[Item]:
        for item in TASKS:
            yield item

    async def collect() -> list[Outcome]:
        tasks = come() if is_async else TASKS
        return [each async for each in rank_one_by_one(lambda: Reranker(sandbox=sandbox), tasks)]

    found = asyncio.run(collect())
    assert [each.chosen for each in found if isinstance(each, Ranking)] == [1, 2, 3]
    assert sandbox.is_closed
