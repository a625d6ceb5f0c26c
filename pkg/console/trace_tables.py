"""Show how traced calls compare with the graph: as JSON-ready lines, as tables for a person. Nothing here prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pkg.console.streams import show_controls

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from pkg.evaluation.trace.comparison import Missed, Precision, TraceReport, Unseen


SHOWN = 20  # missed calls, and edges not seen, on a terminal; the JSON form has all


def trace_lines(report: TraceReport) -> Iterator[dict[str, Any]]:
    """Give one line a missed call, one line an edge that was not seen, then the line of numbers."""
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
    """Show precision, recall and the reasons as tables, then the first missed calls and edges not seen."""
    yield _table("edges whose line ran", ("ran", "seen", "precision"), map(_say_precision, report.precision))
    yield _table("certain and likely, by rule", ("ran", "seen", "precision"), map(_say_precision, report.rules))
    rows = [
        (each.name, f"{each.calls:,}", f"{each.bound:,}", _share(each.bound, each.calls), f"{each.possible:,}",
         _share(each.bound + each.possible, each.calls))
        for each in report.recall
    ]  # fmt: skip
    yield _table("calls seen", ("calls", "bound", "recall", "possible", "recall with possible"), rows)
    yield from _view_counts("direct calls missed, by reason", report.missed_reasons)
    yield from _view_counts("certain and likely edges not seen", report.unseen_reasons)
    yield from _view_counts("left out", report.left_out)
    yield from _view_first("missed call", "reason", [(_say_call(each), each.reason) for each in report.missed])
    unseen = [(_say_call(each), f"{each.confidence}, {each.rule}: {each.instead}") for each in report.unseen]
    yield from _view_first("edge not seen", "what it is, and what happened", unseen)
    yield _text(
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
        yield _table(title, ("count",), [(reason, f"{count:,}") for reason, count in counts])


def _view_first(title: str, second: str, rows: Sequence[tuple[str, ...]]) -> Iterator[RenderableType]:
    if rows:
        yield _table(title, (second,), rows[:SHOWN])
    if len(rows) > SHOWN:
        yield _text(f"and {len(rows) - SHOWN:,} more; --json lists all")


def _table(first: str, columns: Sequence[str], rows: Any) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in (first, *columns):
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*(Text(show_controls(cell)) for cell in row))
    return table


def _text(words: str) -> RenderableType:
    from rich.text import Text

    return Text(show_controls(words))
