"""Count the contents of the embedded store for its statistics."""

from __future__ import annotations

import json
import sqlite3
from itertools import chain

from pkg.graph.embedded import sql
from pkg.graph.graph_records import read_errors, read_skips
from pkg.graph.store import StoreStats
from pkg.model import Label, Skip, Source


def read_stats(connection: sqlite3.Connection, source: str | None) -> StoreStats:
    """Return the statistics of the tables, of one source or of all, without the sizes of files.

    Raises sqlite3.DatabaseError for a damaged row.
    """
    run, of = connection.execute, {"source": source}
    counts, meta = sql.COUNT_ALL if source is None else sql.COUNT_ONE, dict(run(sql.LIST_META).fetchall())
    nodes = {Label.SOURCE.value: run(counts.sources, of).fetchone()[0]}
    for label, count in chain.from_iterable(run(statement, of) for statement in counts.nodes):
        nodes[_read_label(label).value] = count
    rows = [row for row in run(sql.LIST_SOURCES) if source in (None, row[0])]
    return StoreStats(
        generation=meta.get("generation") or 0,
        encoder=meta.get("encoder") or "",
        dimension=meta.get("dimension") or 0,
        sources=tuple(Source(*row[:5]) for row in rows),
        nodes=dict(sorted(nodes.items())),
        relations=dict(run(counts.edges, of).fetchall()),
        partial=tuple(Skip(path, reason) for path, reason in run(counts.partial, of)),
        skipped=tuple(skip for row in rows for skip in read_skips(row[6])),
        errors=tuple(error for row in rows for error in read_errors(row[6])),
        stages={row[0]: json.loads(row[7]) for row in rows},
        parts={part: int(run(statement).fetchone()[0]) for part, statement in sql.SIZES.items()},
    )


def _read_label(number: object) -> Label:
    """Return the label of a number in a row; raise DatabaseError for a damaged one."""
    if not isinstance(number, int) or number not in range(len(sql.LABELS)):
        raise sqlite3.DatabaseError(f"malformed: nodes of the label {number}")
    return sql.LABELS[number]
