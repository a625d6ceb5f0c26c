"""List, follow, count and check the nodes and relationships of a graph on a server."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, starmap
from typing import Any

from pkg.graph.graph_records import export_node, read_errors, read_skips
from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.cypher import FRAGMENT, HOLDS, LINKS, STRUCTURE_TYPES
from pkg.graph.neo4j.nodes import make_edge, make_node, make_unfolded
from pkg.graph.neo4j.session import Reader
from pkg.graph.sqlite_rows import unpack_text
from pkg.graph.store import StoreStats
from pkg.model import EMBEDDED_LABELS, Edge, Label, Node, RelationType, Skip, Source, Unfolded

_EXPORTS = {Label.CALL: cypher.EXPORT_CALLS, **dict.fromkeys(cypher.UNIT_LABELS, cypher.EXPORT_UNITS)}


def list_nodes(reader: Reader, label: Label, ready: list[str]) -> Iterator[Node]:
    """Yield the nodes of a label in some sources, unordered and without vectors."""
    return starmap(make_node, reader.stream(cypher.LIST_NODES, label=label.value, ready=ready))


def list_edges(reader: Reader, kind: RelationType, ready: list[str]) -> Iterator[Edge]:
    """Yield the distinct relationships of a type, sorted; rows that share a body have equal ones."""
    rows = reader.stream(cypher.EXPORT_TYPE.format(type=kind.value), ready=ready)
    return (edge for edge, _ in groupby(make_edge(kind.value, *row) for row in rows))


def choose_count(kind: RelationType) -> str:
    """Return the statement that counts a type; resolved relationships may be repeated for several rows."""
    return cypher.COUNT_LINKS if kind in cypher.LINK_ENDS else cypher.COUNT_TYPE


def export_label(reader: Reader, label: Label, vectors: bool, ready: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the export lines of the nodes of a label, sorted by id."""
    for row in reader.stream(_EXPORTS.get(label, cypher.EXPORT_LABEL), label=label.value, ready=ready):
        has_vector = vectors and label in EMBEDDED_LABELS
        line = export_node(make_node(*row[:4]), row["node"]["embedding"] if has_vector else None)
        if label in cypher.UNIT_LABELS:
            texts = ((number, unpack_text(packed)) for number, packed in row["parts"] if packed is not None)
            line["parts"] = [(number, text.decode("utf-8", "surrogateescape")) for number, text in texts]
        yield line


Found = list[Any]  # the values of one node in a record


def follow_edges(
    reader: Reader, ids: Iterable[str], types: Sequence[RelationType], direction: str, depth: int
) -> tuple[set[str], set[Edge]]:
    """Follow relationships from nodes for some steps; return the existing ids and the relationships."""
    edges: set[Edge] = set()
    known: set[str] = set()
    seen: set[str] = set()
    frontier = set(ids)
    statement = cypher.list_edges_at(types, direction)
    for step in range(depth):
        rows = reader.run(statement, **reader.make_id_parameters(frontier), ready=reader.view.ready)
        if not step:
            known = {row["id"] for row in rows}
        found = reader.remember_elements(edge for row in rows for edge in row["edges"])
        edges |= {make_edge(*facts) for _, *facts in found}
        seen |= frontier
        frontier = {end for end, *_ in found} - seen
        if not frontier:
            break
    return known, edges


def find_unfolded(reader: Reader, ids: Iterable[str]) -> tuple[list[tuple[Unfolded, Found, Found | None]], list[Found]]:
    """Find the existing ones of some functions and blocks, with their blocks and links.

    Each has its record of GET_COMMON and, if it is in rows, of GET_CALLS; the second list has the records of GET_COMMON
    of their callees, each after its id. A snapshot can cache them.
    """
    record = reader.run(cypher.UNFOLD, **reader.make_id_parameters(ids), ready=reader.view.ready)[0]
    unfolded = [
        (make_unfolded(node, blocks, reader.remember_elements(links)), node, calls)
        for node, blocks, links, calls in record["unfolded"]
    ]
    return unfolded, record["found"]


def find_imports(reader: Reader, names: Mapping[str, Collection[str]]) -> dict[str, list[Node]]:
    """Find the imports of files and rows that bind any of their names; unknown ids are ignored."""
    units = [[unit, list(names[unit])] for unit in sorted(names) if unit.isascii()]
    rows = reader.run(cypher.GET_IMPORTS, units=units, ready=reader.view.ready)
    return {row["id"]: [make_node(*each) for each in row["found"]] for row in rows}


