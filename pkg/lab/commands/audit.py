"""`pkg audit`: find functions that contain solutions of a benchmark, and write them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from pkg.api import open_graph
from pkg.console.options import json_option, store_options
from pkg.console.progress import ProgressBar
from pkg.console.settings import decode_option, split_names
from pkg.console.streams import choose_ask, emit, style_words
from pkg.console.tables import make_table
from pkg.errors import UsageError, count_things
from pkg.lab.lab_api import audit_graph

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.lab.audit.leak_audit import AuditReport, LeakedFunction
    from pkg.model import Leak


COLUMNS = ("place", "task", "what", "alike")


@click.command(
    epilog="Example:  pkg audit --against humaneval,mbpp --data data   and then:  pkg query TEXT --exclude-leaks"
)
@store_options
@click.option(
    "--against", multiple=True, required=True, callback=split_names, metavar="NAME|FILE,...",
    help="Benchmark (humaneval, humaneval+, mbpp, mbpp+), or file of solutions: JSON lines or Python.",
)  # fmt: skip
@click.option(
    "--data", default=".", show_default=True, callback=decode_option, metavar="PATH",
    help="Folder with the official files of the benchmarks.",
)  # fmt: skip
@json_option
def audit(store: str, against: tuple[str, ...], data: str, as_json: bool) -> None:
    """Mark functions that contain solutions of a benchmark.

    A function does if its code is equal but for local names, docstrings and annotations, if name and argument count
    are equal, or if most of its tokens are those of the solution. Marks stay until the next audit against the same
    benchmark; queries exclude marked functions with --exclude-leaks.
    """
    if not against:
        raise UsageError("nothing to compare with; expected --against with humaneval, mbpp or a file")
    with open_graph(store, ask=choose_ask()) as graph, closing(ProgressBar()) as bar:
        reports = audit_graph(graph, against, data, listen=bar.count)
    lines = (line for report in reports for line in report_lines(report))
    emit(as_json, lines, lambda: (part for report in reports for part in view_report(report)))


def report_lines(report: AuditReport) -> Iterator[dict[str, Any]]:
    """Yield a line for each function and task whose solution it contains, then one with counts."""
    for each, leak in _list_pairs(report):
        place = {name: value for name, value in asdict(each).items() if name != "leaks"}
        yield {"type": "leak", **leak._asdict(), **place}
    counts = {"by_source": report.by_source, "by_kind": report.by_kind}
    told = {"compared": report.compared, "unread": report.unread, "unread_tasks": report.unread_tasks}
    yield {"type": "audit", **asdict(report.audit), "share": report.share, **counts, **told}


def view_report(report: AuditReport) -> Iterator[RenderableType]:
    """Yield a table of functions and tasks, the most similar first, and the counts."""
    audit = report.audit
    share = f"{audit.leaked} of {count_things(audit.tasks, 'task')} ({100 * report.share:.1f} %)"
    yield style_words(f"{audit.benchmark}: {count_things(audit.functions, 'function')} give {share} away", "bold")
    rows = [
        (
            f"{each.path}:{each.start_line}-{each.end_line} {each.qualname}",
            leak.task,
            leak.kind,
            f"{leak.similarity:.2f}",
        )
        for each, leak in sorted(_list_pairs(report), key=lambda pair: -pair[1].similarity)
    ]
    if rows:
        yield make_table(COLUMNS, rows, right=COLUMNS[3:])
        yield make_table(("source", "functions"), [(name, f"{count:,}") for name, count in report.by_source.items()])
        yield style_words(", ".join(f"{name} {count:,}" for name, count in report.by_kind.items()))
    yield style_words(f"of {count_things(report.compared, 'function')} in the graph", "dim")
    if report.unread:
        yield style_words(
            f"not compared: {count_things(report.unread, 'function')} that Python does not read", "yellow"
        )
    if report.unread_tasks:
        yield style_words(f"without a function to compare: {', '.join(report.unread_tasks)}", "yellow")


def _list_pairs(report: AuditReport) -> list[tuple[LeakedFunction, Leak]]:
    return [(each, leak) for each in report.functions for leak in each.leaks]
