"""A benchmark and its items."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Item:
    """One task of a benchmark, with its query for retrieval, its reference and its hidden tests."""

    id: str
    query: str  # input of retrieval
    task: str  # input of the model and the reranker
    entry: str  # name of the requested function
    reference: str  # whole program with a correct answer
    tests: str  # hidden statements; code passes if they run to the end with its function
    setup: str = ""  # statements run before the tests to make their inputs, also in the process of the code


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The items of a benchmark, in the order of its file."""

    name: str
    items: tuple[Item, ...]
    sha256: str  # of its rows
    shown: int = 0  # number of tests shown in each task


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """Topic and map position of an item, so that reports of topics and maps need no text (P-34, P-35)."""

    item: str
    topic: str
    place: tuple[float, float]  # position on the map of the benchmark


def draw_items(benchmark: Benchmark, limit: int | None, seed: int) -> Benchmark:
    """Return a random sample of the items in order; a smaller sample of the same seed is part of a larger one."""
    if limit is None or limit >= len(benchmark.items):
        return benchmark
    order = list(range(len(benchmark.items)))
    random.Random(seed).shuffle(order)
    return replace(benchmark, items=tuple(benchmark.items[place] for place in sorted(order[:limit])))
