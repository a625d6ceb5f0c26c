"""Write the links of units in batches; equal links are not written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pkg.errors import StoreError
from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.batches import Properties, make_library
from pkg.model import Label, RelationType
from pkg.units import UnboundCall, UnitLinks, format_id, hash_key

if TYPE_CHECKING:
    from neo4j import Record

    from pkg.graph.neo4j.session import Runner

LINKS_AT_ONCE = 10_000  # relationships per batch, about 1 MB per message
NOTES_AT_ONCE = 4_000_000  # bytes of notes per batch

Link = tuple[object, ...]  # type, start, end, line, rule, confidence, expression, reason


def cut_links(links: Iterable[UnitLinks]) -> Iterator[dict[str, UnitLinks]]:
    """Yield links in batches by path; a repeated unit begins the next batch."""
    batch: dict[str, UnitLinks] = {}
    count = size = 0
    for each in links:
        if each.path in batch or count >= LINKS_AT_ONCE or size >= NOTES_AT_ONCE:
            yield batch
            batch, count, size = {}, 0, 0
        batch[each.path] = each
        count += 1 + len(each.edges) + len(each.unbound)
        size += len(each.notes)
    if batch:
        yield batch


def put_links(run: Runner, source: str, links: Mapping[str, UnitLinks]) -> bool:
    """Put the links of a batch of units; return whether readers see a difference."""
    units = _find_units(run, source, links)
    linked = [unit for unit in units.values() if unit["is_linked"]]
    before = _read_links(run, [unit["element"] for unit in linked])
    changed = {path: each for path, each in links.items() if _list_links(each) != before.get(path, set())}
    gone = [unit for unit in linked if unit["path"] in changed]
    if gone:
        release_links(run, [unit["element"] for unit in gone], [unit["id"] for unit in gone])
    _put_ends(run, source, changed, units)
    for kind, rows in _list_rows(changed.values()).items():
        run.run(cypher.put_links(kind), links=rows).consume()
    _put_notes(run, source, links, units)
    return bool(changed)


def put_notes(run: Runner, source: str, links: Mapping[str, UnitLinks]) -> None:
    """Put the notes of a batch of units, without their links."""
    _put_notes(run, source, links, _find_units(run, source, links))


def _put_notes(run: Runner, source: str, links: Mapping[str, UnitLinks], units: Mapping[str, Record]) -> None:
    notes = [
        {"id": units[path]["id"], "source": source, "path": each.path, "notes": each.notes}
        for path, each in links.items()
    ]
    run.run(cypher.PUT_NOTES, notes=notes).consume()


def release_links(run: Runner, units: Sequence[str], ids: Sequence[str]) -> None:
    """Delete the relationships of units, given by elements and ids; delete_loose deletes their ends."""
    run.run(cypher.RELEASE_LINKS, units=units).consume()
    run.run(cypher.MARK_LINKS, ids=ids).consume()


def delete_loose(run: Runner, source: str) -> None:
    """Delete unreferenced calls and libraries, and notes of units without links."""
    elements = [record["element"] for record in run.run(cypher.LIST_LOOSE, source=source)]
    for statement in (cypher.CLEAR_ELEMENTS, cypher.DELETE_ELEMENTS) if elements else ():
        run.run(statement, elements=elements).consume()


def _find_units(run: Runner, source: str, paths: Iterable[str]) -> dict[str, Record]:
    ids = [
        {"file": format_id(hash_key(source, path, Label.FILE.value))}
        | {"row": format_id(hash_key(source, path, Label.ROW.value))}
        for path in paths
    ]
    found = {record["path"]: record for record in run.run(cypher.FIND_LINKED, units=ids)}
    for path in paths:
        if path not in found:
            raise StoreError(f"no file or row '{path}' in source '{source}'; expected it to be put before its links")
    return found


def _read_links(run: Runner, units: Sequence[str]) -> dict[str, set[Link]]:
    """Return the stored links of units, by path."""
    found = run.run(cypher.GET_LINKS, units=units) if units else ()
    return {record["path"]: {_make_link(*each) for each in record["links"]} for record in found}


def _make_link(
    kind: str,
    start: str,
    end: str,
    line: int | None,
    rule: str | None,
    confidence: str | None,
    expression: str | None,
    reason: str | None,
) -> Link:
    """Build a link from a record; expression and reason count for unresolved calls only."""
    call = (expression, reason) if kind == RelationType.UNRESOLVED.value else (None, None)
    return (RelationType(kind), start, end, line, rule, confidence, *call)


def _list_links(links: UnitLinks) -> set[Link]:
    edges = {(e.type, e.start, e.end, e.line, e.rule, e.confidence, None, None) for e in links.edges}
    unbound = {
        (RelationType.UNRESOLVED, call.owner, call.id, call.line, None, None, call.expression, call.reason)
        for call in links.unbound
    }
    return edges | unbound


def _list_rows(links: Iterable[UnitLinks]) -> dict[RelationType, list[tuple[Any, ...]]]:
    """Return the parameters of cypher.put_links, by type."""
    rows: dict[RelationType, list[tuple[Any, ...]]] = {}
    for each in links:
        for edge in each.edges:
            facts = (edge.line, edge.rule, edge.confidence)
            rows.setdefault(edge.type, []).append((edge.start, edge.end, each.path, *facts))
        for call in each.unbound:
            row = (call.owner, call.id, each.path, call.line, None, None)
            rows.setdefault(RelationType.UNRESOLVED, []).append(row)
    return rows


def _put_ends(run: Runner, source: str, links: Mapping[str, UnitLinks], units: Mapping[str, Record]) -> None:
    """Put the libraries and calls at which links end."""
    names = sorted({name for each in links.values() for name in each.libraries})
    libraries = [make_library(source, name) for name in names]
    calls = [
        make_call(source, path if units[path]["is_file"] else None, call)
        for path, each in links.items()
        for call in each.unbound
    ]
    for label, ends in ((Label.LIBRARY, libraries), (Label.CALL, calls)):
        if ends:
            run.run(cypher.PUT_ENDS.format(label=label.value), ends=ends).consume()


def make_call(source: str, path: str | None, call: UnboundCall) -> Properties:
    """Return the properties of a Call node; a call in a row may be in several rows and has no path."""
    properties = {"id": call.id, "source": source, "expression": call.expression, "reason": call.reason}
    return properties if path is None else properties | {"path": path, "line": call.line}
