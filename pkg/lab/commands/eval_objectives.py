"""`pkg eval objectives`: combine runs of code and of preferences into one score for each model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from pkg.console.options import json_option
from pkg.console.progress import say
from pkg.console.settings import decode_option, decode_options, split_names
from pkg.console.streams import emit
from pkg.lab.commands.report_output import report_options, view_sections, write_files


@click.command(
    "objectives", epilog="Example:  pkg eval objectives graded run-base run-tuned --weight code=5 --weight style=2"
)
@click.argument("paths", metavar="FOLDER...", nargs=-1, required=True, callback=decode_options)
@click.option(
    "--weight", "weights", multiple=True, callback=split_names, metavar="NAME=W,...",
    help="Weight of code or of a preference. Default: code=5, and 1 for each of the five preferences.",
)  # fmt: skip
@click.option("--at", type=click.Choice(("1", "10")), default="1", show_default=True, help="k of pass@k.")
@click.option(
    "--judge", default="", callback=decode_option, metavar="NAME",
    help="Judge whose grades count, as in the tables. Default: the last of the run.",
)  # fmt: skip
@report_options
@json_option
def objectives(
    paths: tuple[str, ...],
    weights: tuple[str, ...],
    at: str,
    judge: str,
    page: str | None,
    figures: str | None,
    as_json: bool,
) -> None:
    """Combine pass@k and grades by preference into one score.

    FOLDER is one of pkg eval preferences, and those of pkg eval humaneval or mbpp of the same models. The report states
    the weights, and which models are on the Pareto front.
    """
    from pkg.lab.evaluation.preferences.objectives import parse_weights, report_objectives
    from pkg.lab.evaluation.report.objective_tables import TITLE, list_objective_sections

    report = report_objectives([Path(path) for path in paths], parse_weights(weights), int(at), judge)
    sections = list(list_objective_sections(report))
    write_files(TITLE, sections, page, figures)
    for model, reason in report.left_out.items():
        say(f"left out: {model} is {reason}")
    head = {"k": report.k, "grading": report.grading, "weights": dict(report.weights)}
    lines = [
        {"type": "objectives", **asdict(each), "is_on_front": each.model in report.front, **head}
        for each in report.models
    ]
    emit(as_json, lines, lambda: view_sections(sections))
