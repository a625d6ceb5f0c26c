"""`pkg stats`: count the contents of a graph, and show the costs of its build (P-36, A-18)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pkg.console.freshness_notes import open_answering
from pkg.console.options import explain_option, json_option, store_options
from pkg.console.settings import source_setting
from pkg.console.streams import emit, style_words
from pkg.console.tables import make_table
from pkg.errors import count_things
from pkg.graph.store import choose_sources
from pkg.quoting.hidden_characters import spell_line
from pkg.retrieval.deps.neighbours import list_overflows
from pkg.service.operations import answer_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.graph.store import StoreStats
    from pkg.model import Audit


SHOWN_OVERFLOWS = 20  # in a table; JSON has all

AUDIT_COLUMNS = ("audited against", "tasks", "leaked", "functions", "")


@click.command(epilog="Example:  pkg stats --json")
@store_options
@source_setting(help="Count only this source; sizes on disk and audits are those of the whole graph.")
@explain_option
@json_option
def stats(store: str, source: str | None, explain: bool, as_json: bool) -> None:
    """List sources, skipped files and costs; count nodes and calls.

    Costs are the CPU-seconds of each stage of a build, and the bytes on disk; as text they need --explain.
    """
    with open_answering(store, False, source) as (graph, chosen):
        choose_sources(graph.store, chosen)  # refuses an unknown one
        found = replace(graph.stats(chosen), overflows=list_overflows(graph.store, chosen))
    emit(as_json, [answer_lines.stats_line(found)], lambda: view_stats(found, explain))


def view_stats(stats: StoreStats, explain: bool = False) -> Iterator[RenderableType]:
    """Render counts and skipped items; with `explain` also the cost of each stage and part (P-36)."""
    tables = [*_list_counts(stats), *(_list_costs(stats) if explain else ())]
    for table in tables:
        yield table
        yield ""
    yield style_words(describe_stats(stats) + ("" if explain else "; see --explain"), "dim")


def _list_counts(stats: StoreStats) -> Iterator[RenderableType]:
    yield make_table(("source", "kind", "root"), [(each.name, each.kind, each.root) for each in stats.sources])
    yield _make_counts("node", stats.nodes)
    facts = {"CHILD between facts": stats.fact_relations} if "Fact" in stats.nodes else {}
    yield _make_counts("relationship", {**stats.relations, **facts})
    if stats.audits:
        yield make_table(AUDIT_COLUMNS, [_tell_audit(each, stats) for each in stats.audits], right=AUDIT_COLUMNS[1:4])
    for title, skips in (("partly understood", stats.partial), ("left out", stats.skipped)):
        if skips:
            yield make_table((title, "reason"), [(skip.path, skip.reason) for skip in skips])
    if stats.errors:
        title = f"{count_things(len(stats.errors), 'internal error')} in"
        rows = [(each.place, each.stage, each.exception) for each in stats.errors]
        yield make_table((title, "stage", "exception"), rows)


def _list_costs(stats: StoreStats) -> Iterator[RenderableType]:
    for source, stages in stats.stages.items():
        rows = [(name, f"{value:.2f}") for name, value in stages.items()]
        yield make_table((f"stage of {source}", "CPU-seconds"), rows, right=("CPU-seconds",))
    for title, sizes in (("part", stats.parts), ("file", stats.bytes)):
        if sizes:  # a server does not report them
            yield _make_counts(title, sizes, "bytes")
    if stats.overflows:
        causes = {each.variable: each.calls for each in stats.overflows[:SHOWN_OVERFLOWS]}
        yield _make_counts("too many values", causes, "calls not resolved")


def _make_counts(title: str, counts: Mapping[str, int], unit: str = "count") -> RenderableType:
    return make_table((title, unit), [(name, f"{count:,}") for name, count in counts.items()], right=(unit,))


def describe_stats(stats: StoreStats) -> str:
    """Return the state of a graph in one line: generation, encoder, size, build time and unresolved calls."""
    parts = [f"generation {stats.generation}", f"encoder {spell_line(stats.encoder)}"]
    seconds = sum(sum(stages.values()) for stages in stats.stages.values())
    parts += [f"{sum(stats.bytes.values()) / 1e6:,.1f} MB"] * bool(stats.bytes)
    parts += [f"built in {seconds:,.1f} CPU-seconds"] * bool(seconds)
    calls = stats.nodes.get("Call", 0)
    parts += [f"{count_things(calls, 'call')} could not be resolved"] * bool(calls)
    return ", ".join(parts)


def _tell_audit(audit: Audit, stats: StoreStats) -> tuple[str, ...]:
    is_old = audit.benchmark in stats.outdated_audits
    state = "older than the graph; run pkg audit again" if is_old else ""
    return audit.benchmark, f"{audit.tasks:,}", f"{audit.leaked:,}", f"{audit.functions:,}", state
