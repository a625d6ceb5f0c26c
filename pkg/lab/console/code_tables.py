"""Results of an evaluation of code as JSON-ready lines and as tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pkg.console.streams import style_words
from pkg.console.tables import make_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.lab.evaluation.code.code_report import CodeReport, ColumnFigures


def report_lines(report: CodeReport) -> Iterator[dict[str, Any]]:
    """Yield the head of the run, a line for each column, and the counts of overlaps, topics, cases and tasks."""
    yield {"type": "run", "path": report.path, **report.head}
    for each in report.columns:
        yield {"type": "column", **asdict(each)}
    for kind, figures in report.kinds.items():
        for each in figures:
            yield {"type": "column", "kind": kind, **asdict(each)}
    yield {"type": "overlaps", "solved_by": dict(report.overlaps)}
    for kind, each_of_kind in (("topic", report.topics), ("cases", report.cases), ("task", report.tasks)):
        for found in each_of_kind:
            yield {"type": kind, **asdict(found)}
    if report.costs:
        yield {"type": "costs", **report.costs}


def view_report(report: CodeReport) -> Iterator[RenderableType]:
    """Yield a table with a row for each column, compared with that without context."""
    head = report.head
    yield style_words(f"{head['benchmark']}, {report.columns[0].items} items, {head['model']}", "bold")
    names = ("column", "solved", "95 %", "fixed", "broken", "p", "empty", "tokens")
    yield make_table(names, [_make_row(each) for each in report.columns], right=names[1:])
    for kind, figures in report.kinds.items():
        yield style_words(f"items whose true body {kind}: {figures[0].items}", "bold")
        yield make_table(names, [_make_row(each) for each in figures], right=names[1:])
    rows = [row for each in report.columns if (row := _make_leak_row(each))]
    if rows:
        yield make_table(LEAK_COLUMNS, rows, right=LEAK_COLUMNS[1:])
    yield style_words(
        "fixed, broken: items solved here and not without context, and the reverse; p: McNemar, exact", "dim"
    )


LEAK_COLUMNS = ("without leaks", "leaked", "same", "solved", "fixed", "broken")


def _make_leak_row(each: ColumnFigures) -> list[str]:
    """Return the results without items whose shown code contains their solution; empty if not searched for."""
    found = each.leaks
    if found is None:
        return []
    harm = ["", ""] if found.fixed is None else [str(found.fixed), str(found.broken)]
    return [each.title, str(found.leaked), str(found.same), f"{found.solved}/{found.items}", *harm]


def _make_row(each: ColumnFigures) -> list[Any]:
    low, high = each.interval
    paired = ["", "", ""] if each.fixed is None else [str(each.fixed), str(each.broken), f"{each.p_value:.3f}"]
    share = f"{each.solved}/{each.items} {100 * each.share:.1f} %"
    cells = [
        each.title,
        share,
        f"{100 * low:.0f}-{100 * high:.0f}",
        *paired,
        str(each.empty),
        f"{each.prompt_tokens:.0f}",
    ]
    return [style_words(cell) for cell in cells]
