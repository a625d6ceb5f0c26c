"""Read relationships of the embedded store, those that structure gives and those that were put."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import groupby

from pkg.graph.embedded import sql
from pkg.graph.rows import parse_id
from pkg.graph.texts import order_edge
from pkg.model import Edge, RelationType
from pkg.units import format_id

EdgeRow = tuple[str, int, int, int | None, str | None, str | None]  # type, start, end, line, rule, confidence

_STATEMENTS = {"out": (sql.EDGES_OUT,), "in": (sql.EDGES_IN,), "both": (sql.EDGES_OUT, sql.EDGES_IN)}
_RESOLVED = {
    each.value
    for each in (
        RelationType.RESOLVES_TO,
        RelationType.CALLS,
        RelationType.INHERITS,
        RelationType.OVERRIDES,
        RelationType.UNRESOLVED,
    )
}


def list_neighbours(
    connection: sqlite3.Connection, starts: set[str], types: set[RelationType] | None, direction: str, depth: int
) -> list[Edge]:
    """List the relationships within depth steps of some nodes, each once and in order."""
    edges: set[Edge] = set()
    seen = frontier = starts
    for _ in range(depth):
        reached: set[str] = set()
        for edge in _list_edges(connection, frontier, direction):
            if types is None or edge.type in types:
                edges.add(edge)
                reached |= {edge.start, edge.end}
        frontier = reached - seen
        seen = seen | reached
    return sorted(edges, key=order_edge)


def _list_edges(connection: sqlite3.Connection, ids: set[str], direction: str) -> Iterator[Edge]:
    for node_id in ids:
        for statement in _STATEMENTS[direction]:
            yield from map(_make_edge, connection.execute(statement, (parse_id(node_id),)))


def _make_edge(row: EdgeRow) -> Edge:
    name, start, end, line, rule, confidence = row
    return Edge(RelationType(name), format_id(start % (1 << 64)), format_id(end % (1 << 64)), line, rule, confidence)


def list_all_edges(connection: sqlite3.Connection) -> Iterator[Edge]:
    """Give every relationship once, in order; equal ones, which rows that share a body have, come side by side."""
    for (name, *facts), _ in groupby(connection.execute(sql.EXPORT_EDGES)):
        yield Edge(RelationType(name), *facts)


def list_edges_of(connection: sqlite3.Connection, types: Iterable[RelationType], source: str | None) -> Iterator[Edge]:
    """Give every relationship of some types that starts in a source, each once; what was resolved without structure."""
    names = {each.value for each in types}
    links = names & _RESOLVED
    if names - links:
        yield from _make_edges(connection.execute(sql.LIST_STRUCTURE, (source,)), names)
    if links:
        rows = dict.fromkeys(connection.execute(sql.LIST_LINKS, (source,)))  # rows that share a body have the same
        yield from _make_edges(rows, names)


def _make_edges(rows: Iterable[EdgeRow], names: set[str]) -> Iterator[Edge]:
    return (_make_edge(row) for row in rows if row[0] in names)
