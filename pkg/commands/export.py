"""`pkg export`: write a graph as JSON lines, or as CSV files for Neo4j."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pkg.api import open_graph
from pkg.console.options import open_output, store_options
from pkg.console.streams import choose_ask
from pkg.errors import UsageError


@click.command(epilog="Example:  pkg export > graph.jsonl   and then:  pkg build graph.jsonl --from-export")
@store_options
@click.option("--vectors", is_flag=True, help="Include the vectors.")
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Output file. Default: standard output.")
@click.option(
    "--neo4j-admin",
    "bulk",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Write CSV files for neo4j-admin database import into a new or empty folder.",
)
def export(store: str, vectors: bool, output: str | None, bulk: str | None) -> None:
    """Write the whole graph as sorted JSON lines.

    Equal graphs give equal bytes.
    """
    if bulk is not None:
        if vectors or output:
            raise UsageError("--neo4j-admin excludes --vectors and --output; its files always hold the vectors")
        _export_bulk(store, bulk)
        return
    with open_graph(store, ask=choose_ask()) as graph, open_output(output, graph.store.address) as file:
        for line in graph.export(vectors=vectors):
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
        file.flush()


def _export_bulk(store: str, folder: str) -> None:

    with open_graph(store, ask=choose_ask()) as graph:
        report = graph.export_bulk(folder, jobs=0)
    nodes, relations = sum(report.nodes.values()), sum(report.relations.values())
    click.echo(f"{nodes:,} nodes, {relations:,} relationships; next: {Path(folder, 'README.md')}", err=True)
