"""Resources of the machine: concurrent work, temporary tables, free memory."""

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

ITEMS_PER_WORKER = 2  # in work or queued, so that no worker waits for a slow reader


def map_ahead(submit: Callable[[T], Future[R]], items: Iterable[T], workers: int) -> Iterator[R]:
    """Submit items to an executor and yield the results in their order, with a bounded queue."""
    waiting: deque[Future[R]] = deque()
    for item in items:
        waiting.append(submit(item))
        if len(waiting) > ITEMS_PER_WORKER * workers:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def count_cores() -> int:
    """Count the processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def open_scratch(schema: str) -> sqlite3.Connection:
    """Create tables in a temporary file, deleted when the connection is closed; without rollback."""
    connection = sqlite3.connect("", isolation_level=None)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.executescript(schema)
    connection.execute("BEGIN")
    return connection


def return_free_memory() -> None:
    """Return free pages of the heap to the system, which the C library keeps below pages in use.

    Does nothing without the GNU C library.
    """
    import ctypes

    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
