"""Run `pkg eval humaneval`, `mbpp` and `report`: evaluate with a progress bar, and write the results."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pkg.console.progress import ProgressBar, say
from pkg.console.streams import choose_ask, emit, style_words
from pkg.console.tables import make_table
from pkg.errors import UsageError, count_things
from pkg.lab.evaluation.code.solver_options import SolverOptions
from pkg.lab.lab_api import evaluate_code, report_evaluation, write_report_page

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.lab.evaluation.code.code_report import CodeReport, ColumnFigures

SOLVER_NAMES = ("form", "max_tokens", "samples", "temperature", "seed", "batch", "link", "source")


def run_code_evaluation(benchmark: str, store: str, as_json: bool, given: dict[str, Any]) -> None:
    """Run or resume an evaluation, and write the results of each column; raises UsageError without a model."""
    options = SolverOptions(**{name: given.pop(name) for name in SOLVER_NAMES})
    name = f"{benchmark}+" if given.pop("plus") else benchmark
    model = check_model(given.pop("model"))
    with closing(ProgressBar()) as bar:
        report = evaluate_code(
            name, model, given.pop("data"), given.pop("out"), store=store, options=options,
            listen=lambda column, done, total, seconds: bar.count(f"answering, {column}", done, total),
            ask=choose_ask(), **given,
        )  # fmt: skip
    emit(as_json, report_lines(report), lambda: view_report(report))
    lost = sum(each.lost for each in report.columns)
    if lost:
        say(f"{count_things(lost, 'answer')} lost to internal errors, counted as wrong; run again to get them")


def check_model(model: str | None) -> str:
    """Return the name of a model; raises UsageError if it is None."""
    if model is None:
        raise UsageError(
            "no model; expected --model openai:NAME@URL, gguf:FILE or hf:FOLDER, PKG_MODEL, or model in pkg.toml"
        )
    return model


def run_report(
    paths: Sequence[str], form: str, as_json: bool, page: str | None, figures: str | None, data: str | None
) -> None:
    """Write the report of runs from their files."""
    reports = [report_evaluation(path, data) for path in paths]
    if page is not None or figures is not None:
        write_report_page(reports, page, figures)
    if form == "markdown":
        from pkg.lab.evaluation.report.markdown_report import write_markdown

        link = None if figures is None else lambda picture: f"{Path(figures).as_posix()}/{picture.name}.png"
        click.echo(write_markdown(reports, link), nl=False)
    elif form == "csv":
        click.echo(_write_csv(reports), nl=False)
    else:
        lines = (line for report in reports for line in report_lines(report))
        emit(as_json or form == "json", lines, lambda: (part for report in reports for part in view_report(report)))


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


def _write_csv(reports: Sequence[CodeReport]) -> str:
    """Write a row for each column of each run, with a cell for each class of failures and each topic."""
    rows = [_flatten(report, each) for report in reports for each in report.columns]
    names = list(dict.fromkeys(name for row in rows for name in row))
    written = io.StringIO()
    writer = csv.DictWriter(written, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def _flatten(report: CodeReport, column: ColumnFigures) -> dict[str, object]:
    figures = asdict(column)
    low, high = figures.pop("interval")
    pass_at, errors = figures.pop("pass_at"), figures.pop("errors")
    return {
        "benchmark": report.head["benchmark"],
        "model": report.head["model"],
        **figures,
        "low": low,
        "high": high,
        **{f"pass@{k}": share for k, share in pass_at.items()},
        **errors,
        **{f"{topic.topic}: tasks": topic.items for topic in report.topics},
        **{f"{topic.topic}: solved": topic.solved[column.column] for topic in report.topics},
    }
