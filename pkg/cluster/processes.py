"""Run tasks in worker processes of this machine, which end with their parent, however that ends."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import Any, TypeVar

from pkg.cluster.engine import ATTEMPTS
from pkg.cluster.worker_start import start_worker
from pkg.errors import InputError
from pkg.resources import ITEMS_PER_WORKER

T = TypeVar("T")
R = TypeVar("R")


class Processes:
    """Worker processes, started at the first task."""

    def __init__(self, workers: int, attempts: int = ATTEMPTS, set_up: tuple[Any, ...] = ()) -> None:
        """Create none yet; set_up: module, function and arguments of a call in each worker at its start."""
        self._workers = workers
        self._attempts = attempts
        self._set_up = set_up
        self._others = active_children()
        self._pool = self._start()

    def _start(self) -> ProcessPoolExecutor:
        start: Callable[..., None] = start_worker
        return ProcessPoolExecutor(self._workers, get_context("spawn"), start, self._set_up)

    def map(self, task: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield the result of a task for each item, in order; raises InputError where workers keep dying."""
        waiting: deque[tuple[T, Future[R]]] = deque()
        deaths = 0  # since the last result
        rest, most = iter(items), ITEMS_PER_WORKER * self._workers
        try:
            while True:
                for item in rest:
                    waiting.append((item, self._submit(task, item)))
                    if len(waiting) > most:
                        break
                if not waiting:
                    return
                try:
                    result = waiting[0][1].result()
                except BrokenProcessPool as fault:
                    deaths += 1
                    if deaths >= self._attempts:
                        raise _make_error(waiting[0][0], deaths) from fault
                    self._pool.shutdown(cancel_futures=True)
                    self._pool = self._start()
                    waiting = deque((item, self._submit(task, item)) for item, _ in waiting)
                    continue
                waiting.popleft()
                deaths = 0
                yield result
        except BaseException:  # an interrupt, or reading has failed: the results in work are not needed
            self._end_workers()
            raise

    def _submit(self, task: Callable[[T], R], item: T) -> Future[R]:
        """Submit an item to the pool; a process started for it ignores Ctrl-C, which its parent handles."""
        if not hasattr(signal, "pthread_sigmask"):  # Windows, where a worker may print its own traceback
            return self._pool.submit(task, item)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return self._pool.submit(task, item)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _end_workers(self) -> None:
        for worker in active_children():
            if worker not in self._others:
                worker.terminate()

    def close(self) -> None:
        """End the workers."""
        self._pool.shutdown(cancel_futures=True)


def _make_error(item: object, deaths: int) -> InputError:
    if deaths == 1:
        return InputError(
            "a worker process died (out of memory, or a script without the __main__ guard that multiprocessing needs);"
            " run again with --jobs 1"
        )
    return InputError(
        f"worker processes died {deaths} times at {item} (out of memory?); run again with fewer --jobs, or on"
        " machines with more memory: what is done is kept"
    )
