"""Prepare units in this process or in several, in order and with bounded memory."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context, parent_process

from pkg.build.inputs import LoadedUnit
from pkg.build.prepare import Preparer
from pkg.encode.registry import load_encoder
from pkg.graph.unit import UnitGraph

BATCH_BYTES = 200_000  # text prepared at a time: enough to spread the fixed costs, little enough to stay small
BATCH_UNITS = 500
IN_FLIGHT = 2  # batches that wait for each worker

_preparer: Preparer | None = None  # of a worker process


def prepare_all(
    source: str, units: Iterable[LoadedUnit], encoder: str, workers: int, seconds: dict[str, float]
) -> Iterator[UnitGraph]:
    """Prepare all units, in their order whatever the number of workers; CPU seconds are added to `seconds` by stage."""
    batches = _batch(units)
    if workers <= 1:
        preparer = Preparer(source, load_encoder(encoder))
        for batch in batches:
            yield from preparer.prepare(batch)
        _add(seconds, preparer.seconds)
        return
    yield from _prepare_in_processes(source, batches, encoder, workers, seconds)


def _prepare_in_processes(
    source: str, batches: Iterator[list[LoadedUnit]], encoder: str, workers: int, seconds: dict[str, float]
) -> Iterator[UnitGraph]:
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _start_worker, (source, encoder))
    waiting: deque[Future[tuple[list[UnitGraph], dict[str, float]]]] = deque()
    try:
        for batch in batches:
            waiting.append(pool.submit(_prepare_batch, batch))
            if len(waiting) >= IN_FLIGHT * workers:
                yield from _take(waiting, seconds)
        while waiting:
            yield from _take(waiting, seconds)
    finally:
        pool.shutdown(cancel_futures=True)


def _take(
    waiting: deque[Future[tuple[list[UnitGraph], dict[str, float]]]], seconds: dict[str, float]
) -> list[UnitGraph]:
    units, spent = waiting.popleft().result()
    _add(seconds, spent)
    return units


def _add(total: dict[str, float], more: dict[str, float]) -> None:
    for stage, value in more.items():
        total[stage] = total.get(stage, 0.0) + value


def _batch(units: Iterable[LoadedUnit]) -> Iterator[list[LoadedUnit]]:
    batch: list[LoadedUnit] = []
    size = 0
    for unit in units:
        batch.append(unit)
        size += len(unit.text)
        if size >= BATCH_BYTES or len(batch) >= BATCH_UNITS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _start_worker(source: str, encoder: str) -> None:
    """Set up a worker: Ctrl-C is the parent's to handle, and a worker never outlives the parent."""
    global _preparer
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _preparer = Preparer(source, load_encoder(encoder))


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _prepare_batch(batch: list[LoadedUnit]) -> tuple[list[UnitGraph], dict[str, float]]:
    assert _preparer is not None, "a worker prepares only after it was set up"
    units = _preparer.prepare(batch)
    spent, _preparer.seconds = _preparer.seconds, {}
    return units, spent
