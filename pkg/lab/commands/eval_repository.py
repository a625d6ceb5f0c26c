"""`pkg eval repository`: find the items with a progress bar, answer them, and write the results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from pkg.console.options import json_option
from pkg.console.progress import ProgressBar
from pkg.console.settings import decode_option, decode_options, jobs_setting, model_setting, split_names
from pkg.console.streams import emit, style_words
from pkg.lab.commands.eval_code import out_option, report_lines, solver_options, view_report
from pkg.lab.lab_api import evaluate_repository
from pkg.lab.lab_options import SolverOptions

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.lab.evaluation.code.code_report import CodeReport
    from pkg.lab.evaluation.repository.repository_items import FoundItems


SOLVER_NAMES = ("form", "max_tokens", "samples", "temperature", "seed", "batch")

SHOWN = 5  # failing tests that are named; the file of items has all


@click.command(
    "repository",
    epilog="Example:  pkg eval repository shop --model gguf:coder.gguf --out run --limit 40",
)
@click.argument("path", metavar="PATH", callback=decode_option)
@out_option
@click.option(
    "--items", callback=decode_option, metavar="FOLDER",
    help="Folder of the items and the graph, which several runs can share. Default: that of the run.",
)  # fmt: skip
@model_setting(help="Text model: openai:NAME@URL, gguf:FILE or hf:FOLDER. Default: none, which only finds the items.")
@click.option(
    "--columns", multiple=True, callback=split_names, metavar="NAME,...",
    help="Conditions to compare. Default: none, none:brief, func-pkg, block-pkg, signatures, deps, random, gold."
    " Others: usages, similar, func-pkg:PART.",
)  # fmt: skip
@click.option(
    "--tests", multiple=True, callback=decode_options, metavar="PATH",
    help="Tests for pytest to run: files, folders or names below PATH. Default: all.",
)  # fmt: skip
@click.option(
    "--python", callback=decode_option, metavar="INTERPRETER",
    help="Python with pytest and the dependencies of the project, such as .venv/bin/python. Default: the running one.",
)  # fmt: skip
@jobs_setting(help="Parallel runs of tests; 0 for one per core.")
@solver_options
@json_option
def repository(path: str, as_json: bool, **options: Any) -> None:
    """Rewrite functions of a repository, judged by its tests.

    An item is a function with a docstring whose tests fail without its body. The model sees header and docstring, and
    the context of the column from the rest of the repository: never tests, the function itself or a near copy of it.
    Tests and answers run in the sandbox on a copy; nothing is written below PATH.
    """
    run_repository_evaluation(path, as_json, options)


def run_repository_evaluation(path: str, as_json: bool, given: dict[str, Any]) -> None:
    """Run or resume an evaluation of a repository; without a model only find its items."""
    options = SolverOptions(**{name: given.pop(name) for name in SOLVER_NAMES}, link=False)
    with closing(ProgressBar()) as bar:
        found, report = evaluate_repository(
            path, given.pop("model"), given.pop("out"), options=options, count=bar.count,
            listen=lambda column, done, total, seconds: bar.count(f"answering, {column}", done, total), **given,
        )  # fmt: skip
    emit(as_json, _list_lines(found, report), lambda: _view(found, report))


def _list_lines(found: FoundItems, report: CodeReport | None) -> Iterator[dict[str, Any]]:
    yield {
        "type": "items",
        "items": [each.function.id for each in found.items],
        "tests": found.tests,
        "failing": list(found.failing),
        "left_out": found.left_out,
        "python": found.python,
    }
    if report is not None:
        yield from report_lines(report)


def _view(found: FoundItems, report: CodeReport | None) -> Iterator[RenderableType]:
    yield style_words(f"{len(found.items)} items; {found.tests} tests by Python {found.python}", "bold")
    for reason, number in sorted(found.left_out.items()):
        yield style_words(f"no item, {reason}: {number}", "dim")
    for name in found.failing[:SHOWN]:
        yield style_words(f"left out, for it does not pass as things stand: {name}", "dim")
    if len(found.failing) > SHOWN:
        yield style_words(f"{len(found.failing) - SHOWN} more tests do not pass", "dim")
    if report is not None:
        yield from view_report(report)
