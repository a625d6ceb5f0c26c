"""The use case that makes a graph: find units, extract, encode, store; only what changed is done again.

This module imports nothing heavy, so that a build that finds nothing to do ends in a tenth of a second.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pkg.errors import PathError, StoreError, UsageError
from pkg.indexing.report import BuildReport, StageClock
from pkg.indexing.todo import KnownUnits, Progress, Tally, Todo, compare, is_current
from pkg.resources import count_cores

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore, StoreWriter
    from pkg.indexing.inputs import Input

__all__ = ["BuildOptions", "BuildReport", "Progress", "build", "build_export", "remove_source"]

NAMES_AT_ONCE = 4096  # function names encoded together; all of a large corpus would take hundreds of megabytes
LARGE_BYTES = 2_000_000  # below this a second process costs more than it saves, and memory is no matter


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How a build works, whatever it reads."""

    encoder: str | None = None  # without a name the store's own, or for a new store the default
    jobs: int = 1  # worker processes; 0 takes one for each processor when there is enough to do
    progress: Progress | None = None
    say: Callable[[str], None] = lambda text: None  # told what takes long before it begins
    agree: Callable[[str], bool] | None = None  # asked before code is sent to a service; nothing is sent without it


DEFAULT_OPTIONS = BuildOptions()


def build(
    path: str,
    store: GraphStore,
    options: BuildOptions = DEFAULT_OPTIONS,
    *,
    source: str | None = None,
    field: str | None = None,
    max_file_size: int | None = None,
    follow_links: bool = False,
) -> BuildReport:
    """Build or update the graph of a repository, an archive, a git revision or a corpus (PAPERS.md, 9.1).

    Raises InputError, StoreError or UsageError; the store then holds what it held before.
    """
    from pkg.indexing.inputs import find_input

    clock = StageClock()
    with clock.stage("discover"):
        found = find_input(path, source, field, max_file_size, follow_links)
    return build_input(found, store, options, clock)


def build_export(path: str, store: GraphStore, options: BuildOptions = DEFAULT_OPTIONS) -> list[BuildReport]:
    """Build every source of an export again; the graph comes out byte-equal."""
    from pkg.indexing.export import open_export

    with open_export(path) as inputs:
        return [build_input(found, store, options, StageClock()) for found in inputs]


def remove_source(store: GraphStore, source: str) -> BuildReport:
    """Remove a source with everything in it."""
    known = [each.name for each in store.sources()]
    if source not in known:
        raise UsageError(f"no source '{source}' in {store.address}; expected one of: {', '.join(known) or 'none'}")
    removed = sum(1 for _ in store.fingerprints(source))
    with store.write() as writer:
        writer.delete_source(source)
    return BuildReport(source, store.address, store.generation(), removed=removed)


def build_input(found: Input, store: GraphStore, options: BuildOptions, clock: StageClock) -> BuildReport:
    """Bring one source of the store up to date with its input."""
    from pkg.indexing.reencode import choose_encoder

    encoder = choose_encoder(store, options.encoder)
    _check_source(store, found)
    _check_encoder(found, store, encoder, options)
    reencoded = _take_encoder(store, encoder, options, clock)
    if is_current(found, store):
        name, generation = found.source.name, store.generation()
        stages = clock.rounded() if reencoded else {}
        counts = 0, found.count, 0, 0
        return BuildReport(name, store.address, generation, *counts, found.skipped, stages, reencoded)
    # Compared only inside the write: another build of the same source may have ended while this one waited for it.
    with _without_collector(), store.write() as writer, closing(_begin_source(store, writer, found)) as known:
        todo = compare(found, known)
        tally = write_units(store, writer, found, todo, replace(options, encoder=encoder), clock)
    clock.mark("store")
    return replace(tally.report(store, clock.rounded()), reencoded=reencoded)


def _check_encoder(found: Input, store: GraphStore, encoder: str, options: BuildOptions) -> None:
    """See that an encoder can be used before anything is done, and that sending code to a service is agreed to."""
    from pkg.encode.registry import check_ready, find_service

    check_ready(encoder)
    address = find_service(encoder)
    if address is None or (is_current(found, store) and store.encoder()[0] == encoder):
        return
    from pkg.indexing.estimate import estimate_build

    estimate = estimate_build(found, store, encoder)
    if estimate.is_complete and not estimate.texts:
        return
    message = estimate.describe(encoder, address)
    if options.agree is None or not options.agree(message):
        raise UsageError(f"{message}; nothing was sent: agree with --yes, or choose an encoder that works offline")


