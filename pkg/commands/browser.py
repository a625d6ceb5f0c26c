"""`pkg browser`: locate the Neo4j Browser of a graph, or write its saved queries and style sheet."""

from __future__ import annotations

from pathlib import Path

import click

from pkg.console.options import json_option, store_options
from pkg.console.streams import emit, view_lines
from pkg.graph.neo4j import guide


@click.command(epilog="Example:  pkg browser --store neo4j://localhost --open   or   pkg browser --export guide")
@store_options
@click.option("--http", metavar="PORT", help="Port or address of the page. Default: port 7474 of the graph's server.")
@click.option("--open", "is_opened", is_flag=True, help="Open the page in the system's browser with the first query.")
@click.option(
    "--export",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write the saved queries and the style sheet into a folder; needs no store.",
)
@json_option
def browser(store: str, http: str | None, is_opened: bool, folder: Path | None, as_json: bool) -> None:
    """Print the address of the Neo4j Browser for a graph in Neo4j.

    Also writes saved queries and a style sheet for it.
    """
    if folder is not None:
        files = guide.export_guide(folder)
        emit(as_json, ({"type": "file", "path": str(file)} for file in files), lambda: view_lines(*map(str, files)))
        return
    found = guide.read_guide(store, http)
    emit(as_json, guide.render_lines(found), lambda: view_lines(guide.render_text(found)))
    if is_opened:
        guide.open_page(found.start)
