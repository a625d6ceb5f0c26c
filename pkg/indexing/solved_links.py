"""Resolve a repository after a change, and put the links of those files whose links come out otherwise (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from pkg.extract.python import extract_unit
from pkg.local_errors import LocalErrors
from pkg.resolution.link_record import (
    NO_DIGEST,
    LinkRecord,
    cut_record,
    digest_unit,
    pack_links,
    unpack_links,
)
from pkg.resolution.machine import Machine
from pkg.resolution.placed_links import FileLinks, place_links
from pkg.resolution.program import Program
from pkg.resolution.site_links import LinkWriter
from pkg.units import UnitLinks, UnitText, describe_code

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore, StoreWriter
    from pkg.indexing.build_plan import Change


def put_solved_links(
    store: GraphStore,
    writer: StoreWriter,
    source: str,
    change: Change,
    notes: Mapping[str, bytes],
    errors: LocalErrors,
) -> None:
    """Resolve the files of a repository, and put the links of those that are new or whose links come out otherwise.

    `notes` are those of all files from before the change. Local errors are noted; with one, no record says what the
    links stand on, and the next change resolves everything again.
    """
    records = {path: record for path, each in notes.items() if (record := cut_record(each)) is not None}
    moved = _move_links(change, records, errors)
    if moved is not None:
        writer.put_links(source, moved)
        return
    kept = [path for path in change.unchanged if path not in change.before]  # a file that was put may hold no code
    lost = _extract(source, store.texts(source, kept), errors)
    units = {unit.path: unit for unit in (*change.fresh.values(), *lost)}
    try:
        machine = Machine(Program(units, change.package, errors))
        machine.solve()
    except Exception as fault:
        errors.note(fault, "resolve", source)
        writer.put_links(source, _write_nothing(units))
        return
    links = LinkWriter(source, machine)
    found = {path: links.list_links(path) for path in sorted(units)}
    writer.put_links(source, _write_changed(units, found, change, notes, errors))
    machine.release()


def _move_links(change: Change, records: Mapping[str, LinkRecord], errors: LocalErrors) -> list[UnitLinks] | None:
    """Write the links of edited files as they were, but for lines, where no file says anything else than before.

    Returns None where a file does, came or went, and where something is not known.
    """
    paths = change.fresh.keys() | set(change.unchanged)
    if change.is_moved or records.keys() != paths or not change.before.keys() <= change.fresh.keys():
        return None
    if any(record.digest == NO_DIGEST for record in records.values()):
        return None
    found = []
    for path, unit in change.fresh.items():
        record = records[path]
        links = unpack_links(record.links) if record.digest == _digest(unit, errors) else None
        if links is None:
            return None
        found.append(place_links(unit, links, record.pack()))
    return found


def _digest(unit: UnitText, errors: LocalErrors) -> bytes:
    with errors.keep("resolve", unit.path):
        return digest_unit(unit)
    return NO_DIGEST


def _extract(source: str, texts: Iterable[tuple[str, bytes]], errors: LocalErrors) -> Iterator[UnitText]:
    """Yield files that did not change, extracted again; without summaries where those are at fault."""
    for path, text in texts:
        try:
            code = extract_unit(text)
        except Exception as fault:
            errors.note(fault, "extract", path)
            code = extract_unit(text, with_facts=False)
        yield describe_code(source, path, code)


def _write_nothing(units: Iterable[str]) -> Iterator[UnitLinks]:
    """Yield no links for every file: those from before may lead to what is no longer there."""
    for path in units:
        yield UnitLinks(path, notes=_make_record(NO_DIGEST, FileLinks()))


def _make_record(digest: bytes, links: FileLinks) -> bytes:
    return LinkRecord(digest, pack_links(links)).pack()


def _write_changed(
    units: Mapping[str, UnitText],
    found: Mapping[str, FileLinks],
    change: Change,
    notes: Mapping[str, bytes],
    errors: LocalErrors,
) -> Iterator[UnitLinks]:
    """Yield the links of edited files, and of those whose links are not those of their record."""
    digests = {path: _digest(units[path], errors) for path in found}
    is_sound = not len(errors)
    for path, links in found.items():
        record = _make_record(digests[path] if is_sound else NO_DIGEST, links)
        if path in change.fresh or notes.get(path) != record:
            placed = None
            with errors.keep("link", path):
                placed = place_links(units[path], links, record)
            yield placed or UnitLinks(path, notes=_make_record(NO_DIGEST, FileLinks()))
