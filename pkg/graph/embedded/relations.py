"""Read and write relationships of the embedded store, derived from structure or resolved."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby

from pkg.graph.embedded import sql
from pkg.graph.embedded.checksums import seal_links, sum_bytes, sum_rows
from pkg.graph.graph_records import order_edge
from pkg.graph.sqlite_rows import parse_id
from pkg.model import Edge, RelationType
from pkg.units import UnitLinks, format_id

EdgeRow = tuple[str, int, int, int | None, str | None, str | None]  # type, start, end, line, rule, confidence

_STATEMENTS = {"out": (sql.EDGES_OUT,), "in": (sql.EDGES_IN,), "both": (sql.EDGES_OUT, sql.EDGES_IN)}
_LINKS = (RelationType.RESOLVES_TO, RelationType.CALLS, RelationType.INHERITS, RelationType.OVERRIDES)
_RESOLVED = {each.value for each in (*_LINKS, RelationType.UNRESOLVED)}


def list_neighbours(
    connections: Sequence[sqlite3.Connection],
    starts: set[str],
    types: set[RelationType] | None,
    direction: str,
    depth: int,
) -> list[Edge]:
    """Return the distinct relationships within depth steps of some nodes, sorted, in one database or a set of them."""
    edges: set[Edge] = set()
    seen = frontier = starts
    for _ in range(depth):
        reached: set[str] = set()
        rows = (
            row
            for node_id in frontier
            for statement in _STATEMENTS[direction]
            for connection in connections
            for row in connection.execute(statement, (parse_id(node_id),))
        )
        for edge in map(_make_edge, rows):
            if types is None or edge.type in types:
                edges.add(edge)
                reached |= {edge.start, edge.end}
        frontier = reached - seen
        seen = seen | reached
    return sorted(edges, key=order_edge)


def _make_edge(row: EdgeRow) -> Edge:
    name, start, end, line, rule, confidence = row
    return Edge(RelationType(name), format_id(start % (1 << 64)), format_id(end % (1 << 64)), line, rule, confidence)


def list_all_edges(connection: sqlite3.Connection) -> Iterator[Edge]:
    """Yield the distinct relationships, sorted; rows that share a body have equal ones."""
    for (name, *facts), _ in groupby(connection.execute(sql.EXPORT_EDGES)):
        yield Edge(RelationType(name), *facts)


def list_edges_of(connection: sqlite3.Connection, types: Iterable[RelationType], source: str | None) -> Iterator[Edge]:
    """Yield the distinct relationships of some types that start in a source."""
    names = {each.value for each in types}
    links = names & _RESOLVED
    if names - links:
        yield from _make_edges(connection.execute(sql.LIST_STRUCTURE, (source,)), names)
    if links:
        rows = dict.fromkeys(connection.execute(sql.LIST_LINKS, (source,)))  # rows that share a body have equal links
        yield from _make_edges(rows, names)


def _make_edges(rows: Iterable[EdgeRow], names: set[str]) -> Iterator[Edge]:
    return (_make_edge(row) for row in rows if row[0] in names)


FLUSH_AT = 4096  # rows collected before an insert

Row = tuple[object, ...]


class LinkWriter:
    """Writer of the links of units, which are inserted in bulk inside the transaction of a write."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._run = connection.execute
        self._relations: list[Row] = []
        self._calls: list[Row] = []
        self._notes: dict[int, tuple[bytes, int | None]] = {}  # by unit, with the checksum of new links

    @cached_property
    def _terms(self) -> _Terms:
        return _Terms(self._connection)

    def put(self, unit: int, links: UnitLinks) -> bool:
        """Put the links of a unit unless they are equal; return whether readers see a difference."""
        if unit in self._notes:
            self.flush()
        relations, calls = self._list_relations(unit, links), self._list_calls(unit, links)
        before = self._run(sql.GET_NOTES, (unit,)).fetchone()
        self._notes[unit] = links.notes, None
        if before is not None:
            if [self._run(statement, (unit,)).fetchall() for statement in sql.GET_LINKS] == [relations, calls]:
                return False
            self.delete(unit)
        self._notes[unit] = links.notes, sum_rows(relations, calls)
        self._relations += relations
        self._calls += calls
        if len(self._relations) + len(self._calls) > FLUSH_AT:
            self.flush()
        return before is not None or bool(relations or calls)

    def put_notes(self, unit: int, notes: bytes) -> None:
        """Put the notes of a unit, without its links."""
        self._notes[unit] = notes, None

    def _list_relations(self, unit: int, links: UnitLinks) -> list[Row]:
        types, terms = sql.TYPE_NUMBERS, self._terms
        return [
            (
                unit, position, types[edge.type], parse_id(edge.start), parse_id(edge.end), edge.line,
                terms[edge.rule], terms[edge.confidence],
            )
            for position, edge in enumerate(links.edges)
        ]  # fmt: skip

    def _list_calls(self, unit: int, links: UnitLinks) -> list[Row]:
        terms = self._terms
        return [
            (unit, position, parse_id(call), parse_id(owner), expression, line, terms[reason])
            for position, (call, owner, expression, line, reason) in enumerate(links.unbound)
        ]

    def delete(self, unit: int) -> None:
        """Delete the links of a unit."""
        for statement in sql.DELETE_LINKS:
            self._run(statement, (unit,))

    def delete_loose(self, ends: Iterable[int]) -> None:
        """Delete the relationships of deleted nodes, files and rows, of whatever unit."""
        touched = {unit for end in ends for (unit,) in self._run(sql.DELETE_RELATIONS, (end,)).fetchall()}
        for unit in sorted(touched):
            seal_links(self._connection, unit)

    def flush(self) -> None:
        """Insert the collected rows."""
        self._connection.executemany(sql.PUT_RELATION, self._relations)
        self._connection.executemany(sql.PUT_CALL, self._calls)
        notes = ((unit, text, sum_bytes(text), seal) for unit, (text, seal) in self._notes.items())
        self._connection.executemany(sql.PUT_NOTES, notes)
        self._relations, self._calls, self._notes = [], [], {}


class _Terms(dict[str | None, int | None]):
    """Numbers of recurring texts, such as rules and reasons; a new text gets the next number."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection.execute(sql.LIST_TERMS))
        self._run = connection.execute
        self[None] = None

    def __missing__(self, text: str | None) -> int:
        number = self[text] = len(self)  # one of them is None, which has no number
        self._run(sql.PUT_TERM, (number, text))
        return number
