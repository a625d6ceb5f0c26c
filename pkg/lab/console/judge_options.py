"""Options of `pkg judge`."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from pkg.console.settings import combine, decode_option, model_setting, setting, split_names
from pkg.lab.judge.judge_tasks import JudgeOptions, Orders

JUDGE = JudgeOptions()

_baseline_option = click.option(
    "--baseline", default="", callback=decode_option, metavar="SYSTEM", help="Compare every other system with this one."
)
_zero_option = click.option(
    "--unparsed-as-zero", is_flag=True, help="Count a rating that cannot be read as 0; it is left out otherwise."
)

judge_options = combine(
    model_setting(
        help="Who judges: openai:NAME@URL, gguf:FILE or hf:FOLDER; without one, or with none, what can be counted."
    ),
    click.option(
        "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
        help="Append each judgement to FILE at once; the same command resumes after the last one.",
    ),
    _baseline_option,
    click.option(
        "--runs", type=click.IntRange(1), default=JUDGE.runs, show_default=True,
        help="Times that all is judged, each with a seed of its own; 3 in the paper.",
    ),
    click.option(
        "--temperature", type=click.FloatRange(0), default=JUDGE.temperature, show_default=True,
        help="Of what the judge writes.",
    ),
    click.option(
        "--top-p", type=click.FloatRange(0, 1, min_open=True), default=JUDGE.top_p, show_default=True,
        help="Share of the likeliest tokens that are drawn from.",
    ),
    click.option(
        "--max-tokens", type=click.IntRange(1), default=JUDGE.max_tokens, show_default=True,
        help="Of one judgement; 2,500 in the paper.",
    ),
    click.option("--seed", type=int, default=JUDGE.seed, show_default=True, help="Of draws and judgements."),
    click.option("--limit", type=click.IntRange(1), help="Rows to judge, the first ones of FILE."),
    click.option("--batch", type=click.IntRange(0), default=JUDGE.batch, help="Prompts between two writes to --out."),
    click.option("--estimate", is_flag=True, help="Tell what judging would take, and judge nothing."),
    setting("--price", metavar="IN/OUT", help="What a million tokens cost, read and written, such as 0.15/0.60."),
    click.option(
        "--check", "is_checked", is_flag=True,
        help="Measure the judge itself, on the rows of FILE and on cases that are made of them.",
    ),
    click.option(
        "--human", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
        help="With --check: ratings of people, as pkg rate writes them, to compare with.",
    ),
    click.option("--tolerance", type=click.FloatRange(0), help="With --human: ratings so far apart agree."),
    _zero_option,
)  # fmt: skip
"""The common options of all kinds of judgements."""

orders_option = click.option(
    "--orders", type=click.Choice(get_args(Orders)), default=JUDGE.orders, show_default=True,
    help="Show each two answers in both orders, or in one that is drawn, as in the paper.",
)  # fmt: skip

preference_option = click.option(
    "--preference", "preferences", multiple=True, callback=split_names, metavar="NAME,...",
    help="Judge by these: instruction-following, explanation, complexity, readability, style, overall.",
)  # fmt: skip

judge_report_options = combine(
    _baseline_option, _zero_option, click.option("--seed", type=int, default=0, show_default=True, help="Of intervals.")
)
"""The options of `pkg judge report`."""
