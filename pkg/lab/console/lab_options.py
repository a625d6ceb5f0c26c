"""Options of the commands of the laboratory, except for `pkg judge` and `pkg data`."""

from __future__ import annotations

import click

from pkg.console.settings import (
    combine,
    decode_option,
)
from pkg.lab.evaluation.code.solver_options import DEFAULT_OPTIONS as SOLVER

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
