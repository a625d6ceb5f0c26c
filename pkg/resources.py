"""Use the machine: work on several items at once, keep tables on disk, give free memory back."""

from __future__ import annotations

import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
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


def open_scratch(schema: str) -> sqlite3.Connection:
    """Make tables in a temporary file that is gone when the connection is closed; nothing in it is ever undone."""
    connection = sqlite3.connect("", isolation_level=None)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.executescript(schema)
    connection.execute("BEGIN")
    return connection


def return_free_memory() -> None:
    """Return the pages that hold nothing: the C library keeps them where something behind them is still in use.

    Only the GNU C library can be asked to; elsewhere nothing happens.
    """
    import ctypes

    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
