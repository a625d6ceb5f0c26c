"""Resolve what a build has changed, and put the links of the files that it changes anything for (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING

from pkg.build.drafts import render_import
from pkg.graph.unit import PieceNames, UnitLinks, UnitText, format_id
from pkg.model import Class, CodeUnit, Label, Skip

if TYPE_CHECKING:
    from pkg.graph.resolve.links import LinkWriter
    from pkg.graph.store import GraphStore, StoreWriter

PLAIN = "values spread too widely: arguments and results of functions were not followed, but for their annotations"


def describe_code(source: str, path: str, code: CodeUnit) -> UnitText:
    """Give what resolution wants of an extracted file, with the ids that its nodes have."""
    names = PieceNames(source, path)
    ids = [
        format_id(names.name(Label.CLASS if isinstance(each, Class) else Label.FUNCTION, each.qualname))
        for each in code.definitions
    ]
    import_ids = [
        format_id(names.name(Label.IMPORT, render_import(each).decode("utf-8", "replace"))) for each in code.imports
    ]
    return UnitText(path, code.text, code.facts, code.definitions, code.imports, ids, import_ids)


def put_links(
    store: GraphStore, writer: StoreWriter, source: str, fresh: dict[str, UnitText], unchanged: Iterable[str]
) -> list[Skip]:
    """Resolve the files of a repository, and put the links of those that are new or whose links come out otherwise.

    Gives what was left out.
    """
    from pkg.graph.resolve.links import LinkWriter
    from pkg.graph.resolve.project import resolve_project

    before = dict(store.link_notes(source))
    units = fresh | {unit.path: unit for unit in _read_units(store, source, unchanged)}
    project = resolve_project(units.values())
    writer.put_links(source, _list_changed(LinkWriter(source, units, project), units, fresh, before))
    project.release()
    return [Skip("(calls)", PLAIN)] if project.is_plain else []


def _read_units(store: GraphStore, source: str, paths: Iterable[str]) -> Iterator[UnitText]:
    """Extract files anew from their stored texts."""
    from pkg.extract.python import extract_unit

    for path, text in store.texts(source, paths):
        yield describe_code(source, path, extract_unit(text))


def _list_changed(
    writer: LinkWriter, units: dict[str, UnitText], fresh: dict[str, UnitText], before: dict[str, bytes]
) -> Iterator[UnitLinks]:
    for path in sorted(units):
        links = writer.write(path)
        digest = blake2b(repr(links).encode(), digest_size=16).digest()
        if path in fresh or before.get(path) != digest:
            yield UnitLinks(path, links.edges, links.unbound, links.libraries, digest)