def count_graph(reader: Reader, sources: Sequence[Source]) -> StoreStats:
    """Return the statistics of some sources; incomplete ones are not counted."""
    view, names = reader.view, {each.name for each in sources}
    ready = [name for name in view.ready if name in names]
    nodes = {label.value: _count(reader, ready, cypher.COUNT_LABEL, label=label.value) for label in cypher.GRAPH_LABELS}
    relations = {each.value: _count(reader, ready, choose_count(each), type=each.value) for each in RelationType}
    partial = [Skip(row["path"], row["reason"]) for row in reader.run(cypher.LIST_PARTIAL, ready=ready)]
    found = [view.sources[name] for name in ready]
    return StoreStats(
        generation=view.generation,
        encoder=view.encoder,
        dimension=view.dimension,
        sources=tuple(sources),
        nodes={name: count for name, count in sorted(nodes.items()) if count or name == Label.SOURCE.value},
        relations={name: count for name, count in sorted(relations.items()) if count},
        partial=tuple(partial),
        skipped=tuple(skip for source in found for skip in read_skips(source["skipped"])),
        errors=tuple(error for source in found for error in read_errors(source["skipped"])),
        stages={source["name"]: json.loads(source["stages"]) for source in found},
    )


def _count(reader: Reader, ready: Sequence[str], statement: str, **names: str) -> int:
    return int(reader.run(statement.format(**names), ready=ready)[0]["count"])


_PIECES = "|".join(label.value for label in cypher.PIECE_LABELS)
_EMBEDDED = "|".join(label.value for label in EMBEDDED_LABELS)
CHECKS = {
    "pieces without a fragment": f"""MATCH (n:{_PIECES}) WHERE n.source IN $ready
        AND NOT EXISTS {{ MATCH (f:{FRAGMENT} {{id: n.fragment}}) }} RETURN count(n) AS count""",
    "fragments without terms; run pkg build again": f"""MATCH (f:{FRAGMENT}) WHERE f.source IN $ready
        AND f.terms IS NULL RETURN count(f) AS count""",
    "fragments without a file or row": f"""MATCH (f:{FRAGMENT}) WHERE f.source IN $ready
        AND NOT EXISTS {{ ()-[:{HOLDS}]->(f) }} RETURN count(f) AS count""",
    "files or rows without a source": """MATCH (u:File|Row) WHERE u.source IN $ready
        AND NOT EXISTS { (:Source)-[:CONTAINS]->(u) } RETURN count(u) AS count""",
    "pieces that nothing contains": f"""MATCH (n:{_PIECES}) WHERE n.source IN $ready
        AND NOT EXISTS {{ ()-[:{STRUCTURE_TYPES}]->(n) }} RETURN count(n) AS count""",
    "embedded nodes without a vector": f"""MATCH (n:{_EMBEDDED}) WHERE n.source IN $ready
        AND n.embedding IS NULL RETURN count(n) AS count""",
    "functions without a name node": """MATCH (f:Function) WHERE f.source IN $ready
        AND COUNT { (f)<-[:NAMES]-() } = 0 RETURN count(f) AS count""",
    "function names without a function": """MATCH (n:FunctionName) WHERE n.source IN $ready
        AND NOT EXISTS { (n)-[:NAMES]->(:Function) } RETURN count(n) AS count""",
    "calls and libraries that nothing refers to": """MATCH (n:Call|Library) WHERE n.source IN $ready
        AND NOT EXISTS { (n)<-[:UNRESOLVED|RESOLVES_TO]-() } RETURN count(n) AS count""",
    "links without a file or row": f"""MATCH (l:{LINKS}) WHERE l.source IN $ready
        AND NOT EXISTS {{ MATCH (u:File|Row) WHERE u.id = l.id }} RETURN count(l) AS count""",
}


def find_faults(reader: Reader) -> list[str]:
    """Return each fault found, with its count."""
    counts = {fault: reader.run(statement, ready=reader.view.ready)[0]["count"] for fault, statement in CHECKS.items()}
    return [f"{count} {fault}" for fault, count in counts.items() if count]
