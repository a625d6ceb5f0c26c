"""Resolve a repository after a change, and store the links of the files whose links have changed (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pkg.extract.python import extract_unit
from pkg.local_errors import LocalErrors
from pkg.model import Skip
from pkg.resolution.link_record import (
    NO_DIGEST,
    FileLinks,
    LinkRecord,
    cut_record,
    digest_unit,
    pack_links,
    pack_shared,
    pack_unit,
    place_links,
    unpack_links,
    unpack_shared,
    unpack_unit,
)
from pkg.resolution.machine import Machine
from pkg.resolution.module_records import ModuleRecord
from pkg.resolution.program import Program
from pkg.resolution.site_links import LinkWriter
from pkg.resolution.source_parts import split_folders
from pkg.resolution.updates import Records, Update, record_resolution, resolve_edited
from pkg.units import UnitLinks, UnitText, describe_code

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore, StoreWriter
    from pkg.indexing.build_plan import Change
    from pkg.indexing.partitions import Cluster


def put_links(
    store: GraphStore,
    writer: StoreWriter,
    source: str,
    change: Change,
    notes: Mapping[str, bytes],
    errors: LocalErrors,
    cluster: Cluster | None = None,
    seconds: dict[str, float] | None = None,
) -> list[Skip]:
    """Resolve the files of a repository, and store the links of new files and those with changed links.

    Return the imports between parts of a large source that are not followed.
    `notes` are those of all files from before the change. Local errors are noted; with one, the records of
    dependencies are dropped, and the next change resolves everything again.
    cluster: solves the parts of the source, even where it has one, so that this process needs little memory; None for
    this process. seconds: get the CPU seconds of its workers under "resolve".
    """
    folders = split_folders(list_paths(change), bool(change.package))
    if cluster is not None or len(set(folders.values())) > 1:
        from pkg.indexing.part_links import PartLinks

        return PartLinks(store, writer, source, change, notes, errors).put(
            folders, cluster, {} if seconds is None else seconds
        )
    _put_whole(store, writer, source, change, notes, errors)
    return []


def _put_whole(
    store: GraphStore,
    writer: StoreWriter,
    source: str,
    change: Change,
    notes: Mapping[str, bytes],
    errors: LocalErrors,
) -> None:
    """Resolve a source of one part; see put_links."""
    records = {path: record for path, each in notes.items() if (record := cut_record(each)) is not None}
    if _is_known(change, records):
        moved = move_links(change, records, errors)
        if moved is not None:
            writer.put_links(source, moved)
            return
        if _put_edited(store, writer, source, change, records, errors):
            return
    units = _gather_units(store, source, change, records, errors)
    try:
        machine = Machine(Program(units, change.package, errors))
        machine.solve()
    except Exception as fault:
        errors.note(fault, "resolve", source)
        writer.put_links(source, _write_nothing(units))
        return
    links = LinkWriter(source, machine)
    found = {path: links.list_links(path) for path in sorted(units)}
    writer.put_links(source, _write_changed(machine, found, change, notes, errors))
    machine.release()


def _is_known(change: Change, records: Mapping[str, LinkRecord]) -> bool:
    """Return whether the dependencies of all links before the change are known."""
    paths = change.before.keys() | set(change.unchanged)
    is_known = not change.is_moved and bool(list_paths(change)) and bool(records) and records.keys() == paths
    return is_known and all(record.digest != NO_DIGEST for record in records.values())


def list_paths(change: Change) -> set[str]:
    """List the files that hold code after the change; an edited file may hold none."""
    return {*change.fresh, *(path for path in change.unchanged if path not in change.before)}


def _put_edited(
    store: GraphStore,
    writer: StoreWriter,
    source: str,
    change: Change,
    records: Mapping[str, LinkRecord],
    errors: LocalErrors,
) -> bool:
    """Resolve edited files and those affected; return False if everything has to be resolved."""
    holder = next((path for path, record in records.items() if record.shared), None)
    known = {path: unpack_unit(source, path, record.unit) for path, record in records.items()}
    units = {path: change.fresh.get(path) or known[path] for path in list_paths(change)}
    update = _resolve_edited(units, known, change, records, holder) if holder is not None else None
    if holder is None or update is None:
        return False
    others = [path for path in update.paths if path not in change.fresh]
    units.update((path, replace(units[path], text=text)) for path, text in store.texts(source, others))
    links = LinkWriter(source, update.machine)
    found = {path: links.list_links(path) for path in update.paths}
    new = _renew_records(update, found, units, change, records, holder, errors)
    if len(update.machine.program.errors) or len(errors):
        return False
    is_put = {path for path in found if path in change.fresh or new[path].links != records[path].links}
    writer.put_links(source, (place_links(units[path], found[path], new[path].pack()) for path in sorted(is_put)))
    writer.put_notes(source, {path: record.pack() for path, record in new.items() if path not in is_put})
    update.machine.release()
    return True


def _resolve_edited(
    units: Mapping[str, UnitText],
    known: Mapping[str, UnitText],
    change: Change,
    records: Mapping[str, LinkRecord],
    holder: str,
) -> Update | None:
    """Resolve edited files by the records of all; None if everything has to be resolved, as after a local error.

    known: files as they were before the change. holder: the file whose record holds the shared part.
    """
    errors = LocalErrors()
    packed = {path: (record.facts, record.flows) for path, record in records.items()}
    packed[""] = unpack_shared(records[holder].shared)
    before = {path: unit for path, unit in known.items() if path in change.fresh or path not in units}
    try:
        update = resolve_edited(units, change.package, errors, Records(packed), before)
    except Exception:  # resolving everything reports the failure
        return None
    return update if not len(errors) else None


def _renew_records(
    update: Update,
    found: Mapping[str, FileLinks],
    units: Mapping[str, UnitText],
    change: Change,
    records: Mapping[str, LinkRecord],
    holder: str,
    errors: LocalErrors,
) -> dict[str, LinkRecord]:
    """Return the new records after an update that found some links."""
    modules = update.schedule.record()
    shared = modules.pop("", None)
    none = LinkRecord(NO_DIGEST, b"")
    new = {path: _renew(records.get(path, none), each) for path, each in modules.items()}
    if shared is not None or holder not in units:
        kept = pack_shared(shared) if shared is not None else records[holder].shared
        path = holder if holder in units else min(units)
        new[path] = new.get(path, records.get(path, none))._replace(shared=kept)
    for path, each in found.items():
        new[path] = new[path]._replace(digest=digest_soundly(units[path], errors), links=pack_links(each))
    for path, unit in change.fresh.items():
        new[path] = new[path]._replace(unit=pack_unit(unit))
    return new


def _gather_units(
    store: GraphStore, source: str, change: Change, records: Mapping[str, LinkRecord], errors: LocalErrors
) -> dict[str, UnitText]:
    """Return all files as they were extracted; unchanged ones by their records."""
    units = dict(change.fresh)
    lost = []
    for path, text in store.texts(source, [path for path in change.unchanged if path not in change.before]):
        if path in records and records[path].unit:
            units[path] = unpack_unit(source, path, records[path].unit, text)
        else:
            lost.append((path, text))
    units.update((unit.path, unit) for unit in extract_again(source, lost, errors))
    return units


def move_links(change: Change, records: Mapping[str, LinkRecord], errors: LocalErrors) -> list[UnitLinks] | None:
    """Return the links of edited files with new lines, if their summaries have not changed.

    Returns None if a summary has changed, a file was added or removed, or a dependency is unknown.
    """
    if list_paths(change) != records.keys():
        return None
    found = []
    for path, unit in change.fresh.items():
        record = records[path]
        links = unpack_links(record.links) if record.digest == digest_soundly(unit, errors) else None
        if links is None:
            return None
        found.append(place_links(unit, links, record._replace(unit=pack_unit(unit)).pack()))
    return found


def digest_soundly(unit: UnitText, errors: LocalErrors) -> bytes:
    """Return the digest of a file, or NO_DIGEST with a noted error."""
    with errors.keep("resolve", unit.path):
        return digest_unit(unit)
    return NO_DIGEST


def extract_again(source: str, texts: Iterable[tuple[str, bytes]], errors: LocalErrors) -> Iterator[UnitText]:
    """Yield unchanged files, extracted again; without a summary where making it fails."""
    for path, text in texts:
        try:
            code = extract_unit(text)
        except Exception as fault:
            errors.note(fault, "extract", path)
            code = extract_unit(text, with_summary=False)
        yield describe_code(source, path, code)


def _write_nothing(units: Iterable[str]) -> Iterator[UnitLinks]:
    """Yield no links for every file: old ones may lead to removed nodes."""
    for path in units:
        yield UnitLinks(path, notes=_make_record(NO_DIGEST, FileLinks()).pack())


def _make_record(digest: bytes, links: FileLinks) -> LinkRecord:
    return LinkRecord(digest, pack_links(links))


def _renew(record: LinkRecord, module: ModuleRecord) -> LinkRecord:
    return record._replace(facts=module.pack_facts(), flows=module.pack_flows())


def _write_changed(
    machine: Machine,
    found: Mapping[str, FileLinks],
    change: Change,
    notes: Mapping[str, bytes],
    errors: LocalErrors,
) -> Iterator[UnitLinks]:
    """Yield the links of edited files, and of those whose links differ from their record."""
    units = machine.program.units
    digests = {path: digest_soundly(units[path], errors) for path in found}
    modules: dict[str, ModuleRecord] = {}
    if not len(errors):
        with errors.keep("resolve", min(found, default="")):
            modules = record_resolution(machine)
    is_sound = not len(errors) and modules.keys() >= found.keys()
    first = min(found, default="")
    for path, links in found.items():
        record = _make_record(digests[path] if is_sound else NO_DIGEST, links)
        if is_sound:
            record = _renew(record, modules[path])._replace(unit=pack_unit(units[path]))
            if path == first:
                record = record._replace(shared=pack_shared(modules[""]))
        packed = record.pack()
        if path in change.fresh or notes.get(path) != packed:
            placed = None
            with errors.keep("link", path):
                placed = place_links(units[path], links, packed)
            yield placed or UnitLinks(path, notes=_make_record(NO_DIGEST, FileLinks()).pack())
