"""The commands of the laboratory; pkg.cli imports this module by name to run one or to list them in the help."""

from __future__ import annotations

from typing import Any

import click

from pkg.console.options import json_option, store_options
from pkg.console.settings import decode_option, decode_options, spread_settings
from pkg.lab.console.data_command import data as data
from pkg.lab.console.judge_options import judge_options, judge_report_options, orders_option, preference_option
from pkg.lab.console.lab_options import (
    audit_options,
    bench_options,
    code_evaluation_options,
    qa_options,
    rate_options,
    repository_evaluation_options,
    retrieval_options,
)


@click.command(epilog="Example:  pkg rate questions.jsonl --open   or   pkg rate answers.jsonl --raters 3 --overlap 2")
@click.argument("path", metavar="FILE", callback=decode_option)
@rate_options
@json_option
def rate(path: str, as_json: bool, **options: Any) -> None:
    """Open a page of this machine on which people rate or write questions and answers.

    FILE holds JSON lines: pairs with question and answer get two sliders, answers of one system or of several a slider,
    answers of two systems a choice without names. The page is served on this machine alone, at an address that lets
    one browser in. Each rating is on the disk when the page says so; ends when all is rated, or with Ctrl-C.
    """
    from pkg.lab.console.rate_command import run_rate

    run_rate(path, as_json, options)


@click.command(
    epilog="Example:  pkg audit --against humaneval,mbpp --data data   and then:  pkg query TEXT --exclude-leaks"
)
@store_options
@audit_options
@json_option
def audit(store: str, against: tuple[str, ...], data: str, as_json: bool) -> None:
    """Mark the functions of the graph that give solutions of a benchmark away.

    A function does if its code is the same but for names of its own, docstrings and annotations, if it has the name and
    as many arguments, or if most of its tokens are those of the solution. What is marked stays so until the next audit
    against the same, and queries leave it out with --exclude-leaks.
    """
    from pkg.lab.console.audit_command import run_audit

    run_audit(store, against, data, as_json)


@click.command(epilog="Example:  pkg bench --limit 200")
@store_options
@bench_options
@json_option
def bench(store: str, as_json: bool, **options: Any) -> None:
    """Measure your own graph: what it finds, how fast, how large, and which encoder serves your code.

    The first paragraph of a docstring asks for its function, in a second graph of the same code without docstrings,
    built in a temporary folder. No network and no text model is used.
    """
    from pkg.lab.console.bench_command import run_bench

    run_bench(store, as_json, options)


@click.group("eval")
@click.pass_context
def evaluate(ctx: click.Context) -> None:
    """Measure how good answers are, on benchmarks or on questions of your own."""
    ctx.default_map = dict(spread_settings(evaluate.commands, ctx.default_map or {}))


@evaluate.command(
    "qa", epilog="Example:  pkg eval qa spydercodeqa.jsonl   or with answers:  --model gguf:coder.gguf --judge none"
)
@click.argument("path", metavar="FILE", callback=decode_option)
@store_options
@qa_options
@json_option
def evaluate_qa(path: str, store: str, as_json: bool, **options: Any) -> None:
    """Ask the questions of FILE about the graph, in the form of SpyderCodeQA, and compare systems.

    Tells how often the right file is among the first of the evidence, by kind of question; with --model what the
    answers cite; with --judge whose answer is better, over several runs.
    """
    from pkg.lab.console.qa_command import run_questions

    run_questions(path, store, as_json, options)


@evaluate.command("retrieval", epilog="Example:  pkg eval retrieval --queries queries.jsonl --qrels qrels.tsv")
@store_options
@retrieval_options
@json_option
def evaluate_retrieval(store: str, as_json: bool, **options: Any) -> None:
    """Ask the graph questions whose answers are known, and score what it finds.

    The files are as BEIR has them: JSON lines with _id and text, and judgements of query-id, corpus-id and score with
    tabs between. A corpus-id is the id of a row, or path or path::qualname of a repository. Every mode is asked by
    every ranking, with plain BM25 as the floor, and without what can be left out.
    """
    from pkg.lab.console.retrieval_command import run_evaluation

    run_evaluation(store, as_json, options)


@evaluate.command(
    "humaneval",
    epilog="Example:  pkg eval humaneval --data HumanEval.jsonl.gz --model gguf:coder.gguf --out run --limit 40",
)
@store_options
@code_evaluation_options
@json_option
def evaluate_humaneval(store: str, as_json: bool, **options: Any) -> None:
    """Have a model answer HumanEval without context, with what baselines find, and with what the graph finds.

    All answers run in the sandbox against the hidden tests; what context fixes and what it breaks is told for each
    column. The folder of the run keeps prompts, answers, verdicts and what was found.
    """
    from pkg.lab.console.eval_command import run_code_evaluation

    run_code_evaluation("humaneval", store, as_json, {**options, "shown": 0})


@evaluate.command(
    "mbpp", epilog="Example:  pkg eval mbpp --data mbpp.jsonl --model gguf:coder.gguf --out run --limit 200"
)
@store_options
@code_evaluation_options
@click.option(
    "--shown-tests",
    "shown",
    type=click.IntRange(0, 3),
    default=1,
    show_default=True,
    help="Tests that the task shows; with 0 it names the function.",
)
@json_option
def evaluate_mbpp(store: str, as_json: bool, **options: Any) -> None:
    """Have a model answer the 500 test tasks of MBPP, in the columns of `pkg eval humaneval`."""
    from pkg.lab.console.eval_command import run_code_evaluation

    run_code_evaluation("mbpp", store, as_json, options)


