"""Resolve what a build has changed, and put the links of the files that it changes anything for (A-12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING

from pkg.graph.unit import UnitLinks, UnitText
from pkg.model import CodeUnit, Skip

if TYPE_CHECKING:
    from pkg.build.todo import Change
    from pkg.graph.resolve.foundations import Foundations
    from pkg.graph.resolve.project import Project
    from pkg.graph.resolve.records import Basis
    from pkg.graph.store import GraphStore, StoreWriter

PLAIN = "values spread too widely: arguments and results of functions were not followed, but for their annotations"
Recalled = tuple[UnitText, "Basis | None"]
"""A file as it was extracted, and what its links were worked out from, where that is known."""


def describe_code(source: str, path: str, code: CodeUnit) -> UnitText:
    """Give what resolution wants of an extracted file."""
    return UnitText(source, path, code.text, code.facts, code.definitions, code.imports)


def put_links(
    store: GraphStore, writer: StoreWriter, source: str, change: Change, records: Mapping[str, bytes]
) -> list[Skip]:
    """Resolve the files of a repository, and put the links of those that are new or whose links come out otherwise.

    `records` are the notes of all files from before the change. Gives what was left out.
    """
    from pkg.graph.resolve.project import resolve_changes, resolve_project
    from pkg.graph.resolve.records import repack_record

    kept = {path: _recall(source, path, text, records) for path, text in store.texts(source, change.unchanged)}
    gone = {path: _recall(source, path, text, records) for path, text in change.before.items()}
    units = {path: unit for path, (unit, _) in kept.items()} | dict(change.fresh)
    bases = {path: basis for path, (_, basis) in (kept | gone).items() if basis is not None}
    project = None
    if bases and len(bases) == len(kept) + len(gone):
        before = [unit for unit, _ in gone.values()]
        project = resolve_changes(units.values(), before, bases, change.fresh.keys() | gone.keys())
    if project is None:
        project, bases = resolve_project(units.values()), {}
    found = project.found()
    writer.put_links(source, _write_links(source, project, found, units, change, records, bases))
    unresolved = {path: basis for path, basis in bases.items() if path in units and path not in project.sites}
    taken = found.list_taken(unresolved)
    writer.put_notes(source, {path: repack_record(records[path], units[path], basis) for path, basis in taken})
    is_plain = project.is_plain
    project.release()
    return [Skip("(calls)", PLAIN)] if is_plain else []


def _recall(source: str, path: str, text: bytes, records: Mapping[str, bytes]) -> Recalled:
    """Give a file as it was extracted, from its record, else from its text."""
    from pkg.graph.resolve.records import unpack_record

    found = unpack_record(source, path, text, records.get(path, b""))
    if found is not None:
        return found
    from pkg.extract.python import extract_unit

    return describe_code(source, path, extract_unit(text)), None


def _write_links(
    source: str,
    project: Project,
    found: Foundations,
    units: dict[str, UnitText],
    change: Change,
    records: Mapping[str, bytes],
    bases: Mapping[str, Basis],
) -> Iterator[UnitLinks]:
    from pkg.graph.resolve.links import LinkWriter
    from pkg.graph.resolve.records import pack_record

    writer = LinkWriter(source, units, project)
    for path in sorted(project.sites):
        links = writer.write(path)
        digest = blake2b(links.describe(), digest_size=16).digest()
        basis = found.describe(path, bases.get(path)) if project.is_exact else None
        record = pack_record(digest, units[path], basis)
        if path in change.fresh or records.get(path) != record:
            yield UnitLinks(path, links.edges, links.unbound, links.libraries, record)
