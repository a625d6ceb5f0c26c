"""Write links into the embedded store: what the code of a unit refers to, in the place of what was put before."""

from __future__ import annotations

import sqlite3
from functools import cached_property

from pkg.graph.embedded import sql
from pkg.graph.rows import parse_id
from pkg.units import UnitLinks

FLUSH_AT = 4096  # rows kept in memory before they are inserted together

Row = tuple[object, ...]


class LinkWriter:
    """Collect the links of units and insert them in bulk, inside the transaction of a write."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._run = connection.execute
        self._relations: list[Row] = []
        self._calls: list[Row] = []
        self._notes: dict[int, bytes] = {}  # by unit, not inserted yet

    @cached_property
    def _terms(self) -> _Terms:
        return _Terms(self._connection)

    def put(self, unit: int, links: UnitLinks) -> bool:
        """Put the links of a unit; tell whether readers can see any difference: equal links are left as they are."""
        if unit in self._notes:
            self.flush()
        relations, calls = self._list_relations(unit, links), self._list_calls(unit, links)
        before = self._run(sql.GET_NOTES, (unit,)).fetchone()
        self._notes[unit] = links.notes
        if before is not None:
            if [self._run(statement, (unit,)).fetchall() for statement in sql.GET_LINKS] == [relations, calls]:
                return False
            self.delete(unit)
        self._relations += relations
        self._calls += calls
        if len(self._relations) + len(self._calls) > FLUSH_AT:
            self.flush()
        return before is not None or bool(relations or calls)

    def put_notes(self, unit: int, notes: bytes) -> None:
        """Put the notes of a unit alone."""
        self._notes[unit] = notes

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
        """Delete the links of a unit that is gone, or whose links are other ones now."""
        for statement in sql.DELETE_LINKS:
            self._run(statement, (unit,))

    def flush(self) -> None:
        """Insert the rows that are still in memory."""
        self._connection.executemany(sql.PUT_RELATION, self._relations)
        self._connection.executemany(sql.PUT_CALL, self._calls)
        self._connection.executemany(sql.PUT_NOTES, self._notes.items())
        self._relations, self._calls, self._notes = [], [], {}


class _Terms(dict[str | None, int | None]):
    """The numbers of texts that recur, such as rules and reasons; a new text gets the next one."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection.execute(sql.LIST_TERMS))
        self._run = connection.execute
        self[None] = None

    def __missing__(self, text: str | None) -> int:
        number = self[text] = len(self)  # one of them is None, which has no number
        self._run(sql.PUT_TERM, (number, text))
        return number
