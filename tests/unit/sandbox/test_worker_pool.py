"""A pool keeps the order of results, replaces lost workers, and ends all of its processes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest
from traces import find_family, wait_for_end

from pkg.errors import SandboxError
from pkg.sandbox import Kind, Limits, Program, Step, open_sandbox
from pkg.sandbox.worker_pool import WorkerPool


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    with open_sandbox("process", jobs=2) as opened:
        yield opened


def number(n: int) -> Program:
    """Return a program that prints its number; earlier ones take longer."""
    return Program(f"import time\ntime.sleep({0.02 * (5 - n % 5)})", (Step(str(n), True),))


def test_results_come_in_the_order_of_the_programs(pool: WorkerPool) -> None:
    results = pool.run_all(number(n) for n in range(20))
    assert [result.steps[0].value for result in results] == [str(n) for n in range(20)]


def test_programs_are_taken_only_a_little_ahead(pool: WorkerPool) -> None:
    taken: list[int] = []
    results = pool.run_all(taken.append(n) or number(n) for n in range(100))  # type: ignore[func-returns-value]
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert len(taken) < 10


def test_several_threads_may_ask_at_once(pool: WorkerPool) -> None:
    values: dict[int, str | None] = {}

    def ask(n: int) -> None:
        values[n] = pool.run(number(n)).steps[0].value

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values == {n: str(n) for n in range(8)}


def test_a_worker_that_is_killed_is_replaced() -> None:
    others = find_family(os.getpid()).processes
    with open_sandbox("process", jobs=1) as pool:
        before = find_family(os.getpid(), others)
        for process in before.processes:
            os.kill(process, signal.SIGKILL)
        assert wait_for_end(before) == set()
        lost = pool.run(number(1))
        assert (lost.load.kind, lost.steps[0].kind) == (Kind.OTHER, Kind.OTHER)
        assert pool.run(number(2)).steps[0].value == "2"


def test_closing_ends_a_worker_in_the_middle_of_a_run() -> None:
    others = find_family(os.getpid()).processes
    pool = open_sandbox("process", jobs=1)
    endless = "import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n        os.setsid()\ntime.sleep(60)"
    thread = threading.Thread(target=pool.run, args=(Program(endless), Limits(wall_seconds=1.0)))
    thread.start()
    time.sleep(0.3)
    family = find_family(os.getpid(), others)
    pool.close()
    thread.join()
    assert wait_for_end(family) == set()


def test_a_closed_pool_says_so() -> None:
    pool = open_sandbox("process", jobs=1)
    pool.close()
    pool.close()
    with pytest.raises(SandboxError, match="is closed; open another one"):
        pool.run(number(1))
