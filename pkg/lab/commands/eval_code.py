"""`pkg eval humaneval` and `mbpp`: evaluate with a progress bar, and write the results as lines or tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from pkg.console.options import json_option, store_options
from pkg.console.progress import ProgressBar, say
from pkg.console.settings import (
    combine,
    decode_option,
    decode_options,
    jobs_setting,
    model_setting,
    source_setting,
    split_names,
)
from pkg.console.streams import choose_ask, emit, style_words
from pkg.console.tables import make_table
from pkg.errors import UsageError, count_things
from pkg.lab.lab_api import evaluate_code
from pkg.lab.lab_options import DocumentOptions, SolverOptions

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.lab.evaluation.code.code_report import CodeReport, ConditionFigures
    from pkg.models.text_model import TextModel


SOLVER, DOCUMENTS = SolverOptions(), DocumentOptions()

out_option = click.option(
    "--out", required=True, callback=decode_option, metavar="FOLDER",
    help="Folder of the run; the same command resumes it.",
)  # fmt: skip

solver_options = combine(
    click.option("--limit", type=click.IntRange(1), help="Number of items, sampled by --seed."),
    click.option("--form", default=SOLVER.form, show_default=True, help="Name of the prompt template."),
    click.option(
        "--samples", "-n", type=click.IntRange(1), default=SOLVER.samples, show_default=True, help="Answers per item."
    ),
    click.option(
        "--temperature", type=click.FloatRange(0), default=SOLVER.temperature, show_default=True,
        help="Temperature of the samples.",
    ),
    click.option(
        "--max-tokens", type=click.IntRange(1), default=SOLVER.max_tokens, show_default=True,
        help="Token limit of an answer.",
    ),
    click.option("--seed", type=int, default=SOLVER.seed, show_default=True, help="Seed of sampling."),
    click.option(
        "--batch", type=click.IntRange(1), default=SOLVER.batch, show_default=True, help="Prompts per batch."
    ),
)  # fmt: skip
"""Options of the model in an evaluation."""

code_evaluation_options = combine(
    click.option(
        "--data", required=True, callback=decode_option, metavar="PATH", help="File of the benchmark, or its folder."
    ),
    out_option,
    model_setting(help="Text model: openai:NAME@URL, gguf:FILE or hf:FOLDER."),
    click.option(
        "--columns", multiple=True, callback=split_names, metavar="NAME,...",
        help="Conditions to compare. Default: the eight of the paper; also signatures, random, gold, similarity,"
        " placebo, placebo-ideal, none:FORM, feedback, rag-feedback, documents, documents-reranked and"
        " documents-feedback.",
    ),
    click.option(
        "--documents", "document_files", multiple=True, callback=decode_options, metavar="FILE",
        help="File of questions with solutions, for the columns documents; may be repeated.",
    ),
    click.option(
        "--documents-encoder", "document_encoder", default=DOCUMENTS.encoder, show_default=True, metavar="NAME",
        help="Encoder that searches the documents.",
    ),
    click.option(
        "--documents-order", "document_order", default=DOCUMENTS.order, show_default=True, metavar="NAME",
        help="Encoder whose states of tokens order the best documents: minilm or st:NAME.",
    ),
    click.option("--plus", is_flag=True, help="Use the tests of EvalPlus."),
    click.option("--any-data", "is_any", is_flag=True, help="Accept rows other than the official ones."),
    solver_options,
    click.option(
        "--link/--no-link", default=SOLVER.link, help="Insert the helpers that an answer calls (default), or not."
    ),
    source_setting(help="Search only this source."),
    jobs_setting(help="Answers judged in parallel; 0 for one per core."),
    click.option(
        "--unlimited", type=click.IntRange(1), metavar="K",
        help="Number of nearest keys that an hf: model attends to, as in Unlimiformer.",
    ),
    click.option(
        "--layer-begin", type=click.IntRange(0), metavar="N",
        help="First layer with that attention. Default: the middle one.",
    ),
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
    "--shown-tests", "shown", type=click.IntRange(0, 3), default=1, show_default=True,
    help="Number of tests in the task; with 0 it names the function.",
)  # fmt: skip
@json_option
def mbpp(store: str, as_json: bool, **options: Any) -> None:
    """Answer the 500 test tasks of MBPP, as eval humaneval does."""
    run_code_evaluation("mbpp", store, as_json, options)


def run_code_evaluation(benchmark: str, store: str, as_json: bool, given: dict[str, Any]) -> None:
    """Run or resume an evaluation, and write the results of each column; raises UsageError without a model."""
    options = SolverOptions(**{name: given.pop(name) for name in SOLVER_NAMES})
    name = f"{benchmark}+" if given.pop("plus") else benchmark
    model = change_attention(check_model(given.pop("model")), given.pop("unlimited"), given.pop("layer_begin"))
    documents = DocumentOptions(*(given.pop(f"document_{name}") for name in ("files", "encoder", "order")))
    with closing(ProgressBar()) as bar:
        report = evaluate_code(
            name, model, given.pop("data"), given.pop("out"), store=store, options=options, documents=documents,
            listen=lambda column, done, total, seconds: bar.count(f"answering, {column}", done, total),
            ask=choose_ask(), **given,
        )  # fmt: skip
    emit(as_json, report_lines(report), lambda: view_report(report))
    for file in report.head.get("documents", {}).get("files", ()):
        if file["skipped"]:
            say(f"{file['name']}: {count_things(file['skipped'], 'row')} skipped, first {file['first_skip']}")
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


def change_attention(model: str, nearest: int | None, layer_begin: int | None) -> str | TextModel:
    """Open a model with attention to the nearest keys; return its name without a number of them.

    Raises UsageError for a layer without a number of keys, and the errors of open_unlimited.
    """
    if nearest is None:
        if layer_begin is not None:
            raise UsageError("--layer-begin chooses a layer for --unlimited; give both")
        return model
    from pkg.lab.unlimited.unlimited_model import open_unlimited

    return open_unlimited(model, nearest, layer_begin)


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


def _make_leak_row(each: ConditionFigures) -> list[str]:
    """Return the results without items whose shown code contains their solution; empty if not searched for."""
    found = each.leaks
    if found is None:
        return []
    harm = ["", ""] if found.fixed is None else [str(found.fixed), str(found.broken)]
    return [each.title, str(found.leaked), str(found.same), f"{found.solved}/{found.items}", *harm]


def _make_row(each: ConditionFigures) -> list[Any]:
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