def _take_encoder(store: GraphStore, encoder: str, options: BuildOptions, clock: StageClock) -> int:
    """Let the store have the encoder, whatever it had; give how many nodes were encoded anew for it."""
    from pkg.encode.registry import find_encoder
    from pkg.indexing.reencode import needs_reencoding, reencode

    known, dimension = store.encoder()
    reencoded = 0
    if needs_reencoding(known, encoder):
        with clock.stage("reencode"):
            reencoded = reencode(store, encoder, options.say, options.progress or (lambda done, total: None))
    store.ensure_schema(*((known, dimension) if known == encoder else find_encoder(encoder)))
    return reencoded


def _begin_source(store: GraphStore, writer: StoreWriter, found: Input) -> KnownUnits:
    """Put the source and list what it has: in this order, because what a load from elsewhere left is removed first."""
    writer.put_source(found.source)
    return KnownUnits(store.fingerprints(found.source.name))


def write_units(
    store: GraphStore, writer: StoreWriter, found: Input, todo: Todo, options: BuildOptions, clock: StageClock
) -> Tally:
    """Extract, encode, store and resolve what is to be done for a source; give what became of each unit.

    The store is read for what the writer does not change: the texts of files that are as they were.
    """
    from pkg.encode.registry import find_kind, forget_encoders
    from pkg.indexing.report import CutCount
    from pkg.indexing.workers import prepare_all
    from pkg.resources import return_free_memory

    name = found.source.name
    is_resolved = found.source.kind != "corpus"
    records = dict(store.link_notes(name)) if is_resolved else {}  # those of files that are put anew are gone then
    tally = Tally(found, todo, store, writer, options.progress)
    encoder = options.encoder or store.encoder()[0]
    is_heavy = find_kind(encoder).is_heavy  # which takes long to load
    workers = 1 if is_heavy else _count_workers(options.jobs, todo.size)
    cut = CutCount(encoder)
    for unit in prepare_all(name, tally.load(todo.units), encoder, workers, clock.seconds):
        with clock.stage("store"):
            tally.put(unit)
    with clock.stage("store"):
        tally.remove_unseen()
        writer.flush()
    with clock.stage("names"):
        _put_names(writer, name, encoder)
    tally.skipped += cut.describe(name)
    if _is_large(todo.size) and not is_heavy:
        forget_encoders()
        return_free_memory()
    with clock.stage("resolve"):
        if tally.has_changed and is_resolved:
            from pkg.indexing.resolution import put_links

            tally.skipped += put_links(store, writer, name, tally.change(), records)
    writer.put_source(found.source, found.fingerprint, tally.skipped, clock.rounded())
    return tally


def _put_names(writer: StoreWriter, source: str, encoder: str) -> None:
    """Give every new function name its node and vector (P-03)."""
    from pkg.encode.registry import load_encoder
    from pkg.vectors.quantised import round_vectors

    names = [""]
    while names := writer.missing_names(source, names[-1], NAMES_AT_ONCE):
        vectors = round_vectors(load_encoder(encoder).encode([name.encode("utf-8", "replace") for name in names]))
        writer.put_names(source, dict(zip(names, vectors, strict=True)))


@contextmanager
def _without_collector() -> Iterator[None]:
    """Spare the cycle collector: a build makes many objects and no cycles, and its rounds cost a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _check_source(store: GraphStore, found: Input) -> None:
    """Refuse an input without Python, and to pour two different inputs into one source."""
    source = found.source
    known = {each.name: each for each in store.sources()}.get(source.name)
    if known is None and found.entries == ():
        first = f"; {len(found.skipped)} left out, such as {found.skipped[0]}" if found.skipped else ""
        raise PathError(f"no Python files in {source.root} (expected at least one .py file{first})")
    if known is not None and (known.root, known.kind) != (source.root, source.kind):
        raise StoreError(
            f"source '{source.name}' in {store.address} was built from {known.root}, not from {source.root};"
            f" name this one with --source, or remove the other with: pkg build --remove {source.name}"
        )


def _count_workers(jobs: int, size: int) -> int:
    if jobs < 0:
        raise UsageError(f"jobs is {jobs}; expected 0 (one for each processor) or more")
    if jobs:
        return jobs
    return count_cores() if _is_large(size) else 1


def _is_large(size: int) -> bool:
    """Tell whether there is much to read; what is not known counts as much."""
    return size == 0 or size >= LARGE_BYTES
