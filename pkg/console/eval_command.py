"""What `pkg eval humaneval`, `mbpp` and `report` do: run the evaluation with a bar, and write what came of it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from pkg.api import evaluate_code, report_evaluation
from pkg.console.progress import ProgressBar
from pkg.console.streams import choose_ask, emit, style_words
from pkg.console.tables import make_table
from pkg.errors import UsageError
from pkg.evaluation.code.solver_options import SolverOptions

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.evaluation.code.code_report import CodeReport, ColumnFigures

SOLVER_NAMES = ("form", "max_tokens", "samples", "temperature", "seed", "batch", "link", "source")


def run_code_evaluation(benchmark: str, store: str, as_json: bool, given: dict[str, Any]) -> None:
    """Run an evaluation, or go on with it, and write what came of each column; a UsageError without a model."""
    options = SolverOptions(**{name: given.pop(name) for name in SOLVER_NAMES})
    columns = tuple(name for names in given.pop("columns") for name in names.split(",") if name)
    name = f"{benchmark}+" if given.pop("plus") else benchmark
    model = given.pop("model")
    if model is None:
        raise UsageError(
            "no model; expected --model openai:NAME@URL, gguf:FILE or hf:FOLDER, PKG_MODEL, or model in pkg.toml"
        )
    with closing(ProgressBar()) as bar:
        report = evaluate_code(
            name, model, given.pop("data"), given.pop("out"), store=store, columns=columns, options=options,
            listen=lambda column, done, total, seconds: bar.count(f"answering, {column}", done, total),
            ask=choose_ask(), **given,
        )  # fmt: skip
    emit(as_json, report_lines(report), lambda: view_report(report))


def run_report(paths: Sequence[str], form: str, as_json: bool) -> None:
    """Make the report of runs anew from their records."""
    reports = [report_evaluation(path) for path in paths]
    if form == "markdown":
        from pkg.evaluation.code.code_report import write_markdown

        click.echo(write_markdown(reports), nl=False)
    elif form == "csv":
        click.echo(_write_csv(reports), nl=False)
    else:
        lines = (line for report in reports for line in report_lines(report))
        emit(as_json or form == "json", lines, lambda: (part for report in reports for part in view_report(report)))


def report_lines(report: CodeReport) -> Iterator[dict[str, Any]]:
    """Give what the run is of, a line for each column, and how many items which columns solve together."""
    yield {"type": "run", "path": report.path, **report.head}
    for each in report.columns:
        yield {"type": "column", **asdict(each)}
    yield {"type": "overlaps", "solved_by": dict(report.overlaps)}


def view_report(report: CodeReport) -> Iterator[RenderableType]:
    """Show a row for each column, beside that without context."""
    head = report.head
    yield style_words(f"{head['benchmark']}, {report.columns[0].items} items, {head['model']}", "bold")
    names = ("column", "solved", "95 %", "fixed", "broken", "p", "empty", "tokens")
    yield make_table(names, [_make_row(each) for each in report.columns], right=names[1:])
    rows = [row for each in report.columns if (row := _make_leak_row(each))]
    if rows:
        yield make_table(LEAK_COLUMNS, rows, right=LEAK_COLUMNS[1:])
    yield style_words(
        "fixed, broken: items solved here and not without context, and the reverse; p: McNemar, exact", "dim"
    )


LEAK_COLUMNS = ("without leaks", "leaked", "same", "solved", "fixed", "broken")


def _make_leak_row(each: ColumnFigures) -> list[str]:
    """Tell what is left without the items whose shown code gives their solution away; nothing where nobody looked."""
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
    """Write a row for each column of each run."""
    rows = [
        {"benchmark": report.head["benchmark"], "model": report.head["model"]}
        | {
            name: json.dumps(value) if isinstance(value, dict | tuple | list) else value
            for name, value in asdict(each).items()
        }
        for report in reports
        for each in report.columns
    ]
    written = io.StringIO()
    writer = csv.DictWriter(written, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def _flatten(value: object) -> object:
    return json.dumps(value) if isinstance(value, dict | tuple | list) else value
