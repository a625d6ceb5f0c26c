"""Prepare the units of a source by partitions, whose outcomes are files of a shared folder (pkg.cluster).

A partition of files is a run of them in the order of paths, cut where the hash of a file says so: an edit changes the
partition around it alone. A partition of rows holds those whose content hash begins with the same bits, so that rows
of equal text come together and are prepared once. An outcome is named by the hash of what makes it, and is made once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple

from pkg.cluster.engine import Engine, ThisProcess
from pkg.cluster.outcomes import Outcomes
from pkg.cluster.processes import Processes
from pkg.encode.registry import load_encoder
from pkg.extract.text_files.text_kinds import TEXT_VERSION
from pkg.indexing.inputs import LoadedUnit
from pkg.indexing.prepare import Preparer, count_workers, cut_batches
from pkg.indexing.written_docstrings import NO_TEXTS, GeneratedTexts
from pkg.local_errors import find_version
from pkg.resolution.record_version import VERSION
from pkg.units import UnitGraph
from pkg.vectors.quantised import pack_rows, unpack_rows

LEAST_BYTES, MOST_BYTES = 1_000_000, 16_000_000  # of text in a partition of files
CUT_BYTES = 4_000_000  # mean size of a partition between these
ROW_BYTES = 8_000_000  # of text in a partition of rows, on average
MOST_PARTITIONS = 1024  # of rows, whose files are open at the same time


@dataclass(frozen=True, slots=True)
class Cluster:
    """Workers, and the folder that they share."""

    engine: Engine
    outcomes: Outcomes


@contextmanager
def open_cluster(folder: str, ray: str | None = None, jobs: int = 0) -> Iterator[Cluster]:
    """Start workers that share a folder: processes of this machine, or those of a Ray cluster.

    ray: an address such as ray://host:10001, auto, or local for one that is started on this machine. jobs: tasks at a
    time; 0 for one per processor. Raises MissingExtraError without Ray, StoreError where its cluster or the folder
    cannot be reached, UsageError for a negative number of jobs.
    """
    workers = count_workers(jobs)
    outcomes = Outcomes(folder)
    outcomes.create()
    engine: Engine
    if ray is not None:
        from pkg.cluster.ray_workers import RayWorkers

        engine = RayWorkers(ray, jobs)
    else:
        engine = Processes(workers) if workers > 1 else ThisProcess()
    with closing(engine):
        yield Cluster(engine, outcomes)


class Partition(NamedTuple):
    """Units to be prepared: the names of the files that hold them and that will hold the result."""

    given: str
    made: str


class Filling:
    """A partition that gets units; the hash of what decides its outcome becomes its name."""

    def __init__(self, outcomes: Outcomes, making: str, stack: ExitStack, key: int = 0) -> None:
        """Begin a file, which is complete when the stack is closed; key: of the partition among those of rows."""
        self.key = key
        self._hash = blake2b(making.encode("utf-8", "surrogatepass"), digest_size=16)
        self._append = stack.enter_context(outcomes.write(lambda: self.partition.given))
        self.fingerprints: list[str] = []  # which decide nothing: equal files of two machines differ in them
        self.size = 0
        self._waiting: list[LoadedUnit] = []
        self._waiting_size = 0

    @property
    def partition(self) -> Partition:
        """Return the partition of the units so far."""
        name = self._hash.hexdigest()
        return Partition(f"{name}.units", f"{name}.graph")

    def add(self, unit: LoadedUnit) -> None:
        """Add a unit."""
        decides = unit.path, unit.label, unit.content_hash, unit.verdict, unit.reading
        self._hash.update(f"{decides}\0".encode("utf-8", "surrogatepass"))
        self.fingerprints.append(unit.fingerprint)
        self.size += unit.size
        self._waiting.append(unit)
        self._waiting_size += unit.size
        if self._waiting_size > ROW_BYTES // MOST_PARTITIONS:
            self.flush()

    def flush(self) -> None:
        """Write the units that wait."""
        self._append(self._waiting)
        self._waiting, self._waiting_size = [], 0


def cut_files(units: Iterable[LoadedUnit], outcomes: Outcomes, making: str) -> Iterator[Filling]:
    """Yield partitions of files in their order, as soon as each is full."""
    waiting: Filling | None = None
    with ExitStack() as stack:
        for unit in units:
            if waiting is None:
                waiting = Filling(outcomes, making, stack)
            waiting.add(unit)
            if _is_end(unit, waiting.size):
                waiting.flush()
                stack.close()
                yield waiting
                waiting = None
        if waiting is not None:
            waiting.flush()
            stack.close()
            yield waiting


def _is_end(unit: LoadedUnit, size: int) -> bool:
    """Return whether a partition ends with a file: a share of all files, by their hash and size, are ends."""
    is_cut = int(unit.content_hash, 16) % CUT_BYTES < unit.size
    return size >= MOST_BYTES or (size >= LEAST_BYTES and is_cut)


def count_row_partitions(size: float) -> int:
    """Return the number of partitions of rows, a power of two; size: bytes of the input, or infinity."""
    count = 1
    while count < MOST_PARTITIONS and count * ROW_BYTES < size:
        count *= 2
    return count


def cut_rows(units: Iterable[LoadedUnit], outcomes: Outcomes, making: str, count: int) -> Iterator[Filling]:
    """Yield the partitions of rows that have any, by the first bits of their content hashes, once all are read."""
    with ExitStack() as stack:
        found: dict[int, Filling] = {}
        for unit in units:
            key = int(unit.content_hash, 16) * count >> 64
            if key not in found:
                found[key] = Filling(outcomes, making, stack, key)
            found[key].add(unit)
        for each in found.values():
            each.flush()
    yield from (found[key] for key in sorted(found))


def prepare_partitions(
    source: str,
    units: Iterable[LoadedUnit],
    encoder: str,
    cluster: Cluster,
    seconds: dict[str, float],
    generated: GeneratedTexts = NO_TEXTS,
    rows: float | None = None,
) -> Iterator[UnitGraph]:
    """Prepare all units on the workers of a cluster; CPU seconds are added to `seconds` by stage.

    generated: the generated texts of the source. rows: bytes of the input if the units are rows; None for files, whose
    order is kept.
    """
    outcomes = cluster.outcomes
    versions = find_version(), VERSION, TEXT_VERSION
    making = repr((versions, encoder, source, sorted((hashed, repr(texts)) for hashed, texts in generated.items())))
    if rows is None:
        cut = cut_files(units, outcomes, making)
    else:
        cut = cut_rows(units, outcomes, making, count_row_partitions(rows))
    waiting: deque[Filling] = deque()

    def keep() -> Iterator[Partition]:
        for each in cut:
            waiting.append(each)
            yield each.partition

    task = partial(prepare_partition, str(outcomes.folder), source, encoder, dict(generated))
    for partition in cluster.engine.map(task, keep()):
        records = outcomes.read(partition.made)
        for stage, value in next(records).items():
            seconds[stage] = seconds.get(stage, 0.0) + value
        fingerprints = iter(waiting.popleft().fingerprints)
        for graphs in records:
            for graph in graphs:
                yield replace(_map_vectors(graph, unpack_rows), fingerprint=next(fingerprints))
        outcomes.remove(partition.given)


def prepare_partition(
    folder: str, source: str, encoder: str, generated: GeneratedTexts, partition: Partition
) -> Partition:
    """Write the outcome of a partition, unless it is there: the CPU seconds by stage, then batches of unit graphs."""
    outcomes = Outcomes(folder)
    if outcomes.is_sound(partition.made):
        return partition
    preparer = Preparer(source, load_encoder(encoder), generated)
    given = (unit for units in outcomes.read(partition.given) for unit in units)
    seconds: dict[str, float] = {}
    made: list[Any] = []
    for graphs, spent in map(preparer.prepare, cut_batches(given)):
        for stage, value in spent.items():
            seconds[stage] = seconds.get(stage, 0.0) + value
        made.append([_map_vectors(graph, pack_rows) for graph in graphs])
    with outcomes.write(partition.made) as append:
        append(seconds)
        for graphs in made:
            append(graphs)
    return partition


def _map_vectors(graph: UnitGraph, change: Callable[[Any], Any]) -> UnitGraph:
    """Return a unit graph with changed vectors: in files they are packed, as in a store, in half the size."""
    parts = (
        part if part.fragment is None
        else part._replace(fragment=replace(part.fragment, vectors=change(part.fragment.vectors)))
        for part in graph.parts
    )  # fmt: skip
    return replace(graph, parts=tuple(parts))
