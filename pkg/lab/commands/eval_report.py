"""`pkg eval report`: write the results of runs as tables, a page, or files of figures."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pkg.console.options import json_option
from pkg.console.progress import say
from pkg.console.settings import decode_option, decode_options
from pkg.console.streams import emit
from pkg.errors import UsageError, count_things
from pkg.lab.commands.eval_code import report_lines, view_report
from pkg.lab.commands.report_output import view_sections, write_files
from pkg.lab.lab_api import report_evaluation, write_report_page

if TYPE_CHECKING:
    from pkg.lab.evaluation.code.code_report import CodeReport, ConditionFigures
    from pkg.lab.evaluation.code.forgetting import BenchmarkChange
    from pkg.lab.evaluation.report.report_format import Picture


@click.command("report", epilog="Example:  pkg eval report run --format markdown --html report.html > report.md")
@click.argument("paths", metavar="FOLDER...", nargs=-1, required=True, callback=decode_options)
@click.option(
    "--format", "form", type=click.Choice(("table", "json", "csv", "markdown")), default="table", show_default=True,
    help="Output format: a table, JSON lines, CSV, or the tables of the paper in Markdown.",
)  # fmt: skip
@click.option(
    "--html", "page", callback=decode_option, metavar="FILE", help="Write a page with all tables and figures."
)
@click.option(
    "--figures", callback=decode_option, metavar="FOLDER",
    help="Write the figures as PNG and SVG, to which Markdown links.",
)  # fmt: skip
@click.option(
    "--data", callback=decode_option, metavar="PATH",
    help="File of the benchmark, or its folder, for the topics of older runs.",
)  # fmt: skip
@click.option(
    "--forgetting", is_flag=True,
    help="Compare the first run of each benchmark, before tuning, with the later ones: pass@1 and pass@10.",
)  # fmt: skip
@click.option(
    "--answers", callback=decode_option, metavar="FILE",
    help="Write the first answers with their hidden tests, for pkg judge correctness; needs --data.",
)  # fmt: skip
@json_option
def report(
    paths: tuple[str, ...],
    form: str,
    page: str | None,
    figures: str | None,
    data: str | None,
    forgetting: bool,
    answers: str | None,
    as_json: bool,
) -> None:
    """Compute all results of runs from their records.

    Needs no model and runs no code. Several runs are shown side by side, as in the tables of the paper, with its
    published results. With --forgetting: pkg eval report before after --forgetting.
    """
    if answers is not None:
        _write_answers(paths, data, answers)
    if forgetting:
        _report_forgetting(paths, form, page, figures, as_json or form == "json")
        return
    reports = [report_evaluation(path, data) for path in paths]
    if page is not None or figures is not None:
        write_report_page(reports, page, figures)
    if form == "markdown":
        from pkg.lab.evaluation.report.code_sections import list_sections
        from pkg.lab.evaluation.report.report_format import render_markdown

        click.echo(render_markdown(list_sections(reports), _make_link(figures)), nl=False)
    elif form == "csv":
        click.echo(_write_csv(reports), nl=False)
    else:
        lines = (line for report in reports for line in report_lines(report))
        emit(as_json or form == "json", lines, lambda: (part for report in reports for part in view_report(report)))


def _write_answers(paths: Sequence[str], data: str | None, output: str) -> None:
    """Write the answers of one run for a judge of correctness; raises UsageError for several runs or without data."""
    from pkg.lab.datasets.dataset_rows import write_rows
    from pkg.lab.evaluation.correctness_split import list_run_answers

    if data is None or len(paths) > 1:
        raise UsageError("--answers writes the answers of one run with the tests of its benchmark; add --data PATH")
    rows = list(list_run_answers(Path(paths[0]), Path(data)))
    write_rows(rows, Path(output))
    say(f"{count_things(len(rows), 'row')} written to {output}")


def _make_link(figures: str | None) -> Callable[[Picture], str] | None:
    """Return the function that makes the address of a figure; None without a folder of figures."""
    return None if figures is None else lambda picture: f"{Path(figures).as_posix()}/{picture.name}.png"


def _report_forgetting(paths: Sequence[str], form: str, page: str | None, figures: str | None, as_json: bool) -> None:
    """Write the comparison of runs before and after tuning."""
    from pkg.lab.evaluation.code.forgetting import compare_runs
    from pkg.lab.evaluation.report.forgetting_tables import TITLE, list_forgetting_sections
    from pkg.lab.evaluation.report.report_format import render_markdown

    changes = compare_runs([Path(path) for path in paths])
    sections = list(list_forgetting_sections(changes))
    write_files(TITLE, sections, page, figures)
    if form == "markdown":
        click.echo(render_markdown(sections, _make_link(figures)), nl=False)
    elif form == "csv":
        click.echo(_write_rows([row for change in changes for row in _flatten_change(change)]), nl=False)
    else:
        lines = [{"type": "forgetting", **asdict(change)} for change in changes]
        emit(as_json, lines, lambda: view_sections(sections))


def _flatten_change(change: BenchmarkChange) -> Iterator[dict[str, object]]:
    """Yield a row for each k."""
    figures = asdict(change)
    notes, passes = figures.pop("notes"), figures.pop("passes")
    for found in passes:
        low, high = found.pop("interval")
        yield {**figures, **found, "low": low, "high": high, "notes": "; ".join(notes)}


def _write_csv(reports: Sequence[CodeReport]) -> str:
    """Write a row for each column of each run, with a cell for each class of failures and each topic."""
    return _write_rows([_flatten(report, each) for report in reports for each in report.columns])


def _write_rows(rows: Sequence[dict[str, object]]) -> str:
    """Write rows as CSV, with all names of their cells in the head."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    written = io.StringIO()
    writer = csv.DictWriter(written, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def _flatten(report: CodeReport, column: ConditionFigures) -> dict[str, object]:
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
