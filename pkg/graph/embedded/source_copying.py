"""Copy a source from another database of the same schema, attached as ``pending``, into a store that has others.

Rows get the numbers that follow those of the store, and checksums of their new values; their ids stay.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from pkg.errors import StoreError
from pkg.graph.embedded import sql
from pkg.graph.embedded.checksums import seal_unit, sum_bytes, sum_rows


def copy_source(connection: sqlite3.Connection, address: str) -> None:
    """Copy the source of the attached database inside a write.

    Raises StoreError where another process has put the source, or changed the encoder.
    """
    _Copying(connection, *_check(connection, address)).copy()


def _check(connection: sqlite3.Connection, address: str) -> tuple[int, int, int, int]:
    """Return what is added to the numbers of nodes, units and fragments, and the number of the new source."""
    run = connection.execute
    (name,) = run(sql.PENDING_SOURCE).fetchone() or ("",)
    if run(sql.FIND_SOURCE, (name,)).fetchone() is not None or run(sql.PENDING_DIFFERS).fetchone() is not None:
        raise StoreError(f"{address} was changed by another process meanwhile; run the build again")
    node, unit, fragment = run(sql.LAST_NUMBERS).fetchone()
    run(sql.COPY_SOURCE)
    (source,) = run(sql.FIND_SOURCE, (name,)).fetchone()
    return node, unit, fragment, source


@dataclass(frozen=True, slots=True)
class _Copying:
    """Copies rows, whose numbers grow by those of the rows that the store has."""

    connection: sqlite3.Connection
    node: int
    unit: int
    fragment: int
    source: int

    def copy(self) -> None:
        """Copy all rows."""
        self.copy_fragments()
        self.copy_units()
        self.copy_links()

    def copy_fragments(self) -> None:
        """Copy texts and nodes with their vectors, and the nodes without a text."""
        run, shifts = self.connection.execute, self._shifts
        for row in run(sql.PENDING_FRAGMENTS, shifts):
            nodes = run(
                sql.PENDING_NODES, shifts | {"first": row[3] - self.node, "last": row[4] - self.node}
            ).fetchall()
            run(sql.PUT_FRAGMENT, (*row, sum_rows(row, nodes)))
            self.connection.executemany(sql.PUT_NODE, nodes)
        self.connection.executemany(sql.PUT_NODE, run(sql.PENDING_NAMES, shifts))
        run(sql.COPY_VECTORS, shifts)

    def copy_units(self) -> None:
        """Copy files and rows with their parts."""
        run, shifts = self.connection.execute, self._shifts
        run(sql.COPY_UNITS, shifts)
        run(sql.COPY_PARTS, shifts)
        for (number,) in run(sql.PENDING_UNITS, shifts).fetchall():
            seal_unit(self.connection, number)

    def copy_links(self) -> None:
        """Copy links and notes, with the numbers of their texts in this store."""
        run, shifts = self.connection.execute, self._shifts
        run(sql.COPY_TERMS)
        numbers = dict(run(sql.MATCH_TERMS).fetchall())
        self.connection.create_function("find_term", 1, numbers.get, deterministic=True)
        for unit, notes in run(sql.PENDING_NOTES, shifts):
            links = [
                run(statement, shifts | {"number": unit - self.unit}).fetchall() for statement in sql.PENDING_LINKS
            ]
            for statement, rows in zip((sql.PUT_RELATION, sql.PUT_CALL), links, strict=True):
                self.connection.executemany(statement, rows)
            run(sql.PUT_NOTES, (unit, notes, sum_bytes(notes), sum_rows(*links)))

    @property
    def _shifts(self) -> dict[str, int]:
        return {"node": self.node, "unit": self.unit, "fragment": self.fragment, "source": self.source}
