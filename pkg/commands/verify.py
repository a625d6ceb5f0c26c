"""`pkg verify`: compare two stores, or the calls of a command with those of a graph."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from pkg.api import verify_stores
from pkg.console.options import find_database, json_option, name_database
from pkg.console.settings import combine, decode_option, source_setting, take_setting
from pkg.console.streams import choose_ask, emit, style_words
from pkg.console.tables import escape_markup, make_table
from pkg.default_stores import default_store
from pkg.errors import UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.graph.verify import Difference, Verification
    from pkg.trace.call_comparison import Missed, Precision, TraceReport, Unseen


SHOWN_CALLS = 20  # missed calls and unseen edges on a terminal; JSON output lists all


def _check_verify_options(ctx: click.Context, traced: bool, vectors: bool) -> None:
    if traced and vectors:
        raise UsageError("--trace compares calls and --vectors compares stores; give one of them")
    if not traced and ctx.get_parameter_source("source") is click.core.ParameterSource.COMMANDLINE:
        raise UsageError("--source narrows --trace; two stores are compared whole")


def _name_databases(stores: tuple[str, ...], database: str | None, expected: int) -> tuple[str, ...]:
    from pkg.graph.neo4j.address import is_server

    if len(stores) != expected:
        wanted = "one store with --trace" if expected == 1 else "two stores to compare"
        form = " ".join(["--store ADDRESS"] * expected)
        raise UsageError(f"expected {wanted}, seen {len(stores)}; write: {form}")
    if database is None:
        return stores
    lacking = {each for each in stores if is_server(each) and not find_database(each)}
    if not lacking:
        which = "neither store" if expected == 2 else "no server"
        raise UsageError(f"--database {database} fits {which}; expected a neo4j://host that names no database")
    return tuple(name_database(each, database) if each in lacking else each for each in stores)


def verify_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `pkg verify`; the command receives `stores`: two addresses, or one with --trace."""

    @combine(
        click.option(
            "--store",
            "stores",
            multiple=True,
            metavar="ADDRESS",
            help="Address of a graph; given twice, or once with --trace.",
        ),
        click.option("--database", metavar="NAME", help="Database of the Neo4j servers whose address names none."),
        click.option("--vectors", is_flag=True, help="Also compare the vectors."),
        click.option(
            "--trace",
            "command",
            callback=decode_option,
            metavar="CMD",
            help="Run a command, such as your tests, and compare its calls with those of one graph.",
        ),
        source_setting(help="With --trace: source to compare. Default: that of the current folder."),
    )
    @wraps(command)
    def run(**options: Any) -> Any:
        ctx = click.get_current_context()
        stores, database, traced = options.pop("stores"), options.pop("database"), options["command"] is not None
        _check_verify_options(ctx, traced, options["vectors"])
        if traced and not stores:
            stores = (os.environ.get("PKG_STORE") or take_setting(ctx, "store") or default_store(),)
        return command(stores=_name_databases(stores, database, 1 if traced else 2), **options)

    return run


@click.command(epilog="Example:  pkg verify --store sqlite:///graph.db --store neo4j://host")
@verify_options
@json_option
def verify(stores: tuple[str, ...], vectors: bool, command: str | None, source: str | None, as_json: bool) -> None:
    """Compare two stores, or the calls of a run with the graph.

    The stores are compared node by node and relationship by relationship; graphs of the same input are equal in every
    store. Exits with code 1 if they differ, and lists the first differences.

    With --trace, runs a command in the current folder, such as the tests of a built source, and compares its calls with
    the CALLS relationships of one store:  pkg verify --trace "python -m pytest -q"
    """

    if command is not None:
        _trace(stores[0], command, source, as_json)
        return
    a, b = stores
    found = verify_stores(a, b, vectors=vectors, ask=choose_ask())
    emit(as_json, verification_lines(found), lambda: view_verification(found))
    if not found.is_equal:
        raise SystemExit(1)


def _trace(store: str, command: str, source: str | None, as_json: bool) -> None:
    from pkg.api import open_graph

    with open_graph(store, ask=choose_ask()) as graph:
        found = graph.trace(command, source=source)
    emit(as_json, trace_lines(found), lambda: view_trace(found))


