"""Options of the commands of the laboratory, except for `pkg judge` and `pkg data`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import click

from pkg.console.options import answer_tokens_option, evidence_budget_option
from pkg.console.settings import (
    combine,
    decode_option,
    decode_options,
    jobs_setting,
    model_setting,
    source_setting,
    split_names,
)
from pkg.lab.bench.bench_options import DEFAULT_OPTIONS as BENCH
from pkg.lab.evaluation.code.solver_options import DEFAULT_OPTIONS as SOLVER
from pkg.lab.evaluation.retrieval.evaluation_options import EvaluatedMode, RankingName
from pkg.lab.judge.judge_tasks import Orders

audit_options = combine(
    click.option(
        "--against",
        multiple=True,
        required=True,
        callback=split_names,
        metavar="NAME|FILE,...",
        help="humaneval, humaneval+, mbpp, mbpp+, or a file of solutions: JSON lines, or Python.",
    ),
    click.option(
        "--data",
        default=".",
        show_default=True,
        callback=decode_option,
        metavar="PATH",
        help="Folder that holds the official files of the benchmarks.",
    ),
)
"""The options of `pkg audit`, except for the store."""


def file_option(flag: str, help: str) -> Callable[..., Any]:
    """Return a required option whose value is a file."""
    return click.option(flag, required=True, callback=decode_option, metavar="FILE", help=help)


retrieval_options = combine(
    file_option("--queries", "Questions: JSON lines with _id and text, also .gz."),
    file_option("--qrels", "Which answers are right: query-id, corpus-id and score with tabs between, also .gz."),
    click.option("--limit", type=click.IntRange(1), help="Questions to ask, the first ones of the file."),
    click.option(
        "--mode",
        "modes",
        multiple=True,
        type=click.Choice(get_args(EvaluatedMode)),
        help="Look for this alone; may be given several times. Default: functions, blocks, and files where there are.",
    ),
    click.option(
        "--ranking",
        "rankings",
        multiple=True,
        type=click.Choice(get_args(RankingName)),
        help="Ask by this ranking alone; may be given several times. bm25 needs the extra eval.",
    ),
    source_setting(help="Look in one source only."),
)
"""The options of `pkg eval retrieval`, except for the store."""

bench_options = combine(
    click.option(
        "--limit", type=click.IntRange(1), default=BENCH.limit, show_default=True, help="Questions, drawn by the seed."
    ),
    click.option(
        "--sample", type=click.IntRange(0), default=BENCH.sample, show_default=True,
        help="Functions that encoders are compared on; 0 compares none.",
    ),
    click.option("--seed", type=int, default=BENCH.seed, show_default=True, help="Of what is drawn."),
    source_setting(help="Measure one source only."),
)  # fmt: skip
"""The options of `pkg bench`, except for the store."""

rate_options = combine(
    click.option(
        "--create",
        "is_created",
        is_flag=True,
        help="Write a question and its answer about the code of each row, instead of rating.",
    ),
    click.option(
        "--mode",
        type=click.Choice(("rate", "grade", "pairwise")),
        help="Rate pairs, grade each answer, or compare every two; default: by what each row holds.",
    ),
    click.option(
        "--rater",
        multiple=True,
        callback=decode_options,
        metavar="NAME",
        help="Who rates; may be given several times, and each gets an address. Default: the page asks.",
    ),
    click.option("--raters", type=click.IntRange(1), metavar="N", help="Raters named rater-1 to rater-N."),
    click.option(
        "--overlap", type=click.IntRange(1), metavar="M", help="Raters of each item, loads alike; default: all of them."
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Draws who rates what, and the sides."),
    click.option(
        "--output",
        "-o",
        callback=decode_option,
        metavar="OUT.jsonl",
        help="File that ratings are appended to. Default: FILE's name with .ratings.jsonl (--create: .created.jsonl),"
        " in the current folder.",
    ),
    click.option(
        "--participants",
        callback=decode_option,
        metavar="FILE",
        help="Ask raters for degree, semesters, skill and field, all optional, and keep that apart in this file.",
    ),
    click.option(
        "--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Serve to others, at this address."
    ),
    click.option(
        "--port", type=click.IntRange(0, 65_535), default=8719, show_default=True, help="0 takes one that is free."
    ),
    click.option("--open", "is_opened", is_flag=True, help="Open the first address in the system's browser."),
    click.option("--stay", is_flag=True, help="Go on when all is rated, until Ctrl-C."),
    click.option("--summary", "is_summary", is_flag=True, help="Serve nothing; sum up what was rated so far."),
    click.option(
        "--html",
        "page",
        callback=decode_option,
        metavar="PAGE",
        help="Write a page in the end: each question, its answers side by side, and what was said of them.",
    ),
    click.option(
        "--judgements",
        callback=decode_option,
        metavar="FILE",
        help="With --html: show beside what people said what pkg judge --out has written.",
    ),
)
"""The options of `pkg rate`."""

qa_options = combine(
    click.option(
        "--systems",
        multiple=True,
        callback=split_names,
        metavar="NAME,...",
        help="What is compared: graph, chunks, both, and with --model none, which answers from memory; all without it.",
    ),
    model_setting(
        help="Who answers: openai:NAME@URL, gguf:FILE or hf:FOLDER; without it, the search alone is measured."
    ),
    click.option(
        "--judge",
        metavar="MODEL",
        callback=decode_option,
        help="Who compares the answers: a model as for --model, or none, for what can be counted.",
    ),
    click.option(
        "--baseline",
        default="",
        callback=decode_option,
        metavar="SYSTEM",
        help="The system that the others are compared with; none where it is asked, else every two.",
    ),
    click.option(
        "--runs", type=click.IntRange(1), default=3, show_default=True, help="Times that the judge compares everything."
    ),
    click.option(
        "--orders",
        type=click.Choice(get_args(Orders)),
        default="random",
        show_default=True,
        help="Show the judge each two answers in an order that is drawn, as the paper does, or in both.",
    ),
    source_setting(help="Ask about one source only."),
    evidence_budget_option,
    click.option(
        "--oracle-file",
        is_flag=True,
        help="Search the right file alone, as the paper's evaluation does; all output says so.",
    ),
    click.option("--limit", type=click.IntRange(1), help="Questions to ask, drawn by --seed."),
    click.option("--seed", type=int, default=0, show_default=True, help="Draws questions and orders."),
    answer_tokens_option,
    click.option(
        "--batch", type=click.IntRange(0), default=0, help="Answers between two writes; 0 lets the model say."
    ),
    click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="FOLDER",
        help="Store answers, judgements and a page of both in FOLDER; the same command resumes the run.",
    ),
)
"""The options of `pkg eval qa`, except for the store."""

out_option = click.option(
    "--out", required=True, callback=decode_option, metavar="FOLDER",
    help="Folder of the run; the same command goes on there where it stopped.",
)  # fmt: skip

solver_options = combine(
    click.option("--limit", type=click.IntRange(1), help="Items to answer, drawn by the seed."),
    click.option("--form", default=SOLVER.form, show_default=True, help="Prompt template."),
    click.option(
        "--samples", "-n", type=click.IntRange(1), default=SOLVER.samples, show_default=True, help="Answers an item."
    ),
    click.option(
        "--temperature", type=click.FloatRange(0), default=SOLVER.temperature, show_default=True, help="Of the samples."
    ),
    click.option(
        "--max-tokens", type=click.IntRange(1), default=SOLVER.max_tokens, show_default=True, help="Of an answer."
    ),
    click.option("--seed", type=int, default=SOLVER.seed, show_default=True, help="Of draws and samples."),
    click.option(
        "--batch", type=click.IntRange(1), default=SOLVER.batch, show_default=True, help="Prompts sent at once."
    ),
)  # fmt: skip
"""Options of the model in an evaluation."""

code_evaluation_options = combine(
    click.option(
        "--data", required=True, callback=decode_option, metavar="PATH", help="The benchmark's file, or its folder."
    ),
    out_option,
    model_setting(help="Who answers: openai:NAME@URL, gguf:FILE or hf:FOLDER."),
    click.option(
        "--columns", multiple=True, callback=split_names, metavar="NAME,...",
        help="What to compare; without it the eight of the paper. Further: signatures, random, gold, similarity,"
        " placebo, placebo-ideal, none:FORM.",
    ),
    click.option("--plus", is_flag=True, help="Judge by the tests of EvalPlus."),
    click.option("--any-data", "is_any", is_flag=True, help="Take rows that are not the official ones."),
    solver_options,
    click.option(
        "--link/--no-link", default=SOLVER.link, help="Put helpers that an answer calls into it (default), or not."
    ),
    source_setting(help="Look in one source of the graph only."),
    jobs_setting(help="Answers judged at a time; 0 for one a core."),
)  # fmt: skip
"""The options of `pkg eval humaneval` and `mbpp`, except for the store and the number of shown tests of MBPP."""

repository_evaluation_options = combine(
    out_option,
    click.option(
        "--items", callback=decode_option, metavar="FOLDER",
        help="Folder of the items and of the graph, which several runs may share; else that of the run.",
    ),
    model_setting(help="Who answers: openai:NAME@URL, gguf:FILE or hf:FOLDER; without one the items are found alone."),
    click.option(
        "--columns", multiple=True, callback=split_names, metavar="NAME,...",
        help="What to compare; without it none, none:brief, func-pkg, block-pkg, signatures, deps, random, gold.",
    ),
    click.option(
        "--tests", multiple=True, callback=decode_options, metavar="PATH",
        help="What pytest is to run: files, folders or names of tests, below PATH; without it all that it finds.",
    ),
    click.option(
        "--python", callback=decode_option, metavar="INTERPRETER",
        help="The Python that has pytest and what the project needs, such as .venv/bin/python; else the running one.",
    ),
    jobs_setting(help="Runs of tests at a time; 0 for one a core."),
    solver_options,
)  # fmt: skip
"""The options of `pkg eval repository`."""
