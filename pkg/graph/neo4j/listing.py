"""Go through all nodes of a label or all relationships of a type, as they come from the server."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, starmap
from typing import Any

from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.nodes import make_edge, make_node
from pkg.graph.neo4j.session import Reader
from pkg.graph.rows import unpack_text
from pkg.graph.texts import export_node
from pkg.model import EMBEDDED_LABELS, Edge, Label, Node, RelationType

_EXPORTS = {Label.CALL: cypher.EXPORT_CALLS, **dict.fromkeys(cypher.UNIT_LABELS, cypher.EXPORT_UNITS)}


def list_nodes(reader: Reader, label: Label, ready: list[str]) -> Iterator[Node]:
    """Give the nodes of a label in some sources, in no order and without vectors."""
    return starmap(make_node, reader.stream(cypher.LIST_NODES, label=label.value, ready=ready))


def list_edges(reader: Reader, kind: RelationType, ready: list[str]) -> Iterator[Edge]:
    """Give the relationships of a type in order, equal ones once: of rows that share a body, each has its own."""
    rows = reader.stream(cypher.EXPORT_TYPE.format(type=kind.value), ready=ready)
    return (edge for edge, _ in groupby(make_edge(kind.value, *row) for row in rows))


def choose_count(kind: RelationType) -> str:
    """Choose the statement that counts a type: what was resolved may be there for each of several rows."""
    return cypher.COUNT_LINKS if kind in cypher.LINK_ENDS else cypher.COUNT_TYPE


def export_label(reader: Reader, label: Label, vectors: bool, ready: list[str]) -> Iterator[dict[str, Any]]:
    """Give the lines of an export for the nodes of a label, in the order of their ids."""
    for row in reader.stream(_EXPORTS.get(label, cypher.EXPORT_LABEL), label=label.value, ready=ready):
        has_vector = vectors and label in EMBEDDED_LABELS
        line = export_node(make_node(*row[:4]), row["node"]["embedding"] if has_vector else None)
        if label in cypher.UNIT_LABELS:
            line["parts"] = [(number, _decode(text)) for number, text in row["parts"] if text is not None]
        yield line


def _decode(packed: bytes) -> str:
    return unpack_text(packed).decode("utf-8", "surrogateescape")
