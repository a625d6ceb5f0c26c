"""Rank many tasks: several at once, in their order, from a file or as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias

from pkg.errors import InputError
from pkg.model import Skip
from pkg.parallel import count_cores, map_ahead
from pkg.rerank.nouns import Name, Ranking, Task
from pkg.rerank.reranker import Reranker
from pkg.rerank.tasks import Item

Outcome: TypeAlias = Ranking | Skip


def rank_all(reranker: Reranker, items: Iterable[Item], oracle: Mapping[Name, Any] | None = None) -> Iterator[Outcome]:
    """Rank tasks and give their rankings in the order of the tasks, whatever the number of workers.

    oracle: hidden tests by task id, for research. A task that cannot be ranked comes as a Skip, like those handed in.
    """
    jobs = reranker.options.jobs or count_cores()
    with ThreadPoolExecutor(jobs, thread_name_prefix="rerank") as threads:

        def submit(numbered: tuple[int, Item]) -> Future[Outcome]:
            return threads.submit(_rank_one, reranker, numbered[1], numbered[0], oracle)

        try:
            yield from map_ahead(submit, enumerate(items), jobs)
        finally:
            threads.shutdown(wait=True, cancel_futures=True)


def _rank_one(reranker: Reranker, item: Item, place: int, oracle: Mapping[Name, Any] | None) -> Outcome:
    if isinstance(item, Skip):
        return item
    name = f"task {place + 1}" if item.id is None else str(item.id)
    try:
        return reranker.rank(item, _find_tests(item, oracle))
    except InputError as fault:
        return Skip(name, str(fault))


def _find_tests(task: Task, oracle: Mapping[Name, Any] | None) -> Any:
    """Find the hidden tests of a task; a task without them would be ranked by other rules than its neighbours."""
    if oracle is None:
        return None
    if task.id is None or task.id not in oracle:
        raise InputError(
            f"the oracle has no tests for the task with the id {task.id!r}; add them, or leave the task out"
        )
    return oracle[task.id]


async def rank_stream(
    open_reranker: Callable[[], Reranker], tasks: AsyncIterable[Item] | Iterable[Item]
) -> AsyncIterator[Outcome]:
    """Rank tasks as they come, one after the other, without keeping the event loop from other work."""
    reranker = await asyncio.to_thread(open_reranker)
    try:
        place = 0
        async for item in _as_async(tasks):
            yield await asyncio.to_thread(_rank_one, reranker, item, place, None)
            place += 1
    finally:
        reranker.close()


async def _as_async(tasks: AsyncIterable[Item] | Iterable[Item]) -> AsyncIterator[Item]:
    if isinstance(tasks, AsyncIterable):
        async for item in tasks:
            yield item
    else:
        for item in tasks:
            yield item
