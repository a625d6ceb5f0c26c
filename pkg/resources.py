"""Resources of the machine: concurrent work, temporary tables, free memory."""

from __future__ import annotations

import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep
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


IDLE_SECONDS = 0.2  # between two readings of the processor times, which count in hundredths of a second


def count_idle_cores(folder: Path = Path("/proc"), topology: Path = Path("/sys/devices/system/cpu")) -> int:
    """Count the cores that are idle now, at least one and at most the physical cores that this process may use.

    Threads beyond these make a model several times slower, as each waits for the slowest. Takes 0.2 seconds; where the
    system reports no processor times, all cores count as idle.
    """
    first = _read_times(folder)
    sleep(IDLE_SECONDS if first else 0)
    second = _read_times(folder)
    spent = sum(second) - sum(first)
    share = (second[3] - first[3]) / spent if spent > 0 else 1.0
    return max(1, min(_count_physical(topology), round(share * count_cores())))


def _read_times(folder: Path) -> list[int]:
    """Return the ticks of all processors by state, the fourth of them idle; [] where the system has none."""
    try:
        line = (folder / "stat").read_text("ascii").partition("\n")[0]
        times = [int(word) for word in line.split()[1:9]]
    except (OSError, ValueError):
        return []
    return times if len(times) == 8 else []


def _count_physical(topology: Path) -> int:
    """Count the cores of this process whose threads count once."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(count_cores())
    siblings = set()
    for core in cores:
        try:
            siblings.add((topology / f"cpu{core}/topology/thread_siblings_list").read_text("ascii").strip())
        except (OSError, ValueError):
            siblings.add(str(core))
    return len(siblings)


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
