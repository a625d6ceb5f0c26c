"""Follow relationships on the server, and find what a file or row imports."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.nodes import make_edge, make_node, make_unfolded
from pkg.graph.neo4j.session import Reader
from pkg.model import Edge, Node, RelationType, Unfolded

Found = list[Any]  # what a statement lists of one node


def follow_edges(
    reader: Reader, ids: Iterable[str], types: Sequence[RelationType], direction: str, depth: int
) -> tuple[set[str], set[Edge]]:
    """Follow relationships from nodes for some steps; give the ids that exist, and the relationships."""
    edges: set[Edge] = set()
    known: set[str] = set()
    seen: set[str] = set()
    frontier = set(ids)
    statement = cypher.list_edges_at(types, direction)
    for step in range(depth):
        rows = reader.run(statement, **reader.name(frontier), ready=reader.view.ready)
        if not step:
            known = {row["id"] for row in rows}
        found = reader.note(edge for row in rows for edge in row["edges"])
        edges |= {make_edge(*facts) for _, *facts in found}
        seen |= frontier
        frontier = {end for end, *_ in found} - seen
        if not frontier:
            break
    return known, edges


def find_unfolded(reader: Reader, ids: Iterable[str]) -> tuple[list[tuple[Unfolded, Found, Found | None]], list[Found]]:
    """Find those of some functions and blocks that exist, with their blocks and links.

    With each comes what GET_COMMON lists of it and, where it is in rows, what GET_CALLS does; with all, what GET_COMMON
    lists of what they call, each behind its id. A snapshot can keep them.
    """
    record = reader.run(cypher.UNFOLD, **reader.name(ids), ready=reader.view.ready)[0]
    unfolded = [
        (make_unfolded(node, blocks, reader.note(links)), node, calls)
        for node, blocks, links, calls in record["unfolded"]
    ]
    return unfolded, record["found"]


def find_imports(reader: Reader, names: Mapping[str, Collection[str]]) -> dict[str, list[Node]]:
    """Find the imports of files and rows that bind any of the names given with each; other ids are left out."""
    units = [[unit, list(names[unit])] for unit in sorted(names) if unit.isascii()]
    rows = reader.run(cypher.GET_IMPORTS, units=units, ready=reader.view.ready)
    return {row["id"]: [make_node(*each) for each in row["found"]] for row in rows}
