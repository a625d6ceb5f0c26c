"""The nouns of an evaluation of generated code: a benchmark, its items, and what is said of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Item:
    """One task of a benchmark: what is searched for, what is asked, what is right, and the tests that decide."""

    id: str
    query: str  # what retrieval sees
    task: str  # what the model and the reranker see
    entry: str  # the function that is wanted
    reference: str  # the whole code of a right answer
    tests: str  # hidden statements; code is right when they run to their end with its function
    setup: str = ""  # statements before them that make their inputs, also where the code runs


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The items of one benchmark, in the order of its file."""

    name: str
    items: tuple[Item, ...]
    sha256: str  # of its rows
    shown: int = 0  # tests that the task shows


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What is said of an item beside its id, so that topics and maps need no text (P-34, P-35)."""

    item: str
    topic: str
    place: tuple[float, float]  # among the items of its benchmark


def draw_items(benchmark: Benchmark, limit: int | None, seed: int) -> Benchmark:
    """Draw some items at random, in their order; of one seed a smaller draw is a part of a larger one."""
    if limit is None or limit >= len(benchmark.items):
        return benchmark
    order = list(range(len(benchmark.items)))
    random.Random(seed).shuffle(order)
    return replace(benchmark, items=tuple(benchmark.items[place] for place in sorted(order[:limit])))
