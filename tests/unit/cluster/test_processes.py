"""Worker processes: results in order, tasks of dead workers run again, exceptions arrive."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from pkg.cluster.engine import ThisProcess
from pkg.cluster.processes import Processes
from pkg.errors import InputError, PathError


def square(number: int) -> int:
    time.sleep(0.05 * (number == 0))  # the first is the last to end
    return number * number


def die_at_first(folder: str, number: int) -> int:
    """Kill the worker at the first attempt of number 3."""
    mark = Path(folder) / "mark"
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def fail(number: int) -> int:
    raise PathError(f"no such file: {number}")


def test_results_come_in_the_order_of_the_items() -> None:
    with closing(Processes(2)) as engine:
        assert list(engine.map(square, range(9))) == [number * number for number in range(9)]
        assert list(engine.map(square, range(3))) == [0, 1, 4]
        assert list(engine.map(square, [])) == []
    assert list(ThisProcess().map(square, range(3))) == [0, 1, 4]


def test_items_are_drawn_a_few_ahead() -> None:
    drawn: list[int] = []

    def watch() -> Iterator[int]:
        for number in range(100):
            drawn.append(number)
            yield number

    with closing(Processes(1)) as engine:
        results = engine.map(square, watch())
        assert next(results) == 0
        assert len(drawn) < 6


def test_a_task_whose_worker_died_is_run_again(tmp_path: Path) -> None:
    with closing(Processes(2)) as engine:
        assert list(engine.map(partial(die_at_first, str(tmp_path)), range(8))) == list(range(8))


def test_a_task_that_kills_every_worker_is_named() -> None:
    with closing(Processes(1)) as engine, pytest.raises(InputError, match=r"died 3 times at 7.*fewer --jobs"):
        list(engine.map(die, [7]))


def test_an_exception_of_a_task_arrives() -> None:
    with closing(Processes(1)) as engine, pytest.raises(PathError, match="no such file: 2"):
        list(engine.map(fail, [2]))
