"""`pkg eval humaneval` and `mbpp`: evaluate with a progress bar, and write the results."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click

from pkg.console.options import json_option, store_options
from pkg.console.progress import ProgressBar, say
from pkg.console.settings import combine, decode_option, jobs_setting, model_setting, source_setting, split_names
from pkg.console.streams import choose_ask, emit
from pkg.errors import UsageError, count_things
from pkg.lab.console.code_tables import report_lines, view_report
from pkg.lab.console.lab_options import out_option, solver_options
from pkg.lab.evaluation.code.solver_options import DEFAULT_OPTIONS as SOLVER
from pkg.lab.evaluation.code.solver_options import SolverOptions
from pkg.lab.lab_api import evaluate_code

code_evaluation_options = combine(
    click.option(
        "--data", required=True, callback=decode_option, metavar="PATH", help="File of the benchmark, or its folder."
    ),
    out_option,
    model_setting(help="Text model: openai:NAME@URL, gguf:FILE or hf:FOLDER."),
    click.option(
        "--columns", multiple=True, callback=split_names, metavar="NAME,...",
        help="Conditions to compare. Default: the eight of the paper; also signatures, random, gold, similarity,"
        " placebo, placebo-ideal and none:FORM.",
    ),
    click.option("--plus", is_flag=True, help="Use the tests of EvalPlus."),
    click.option("--any-data", "is_any", is_flag=True, help="Accept rows other than the official ones."),
    solver_options,
    click.option(
        "--link/--no-link", default=SOLVER.link, help="Insert the helpers that an answer calls (default), or not."
    ),
    source_setting(help="Search only this source."),
    jobs_setting(help="Answers judged in parallel; 0 for one per core."),
)  # fmt: skip
"""The options of `pkg eval humaneval` and `mbpp`, except for the store and the number of shown tests of MBPP."""

SOLVER_NAMES = ("form", "max_tokens", "samples", "temperature", "seed", "batch", "link", "source")


@click.command(
    "humaneval",
    epilog="Example:  pkg eval humaneval --data HumanEval.jsonl.gz --model gguf:coder.gguf --out run --limit 40",
)
@store_options
@code_evaluation_options
@json_option
def humaneval(store: str, as_json: bool, **options: Any) -> None:
    """Answer HumanEval by a model, with and without context.

    Context is the code found by the graph, and by baselines. All answers run in the sandbox against the hidden tests;
    each column counts the items that its context fixes and breaks. The folder of the run has prompts, answers, verdicts
    and contexts.
    """
    run_code_evaluation("humaneval", store, as_json, {**options, "shown": 0})


@click.command("mbpp", epilog="Example:  pkg eval mbpp --data mbpp.jsonl --model gguf:coder.gguf --out run --limit 200")
@store_options
@code_evaluation_options
@click.option(
    "--shown-tests",
    "shown",
    type=click.IntRange(0, 3),
    default=1,
    show_default=True,
    help="Number of tests in the task; with 0 it names the function.",
)
@json_option
def mbpp(store: str, as_json: bool, **options: Any) -> None:
    """Answer the 500 test tasks of MBPP, as eval humaneval does."""
    run_code_evaluation("mbpp", store, as_json, options)


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
