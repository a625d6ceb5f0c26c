"""`pkg stats`: count the contents of a graph, and show the costs of its build (P-36)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pkg.api import open_graph
from pkg.console.options import json_option, store_options
from pkg.console.streams import choose_ask, emit
from pkg.console.tables import escape_markup, make_table
from pkg.errors import count_things
from pkg.retrieval.deps.unbound import list_overflows
from pkg.service.operations import answer_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.graph.store import StoreStats
    from pkg.model import Audit


SHOWN_OVERFLOWS = 20  # in a table; JSON has all

AUDIT_COLUMNS = ("audited against", "tasks", "leaked", "functions", "")


@click.command(epilog="Example:  pkg stats --json")
@store_options
@json_option
def stats(store: str, as_json: bool) -> None:
    """Count nodes and relationships; list skipped files and costs.

    Costs are the CPU-seconds of each stage of a build, and the bytes on disk.
    """
    with open_graph(store, ask=choose_ask()) as graph:
        found = replace(graph.stats(), overflows=list_overflows(graph.store))
    emit(as_json, [answer_lines.stats_line(found)], lambda: view_stats(found))


def view_stats(stats: StoreStats) -> Iterator[RenderableType]:
    """Render counts, skipped items, and the cost of each stage (P-36)."""
    yield f"generation {stats.generation}, encoder {escape_markup(stats.encoder)} ({stats.dimension} dimensions)"
    yield make_table(("source", "kind", "root"), [(each.name, each.kind, each.root) for each in stats.sources])
    yield make_table(("node", "count"), [(name, f"{count:,}") for name, count in stats.nodes.items()])
    yield make_table(("relationship", "count"), [(name, f"{count:,}") for name, count in stats.relations.items()])
    for source, stages in stats.stages.items():
        yield make_table(
            (f"stage of {source}", "CPU seconds"), [(name, f"{value:.2f}") for name, value in stages.items()]
        )
    for title, sizes in (("part", stats.parts), ("file", stats.bytes)):
        if sizes:  # a server does not report them
            yield make_table((title, "bytes"), [(name, f"{size:,}") for name, size in sizes.items()])
    if stats.audits:
        yield make_table(AUDIT_COLUMNS, [_tell_audit(each, stats) for each in stats.audits], right=AUDIT_COLUMNS[1:4])
    for title, skips in (("partly understood", stats.partial), ("left out", stats.skipped)):
        if skips:
            yield make_table((title, "reason"), [(skip.path, skip.reason) for skip in skips])
    if stats.overflows:
        causes = [(each.variable, f"{each.calls:,}") for each in stats.overflows[:SHOWN_OVERFLOWS]]
        yield make_table(("too many values", "calls not bound"), causes)
    if stats.errors:
        title = f"{count_things(len(stats.errors), 'internal error')} in"
        rows = [(each.place, each.stage, each.exception) for each in stats.errors]
        yield make_table((title, "stage", "exception"), rows)


def _tell_audit(audit: Audit, stats: StoreStats) -> tuple[str, ...]:
    is_old = audit.benchmark in stats.outdated_audits
    state = "older than the graph; run pkg audit again" if is_old else ""
    return audit.benchmark, f"{audit.tasks:,}", f"{audit.leaked:,}", f"{audit.functions:,}", state
