"""Prepare units in batches, in this process or in several; in order and with bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pkg.encode.registry import load_encoder
from pkg.indexing.inputs import LoadedUnit
from pkg.indexing.prepare import Preparer
from pkg.units import UnitGraph

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
    from pkg.indexing.processes import prepare_in_processes

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