@evaluate.command(
    "repository",
    epilog="Example:  pkg eval repository shop --model gguf:coder.gguf --out run --limit 40",
)
@click.argument("path", metavar="PATH", callback=decode_option)
@repository_evaluation_options
@json_option
def evaluate_repository(path: str, as_json: bool, **options: Any) -> None:
    """Rewrite functions of a repository with a model, judged by the tests of the repository.

    Functions with a docstring lose their body one by one; one counts if tests that pass now fail without it. The model
    sees header and docstring, and what the column shows of the rest of the repository: never tests, the function
    itself or a near copy of it. Tests and answers run in the sandbox on a copy; nothing is written below PATH.
    """
    from pkg.lab.console.repository_command import run_repository_evaluation

    run_repository_evaluation(path, as_json, options)


@evaluate.command("calibrate", epilog="Example:  pkg eval calibrate run run-mbpp -o gate.json")
@click.argument("paths", metavar="FOLDER...", nargs=-1, required=True, callback=decode_options)
@click.option("--output", "-o", callback=decode_option, metavar="FILE", help="Write the rules for pkg query --gate.")
@click.option("--below", type=click.FloatRange(0), metavar="N", help="The rules are for models of fewer parameters.")
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the half that is learned from.")
@json_option
def evaluate_calibrate(
    paths: tuple[str, ...], output: str | None, below: float | None, seed: int, as_json: bool
) -> None:
    """Learn from runs when shown code helps the model, and tell what that does on items held out.

    A rule is one signal of the search that must reach a value. Where none gains, the rule is to show nothing.
    """
    from pkg.lab.console.calibrate_command import run_calibrate

    run_calibrate(paths, output, below, seed, as_json)


@evaluate.command("report", epilog="Example:  pkg eval report run --format markdown --html report.html > report.md")
@click.argument("paths", metavar="FOLDER...", nargs=-1, required=True, callback=decode_options)
@click.option(
    "--format",
    "form",
    type=click.Choice(("table", "json", "csv", "markdown")),
    default="table",
    show_default=True,
    help="A table for a person, JSON lines, comma-separated values, or the tables of the paper in Markdown.",
)
@click.option(
    "--html", "page", callback=decode_option, metavar="FILE", help="Write one page that holds all, with the figures."
)
@click.option(
    "--figures", callback=decode_option, metavar="FOLDER", help="Write the figures as PNG and SVG; Markdown shows them."
)
@click.option(
    "--data",
    callback=decode_option,
    metavar="PATH",
    help="The benchmark's file, or its folder: for topics of a run that does not tell them.",
)
@json_option
def evaluate_report(
    paths: tuple[str, ...], form: str, page: str | None, figures: str | None, data: str | None, as_json: bool
) -> None:
    """Compute every figure of runs from their records, without a model and without running code.

    Several runs stand beside each other, as in the tables of the paper, whose figures are there too.
    """
    from pkg.lab.console.eval_command import run_report

    run_report(paths, form, as_json, page, figures, data)


@click.group()
@click.pass_context
def judge(ctx: click.Context) -> None:
    """Judge answers of systems to questions, and measure the judge.

    FILE holds JSON lines {"id", "question", "reference", "answers": {SYSTEM: TEXT}}, or records with "instruction" and
    "responses"; - reads standard input. Without --model it counts: shared words, citations that lead to the evidence,
    tests that pass.
    """
    ctx.default_map = dict(spread_settings(judge.commands, ctx.default_map or {}))


@judge.command(
    "pairwise", epilog="Example:  pkg judge pairwise answers.jsonl --model gguf:coder.gguf --out judged.jsonl"
)
@click.argument("path", metavar="FILE", callback=decode_option)
@orders_option
@judge_options
@json_option
def judge_pairwise(path: str, as_json: bool, **options: Any) -> None:
    """Say which of two answers is better, for every two systems: the first, the second, both are good, or both wrong.

    The summary has the share of each outcome, of all judgements, with its deviation over --runs.
    """
    from pkg.lab.console.judge_command import run_judge

    run_judge("pairwise", path, as_json, options)


@judge.command("grade", epilog="Example:  pkg judge grade answers.jsonl --model gguf:coder.gguf --baseline plain")
@click.argument("path", metavar="FILE", callback=decode_option)
@preference_option
@judge_options
@json_option
def judge_grade(path: str, as_json: bool, **options: Any) -> None:
    """Grade each answer from 1 to 10 beside the reference, reasons first."""
    from pkg.lab.console.judge_command import run_judge

    run_judge("grade", path, as_json, options)


@judge.command(
    "annotate", epilog="Example:  pkg judge annotate answers.jsonl --model gguf:coder.gguf --preference style"
)
@click.argument("path", metavar="FILE", callback=decode_option)
@preference_option
@judge_options
@click.option("--records", callback=decode_option, metavar="FILE", help="Write a record of annotations for each item.")
@json_option
def judge_annotate(path: str, as_json: bool, **options: Any) -> None:
    """Rate all answers to a question in one prompt, each from 1 to 5 with a reason, by one preference."""
    from pkg.lab.console.judge_command import run_judge

    run_judge("annotate", path, as_json, options)


@judge.command("correctness", epilog="Example:  pkg judge correctness answers.jsonl --model gguf:coder.gguf")
@click.argument("path", metavar="FILE", callback=decode_option)
@judge_options
@json_option
def judge_correctness(path: str, as_json: bool, **options: Any) -> None:
    """Judge code from 1 to 10 by the tests that it has to pass, which the judge reads and does not run."""
    from pkg.lab.console.judge_command import run_judge

    run_judge("correctness", path, as_json, options)


@judge.command("report", epilog="Example:  pkg judge report judged.jsonl --baseline plain")
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, callback=decode_options)
@judge_report_options
@json_option
def judge_report(paths: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Summarise judgements stored with --out by kind and judge, without asking a model."""
    from pkg.lab.console.judge_command import run_report

    run_report(paths, as_json, options)
