"""Prepare units in batches, in this process or in several; in order and with bounded memory."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context, parent_process
from typing import TypeAlias

from pkg.encode.registry import load_encoder
from pkg.errors import InputError
from pkg.indexing.inputs import LoadedUnit
from pkg.indexing.prepare import Preparer
from pkg.resources import map_ahead
from pkg.units import UnitGraph

Prepared: TypeAlias = "Future[tuple[list[UnitGraph], dict[str, float]]]"

_preparer: Preparer | None = None  # of a worker process


def prepare_in_processes(
    source: str, batches: Iterator[list[LoadedUnit]], encoder: str, workers: int
) -> Iterator[tuple[list[UnitGraph], dict[str, float]]]:
    """Yield what Preparer.prepare gives for each batch, in their order; an InputError when a worker process dies."""
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _start_worker, (source, encoder))
    try:
        yield from map_ahead(partial(_submit, pool), batches, workers)
    except BrokenProcessPool as fault:
        raise InputError(
            "a worker process died (out of memory, or a script without the __main__ guard that multiprocessing needs);"
            " run again with --jobs 1"
        ) from fault
    finally:
        pool.shutdown(cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, batch: list[LoadedUnit]) -> Prepared:
    """Hand a batch to the pool; a process that is started for it is born deaf to Ctrl-C, which is the parent's."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows, where a worker may print a trace of its own
        return pool.submit(_prepare_batch, batch)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(_prepare_batch, batch)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(source: str, encoder: str) -> None:
    """Set up a worker, which never outlives its parent."""
    global _preparer
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _preparer = Preparer(source, load_encoder(encoder))


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _prepare_batch(batch: list[LoadedUnit]) -> tuple[list[UnitGraph], dict[str, float]]:
    assert _preparer is not None, "a worker prepares only after it was set up"
    return _preparer.prepare(batch)


BATCH_BYTES = 200_000  # text prepared at a time: enough to spread the fixed costs, little enough to stay small
BATCH_UNITS = 500


def prepare_all(
    source: str, units: Iterable[LoadedUnit], encoder: str, workers: int, seconds: dict[str, float]
) -> Iterator[UnitGraph]:
    """Prepare all units, in their order whatever the number of workers; CPU seconds are added to `seconds` by stage."""
    for prepared, spent in _prepare_batches(source, cut_batches(units), encoder, workers):
        for stage, value in spent.items():
            seconds[stage] = seconds.get(stage, 0.0) + value
        yield from prepared


def _prepare_batches(
    source: str, batches: Iterator[list[LoadedUnit]], encoder: str, workers: int
) -> Iterator[tuple[list[UnitGraph], dict[str, float]]]:
    if workers <= 1:
        preparer = Preparer(source, load_encoder(encoder))
        return map(preparer.prepare, batches)
    return prepare_in_processes(source, batches, encoder, workers)


def cut_batches(units: Iterable[LoadedUnit]) -> Iterator[list[LoadedUnit]]:
    """Cut units into batches that are prepared together."""
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
