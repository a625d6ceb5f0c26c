"""Write the marks of an audit: nodes that leak solutions of a benchmark (A-16)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from pkg.errors import StoreError
from pkg.graph.graph_records import LEAKS, read_audits, replace_leaks, write_audits
from pkg.graph.neo4j import cypher
from pkg.model import Audit, Leak

if TYPE_CHECKING:
    from pkg.graph.neo4j.session import Runner

NODES_AT_ONCE = 5_000  # about 500 kB per message


def put_audit(run: Runner, audit: Audit, marks: Mapping[str, Collection[Leak]]) -> bool:
    """Replace the marks of a benchmark and its audit; return whether anything changed.

    Raise StoreError for an unknown node.
    """
    before = {record["id"]: list(record["leaks"]) for record in run.run(cypher.LIST_MARKED)}
    rows: list[tuple[str, list[str] | None]] = []
    for identity in sorted(before.keys() | marks.keys()):
        known = before.get(identity, [])
        texts = replace_leaks({LEAKS: known}, audit.benchmark, marks.get(identity, ()))
        if texts != known:
            rows.append((identity, texts or None))  # null removes a property
    for start in range(0, len(rows), NODES_AT_ONCE):
        some = [list(row) for row in rows[start : start + NODES_AT_ONCE]]
        found = run.run(cypher.PUT_LEAKS, rows=some).single(strict=True)["count"]
        if found != len(some):
            raise StoreError(
                f"{len(some) - found:,} of {len(some):,} nodes are missing in the store; run the command again"
            )
    (kept,) = [record["audits"] for record in run.run(cypher.GET_AUDITS)]
    written = write_audits(read_audits(kept), audit)
    if written != kept:
        run.run(cypher.PUT_AUDITS, audits=written).consume()
    return bool(rows) or written != kept
