"""Resolve what a build has changed, and put the links of the files that it changes anything for (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pkg.extract.python import extract_unit
from pkg.extract.summary.switch import IS_BOUNDED
from pkg.indexing.solved_links import put_solved_links
from pkg.local_errors import LocalErrors
from pkg.model import CALLS_CUT, Skip
from pkg.resolve.changes.dependencies import Dependencies
from pkg.resolve.changes.dependency_record import (
    DependencyRecord,
    add_dependencies,
    forget_dependencies,
    unpack_dependencies,
)
from pkg.resolve.facts.file_records import Record, cut_record, make_record, unpack_unit
from pkg.resolve.facts.repository_files import Units
from pkg.resolve.following import Following
from pkg.resolve.links import LinkWriter
from pkg.resolve.project import Project, resolve_changes, resolve_project
from pkg.units import UnitLinks, UnitText, describe_code

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore, StoreWriter
    from pkg.indexing.build_plan import Change

SHORT_OF_ALL = {
    Following.FEW: "values spread widely: arguments were not followed into functions that many call, nor calls to more"
    " than twelve overriding methods",
    Following.NONE: "values spread too widely: arguments and results of functions were not followed, but for their"
    " annotations",
}


def put_links(
    store: GraphStore,
    writer: StoreWriter,
    source: str,
    change: Change,
    notes: Mapping[str, bytes],
    errors: LocalErrors,
) -> list[Skip]:
    """Resolve the files of a repository, and put the links of those that are new or whose links come out otherwise.

    `notes` are those of all files from before the change. Returns what was left out; local errors are noted. A file
    with one is resolved again with the next change, for its record does not say what its links stand on.
    """
    if IS_BOUNDED:
        put_solved_links(store, writer, source, change, notes, errors)
        return []
    records = {path: record for path, each in notes.items() if (record := cut_record(each)) is not None}
    snapshot = {
        path: dependencies
        for path, record in records.items()
        if (dependencies := unpack_dependencies(record)) is not None
    }
    kept = [path for path in change.unchanged if path not in change.before]  # a file that was put may hold no code
    unchanged = {path: records[path] for path in kept if path in records}
    lost = list(_extract(source, store.texts(source, [path for path in kept if path not in records]), errors))
    units = Units([*change.fresh.values(), *lost], source, unchanged, partial(store.texts, source), change.package)
    project = None
    is_known = not lost and not change.is_moved and snapshot.keys() == unchanged.keys() | change.before.keys()
    if snapshot and is_known:
        before = [unpack_unit(source, path, text, records[path]) for path, text in change.before.items()]
        with errors.keep("resolve", source):  # which leaves the project as it is: everything is resolved then
            project = resolve_changes(units, before, snapshot, change.fresh.keys() | change.before.keys())
    try:
        if project is None:
            project, snapshot = resolve_project(units), {}
    except Exception as fault:
        errors.note(fault, "resolve", source)
        writer.put_links(source, _write_nothing(units))
        return []
    found = project.find_dependencies()
    writer.put_links(source, _write_links(source, project, found, units, change, records, snapshot))
    unresolved = {path: snapshot[path] for path in snapshot if path in units and path not in project.sites}
    taken = _list_taken(found, unresolved, records, project.errors)
    if taken:
        writer.put_notes(source, taken)
    errors.add(project.errors.sorted())
    following = project.following
    project.release()
    return [Skip(CALLS_CUT, SHORT_OF_ALL[following])] if following in SHORT_OF_ALL else []


def _write_nothing(units: Units) -> Iterator[UnitLinks]:
    """Yield no links for every file: those from before may lead to what is no longer there."""
    for path in units:
        links = UnitLinks(path)
        yield replace(links, notes=make_record(links, units[path]).pack())


def _list_taken(
    found: Dependencies,
    unresolved: Mapping[str, DependencyRecord],
    records: Mapping[str, Record],
    errors: LocalErrors,
) -> dict[str, bytes]:
    """Return the new records of files that were not resolved; where that fails, one that has all resolved next time."""
    try:
        return {path: add_dependencies(records[path], known).pack() for path, known in found.list_taken(unresolved)}
    except Exception as fault:
        errors.note(fault, "resolve", min(unresolved))
    return {path: forget_dependencies(records[path]).pack() for path in sorted(unresolved)[:1]}


def _extract(source: str, texts: Iterable[tuple[str, bytes]], errors: LocalErrors) -> Iterator[UnitText]:
    """Yield files without a record, or with a damaged one, extracted again; without facts where those are at fault."""
    for path, text in texts:
        try:
            code = extract_unit(text)
        except Exception as fault:
            errors.note(fault, "extract", path)
            code = extract_unit(text, with_facts=False)
        yield describe_code(source, path, code)


def _write_links(
    source: str,
    project: Project,
    found: Dependencies,
    units: Units,
    change: Change,
    records: Mapping[str, Record],
    snapshot: Mapping[str, DependencyRecord],
) -> Iterator[UnitLinks]:
    writer = LinkWriter(source, units, project.binder.context, project.sites, project.outcomes)
    for path in sorted(project.sites):
        links = writer.write(path)
        record = make_record(links, units[path])
        if project.is_exact:
            with project.errors.keep("resolve", path):
                record = add_dependencies(record, found.describe(path, snapshot.get(path), project.other.get(path)))
        if path in change.fresh or records.get(path) != record:
            yield UnitLinks(path, links.edges, links.unbound, links.libraries, record.pack())
