"""The options of `pkg rerank`."""

from __future__ import annotations

from pathlib import Path

import click

from pkg.console.options import combine, jobs_option

rerank_options = combine(
    click.option(
        "--stages",
        callback=lambda ctx, parameter, value: value and tuple(word.strip() for word in value.split(",")),
        metavar="A,B",
        help="Run these stages alone, of syntax, static, smoke, examples, behaviour, similarity; default: all.",
    ),
    click.option("--without", multiple=True, metavar="STAGE", help="Leave a stage out; may be given several times."),
    click.option("--paper", is_flag=True, help="Run syntax, smoke and raw similarity alone, as the paper does."),
    click.option(
        "--weights", metavar="A=1,B=.5", help="Order by a weighted sum of the stages instead of one after the other."
    ),
    click.option(
        "--compare",
        type=click.Choice(["stripped", "raw"]),
        help="Measure likeness without comments and docstrings (default), or with them.",
    ),
    click.option(
        "--sandbox",
        type=click.Choice(["process", "docker", "none"]),
        help="Where candidates run; default: process on Linux, docker elsewhere. none protects nothing.",
    ),
    jobs_option(help="Tasks and candidates at one time; 0 takes one for each processor."),
    click.option("--inputs", type=click.IntRange(0), help="Calls on which candidates are compared; default: 24."),
    click.option(
        "--cpu-seconds",
        type=click.FloatRange(0, min_open=True),
        help="Seconds that loading a candidate, or all its calls together, may take; default: 2.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of the calls."),
    click.option(
        "--resume",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="OUT",
        help="Write to OUT, and leave out the tasks that it holds from an earlier run.",
    ),
    click.option(
        "--oracle-tests",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="For research: rank by hidden tests; every line of the output says ORACLE.",
    ),
)
"""The options of `pkg rerank`."""