def verification_lines(found: Verification) -> Iterator[dict[str, Any]]:
    """Yield one line for each difference, then the line of counts."""
    for each in found.differences:
        yield {"type": "difference", **asdict(each)}
    counts = asdict(found)
    del counts["differences"]
    yield {"type": "verification", "equal": found.is_equal, **counts}


def view_verification(found: Verification) -> Iterator[RenderableType]:
    """Render the counts of both stores by kind, and the first differences."""
    for title, tallies in (("node", found.nodes), ("relationship", found.relations)):
        rows = [(each.name, f"{each.a:,}", f"{each.b:,}", f"{each.different:,}") for each in tallies]
        yield make_table((title, "A", "B", "different"), rows)
    if found.differences:
        differences = [
            (each.label, each.id, each.path, each.qualname, _say_difference(each)) for each in found.differences
        ]
        yield make_table(("difference", "id", "path", "name", "what"), differences)
    if found.different > len(found.differences):
        yield f"and {found.different - len(found.differences):,} more"
    result = f"{found.different:,} differences between" if found.different else "no difference between"
    yield f"[bold]{result}[/] A, {escape_markup(found.a)}, and B, {escape_markup(found.b)}"


def _say_difference(difference: Difference) -> str:
    if difference.where == "both":
        return f"other {', '.join(difference.properties)}"
    return f"only in {difference.where.upper()}"


def trace_lines(report: TraceReport) -> Iterator[dict[str, Any]]:
    """Yield one line for each missed call, one for each unseen edge, then the line of numbers."""
    for missed in report.missed:
        yield {"type": "missed", **asdict(missed)}
    for unseen in report.unseen:
        yield {"type": "unseen", **asdict(unseen)}
    facts = asdict(report)
    del facts["missed"], facts["unseen"]
    for name in ("missed_reasons", "unseen_reasons", "left_out"):
        facts[name] = dict(facts[name])
    yield {"type": "trace", **facts}


def view_trace(report: TraceReport) -> Iterator[RenderableType]:
    """Render precision, recall and the reasons as tables, then the first missed calls and unseen edges."""
    yield make_table(("edges whose line ran", "ran", "seen", "precision"), map(_say_precision, report.precision))
    yield make_table(("certain and likely, by rule", "ran", "seen", "precision"), map(_say_precision, report.rules))
    rows = [
        (each.name, f"{each.calls:,}", f"{each.bound:,}", _share(each.bound, each.calls), f"{each.possible:,}",
         _share(each.bound + each.possible, each.calls))
        for each in report.recall
    ]  # fmt: skip
    yield make_table(("calls seen", "calls", "bound", "recall", "possible", "recall with possible"), rows)
    yield from _view_counts("direct calls missed, by reason", report.missed_reasons)
    yield from _view_counts("certain and likely edges not seen", report.unseen_reasons)
    yield from _view_counts("left out", report.left_out)
    yield from _view_first("missed call", "reason", [(_say_call(each), each.reason) for each in report.missed])
    unseen = [(_say_call(each), f"{each.confidence}, {each.rule}: {each.instead}") for each in report.unseen]
    yield from _view_first("edge not seen", "what it is, and what happened", unseen)
    for copy in report.copies:
        yield style_words(f"not compared: {copy} ran, another copy of what {report.source} has", "yellow")
    yield style_words(
        f"{report.source} in {report.root}: the command ended with exit code {report.exit_code};"
        f" {report.processes:,} processes traced, Python {', '.join(report.python)}, by {', '.join(report.hooks)}"
    )


def _say_precision(each: Precision) -> tuple[str, ...]:
    return each.name, f"{each.ran:,}", f"{each.seen:,}", _share(each.seen, each.ran)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def _say_call(call: Missed | Unseen) -> str:
    return f"{call.path}:{call.line} {call.caller} -> {call.callee_path} {call.callee}"


def _view_counts(title: str, counts: Sequence[tuple[str, int]]) -> Iterator[RenderableType]:
    if counts:
        yield make_table((title, "count"), [(reason, f"{count:,}") for reason, count in counts])


def _view_first(title: str, second: str, rows: Sequence[tuple[str, ...]]) -> Iterator[RenderableType]:
    if rows:
        yield make_table((title, second), rows[:SHOWN_CALLS])
    if len(rows) > SHOWN_CALLS:
        yield style_words(f"and {len(rows) - SHOWN_CALLS:,} more; --json lists all")
