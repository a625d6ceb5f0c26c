"""Build the rows of a corpus into a set of stores, each by a task of its own: no writer holds all of them (A-03).

A row is in the member that the first bits of its content hash name, so that equal rows are in one. Each member is
brought up to date as any store is: unchanged rows are not prepared again, and a build that was killed goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pkg.cluster.outcomes import Outcomes
from pkg.errors import SET_SCHEME, StoreError, UsageError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build_input, drop_source
from pkg.indexing.build_plan import BuildOptions
from pkg.indexing.inputs import Input, LoadedUnit, find_input
from pkg.indexing.partitions import Cluster, Filling, cut_rows, open_cluster
from pkg.indexing.report import BuildReport, StageClock
from pkg.model import Skip, Source
from pkg.private_files import make_folder

DEFAULT_MEMBERS = 8
MOST_MEMBERS = 1024


class _Member(NamedTuple):
    """A member to be brought up to date."""

    path: str
    given: str | None  # the file with its rows; None where it has none
    making: Input  # without its rows


def build_set(found: Input, folder: Path, members: int | None, options: BuildOptions, cluster: Cluster) -> BuildReport:
    """Build or update the source of a corpus in the members of a set; return one report for all.

    members: how many; None for as many as the folder has, or DEFAULT_MEMBERS. Raises UsageError for an input that is no
    corpus and for another number of members, StoreError where the set cannot be written.
    """
    if found.source.kind != "corpus":
        raise UsageError(
            f"{found.source.root} is a repository, which is resolved as a whole; expected rows of a corpus, or the"
            f" address of one of the stores in {folder}"
        )
    paths = _find_members(folder, members)
    clock = StageClock()
    skipped: list[Skip] = []
    with clock.stage("discover"):
        fillings = {each.key: each for each in _cut(found, skipped, cluster.outcomes, len(paths))}
    empty = replace(found, entries=None, stream=_list_nothing, generated=dict(found.generated))
    jobs = [
        _Member(str(path), fillings[key].partition.given if key in fillings else None, empty)
        for key, path in enumerate(paths)
    ]
    task = partial(_build_member, str(cluster.outcomes.folder), options.encoder)
    reports = []
    for job, report in zip(jobs, cluster.engine.map(task, jobs), strict=True):
        reports.append(report)
        if options.progress is not None:
            options.progress(len(reports), len(jobs))
        if job.given is not None:
            cluster.outcomes.remove(job.given)
    return _join(found.source, folder, reports, skipped, clock)


def build_rows(
    path: str,
    address: str,
    options: BuildOptions,
    *,
    members: int | None,
    place: str | None,
    ray: str | None,
    source: str | None,
    field: str | None,
    reader: str | None,
) -> BuildReport:
    """Build a corpus into the set at an address, by workers that share a folder, or a temporary one.

    Raises UsageError, InputError or StoreError, as build_set and open_cluster do.
    """
    if reader == "model":
        raise UsageError("--reader model reads documents into one store, not into a set; build it in sqlite:///PATH")
    found = find_input(path, source, field, None, reader=reader)
    with TemporaryDirectory(prefix="pkg-set-") as scratch, open_cluster(place or scratch, ray, options.jobs) as cluster:
        return build_set(found, Path(address.removeprefix(SET_SCHEME)).expanduser(), members, options, cluster)


def _find_members(folder: Path, members: int | None) -> list[Path]:
    """Return the files of the members, which may not exist yet."""
    if members is not None and not 1 <= members <= MOST_MEMBERS:
        raise UsageError(f"members is {members}; expected 1 to {MOST_MEMBERS}")
    try:
        make_folder(folder)
        known = sorted(folder.glob("*.db"))
    except OSError as fault:
        raise StoreError(f"{folder} cannot be created ({fault}); expected a folder to write into") from fault
    paths = [folder / f"{number:04}.db" for number in range(members or len(known) or DEFAULT_MEMBERS)]
    if known and known != paths:
        raise UsageError(
            f"{folder} has {len(known)} stores, {known[0].name} to {known[-1].name}; expected {len(paths)} that a build"
            " of a set has made: give their number with --members, or another folder"
        )
    return paths


def _cut(found: Input, skipped: list[Skip], outcomes: Outcomes, count: int) -> Iterator[Filling]:
    """Write the rows of each member to a file; collect those that cannot be read."""

    def read() -> Iterator[LoadedUnit]:
        for unit in found.stream():
            if isinstance(unit, Skip):
                skipped.append(unit)
            else:
                yield unit

    return cut_rows(read(), outcomes, repr((found.source.name, found.fingerprint, count)), count)


def _list_nothing() -> Iterator[LoadedUnit | Skip]:
    return iter(())


def _build_member(folder: str, encoder: str | None, job: _Member) -> BuildReport:
    """Bring one member up to date; called on a worker."""
    path, given = Path(job.path), job.given
    if given is None:
        return _empty_member(path, job.making.source)

    def read() -> Iterator[LoadedUnit | Skip]:
        return (unit for units in Outcomes(folder).read(given) for unit in units)

    with closing(EmbeddedStore(path, create=True)) as store:
        return build_input(replace(job.making, stream=read), store, BuildOptions(encoder), StageClock())


def _empty_member(path: Path, source: Source) -> BuildReport:
    """Remove the source from a member that has no row of it any more."""
    if path.exists():
        with closing(EmbeddedStore(path)) as store:
            if source.name in {each.name for each in store.sources()}:
                return drop_source(store, source.name)
    return BuildReport(source.name, f"sqlite:///{path}", 0)


def _join(
    source: Source, folder: Path, reports: Sequence[BuildReport], skipped: Sequence[Skip], clock: StageClock
) -> BuildReport:
    """Return one report of the builds of all members."""
    for report in reports:
        for stage, seconds in report.stages.items():
            clock.seconds[stage] = clock.seconds.get(stage, 0.0) + seconds
    return BuildReport(
        source=source.name,
        store=f"{SET_SCHEME}{folder}",
        generation=sum(each.generation for each in reports),
        written=sum(each.written for each in reports),
        unchanged=sum(each.unchanged for each in reports),
        removed=sum(each.removed for each in reports),
        partial=sum(each.partial for each in reports),
        skipped=(*skipped, *(skip for each in reports for skip in each.skipped)),
        stages=clock.rounded(),
        reencoded=sum(each.reencoded for each in reports),
        errors=tuple(error for each in reports for error in each.errors),
    )
