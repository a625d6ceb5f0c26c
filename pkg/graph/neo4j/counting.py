"""Count what a graph on a server holds."""

from __future__ import annotations

import json

from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.listing import choose_count
from pkg.graph.neo4j.session import Reader
from pkg.graph.store import StoreStats
from pkg.model import Label, RelationType, Skip, Source


def count_graph(reader: Reader, sources: tuple[Source, ...]) -> StoreStats:
    """Count nodes and relationships of the sources that are complete, and list what was not fully read."""
    view = reader.view
    nodes = {label.value: _count(reader, cypher.COUNT_LABEL, label=label.value) for label in cypher.GRAPH_LABELS}
    relations = {each.value: _count(reader, choose_count(each), type=each.value) for each in RelationType}
    partial = [Skip(row["path"], row["reason"]) for row in reader.run(cypher.LIST_PARTIAL, ready=view.ready)]
    found = [view.sources[name] for name in view.ready]
    return StoreStats(
        generation=view.generation,
        encoder=view.encoder,
        dimension=view.dimension,
        sources=sources,
        nodes={name: count for name, count in sorted(nodes.items()) if count or name == Label.SOURCE.value},
        relations={name: count for name, count in sorted(relations.items()) if count},
        partial=tuple(partial),
        skipped=tuple(Skip(**skip) for source in found for skip in json.loads(source["skipped"])),
        stages={source["name"]: json.loads(source["stages"]) for source in found},
    )


def _count(reader: Reader, statement: str, **names: str) -> int:
    return int(reader.run(statement.format(**names), ready=reader.view.ready)[0]["count"])
