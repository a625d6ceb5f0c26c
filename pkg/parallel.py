"""Work on several items at once, and give what comes of them in their order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2  # items in work or waiting for each worker, so that none waits for a slow reader


def map_ahead(submit: Callable[[T], Future[R]], items: Iterable[T], workers: int) -> Iterator[R]:
    """Hand items to an executor and give the results in their order; memory is bounded, whoever is slow."""
    waiting: deque[Future[R]] = deque()
    for item in items:
        waiting.append(submit(item))
        if len(waiting) > AHEAD * workers:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def count_cores() -> int:
    """Count the processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
