"""Options of commands that answer questions in words."""

from __future__ import annotations

import click

from pkg.generation.ask.ask_options import AskOptions

ASK = AskOptions()

evidence_budget_option = click.option(
    "--budget",
    "tokens",
    type=click.IntRange(0),
    default=ASK.evidence.budget,
    show_default=True,
    help="Token budget of the evidence; 0 for no limit.",
)
"""Token budget of the evidence for an answer."""

answer_tokens_option = click.option(
    "--max-tokens",
    "answer_tokens",
    type=click.IntRange(1),
    default=ASK.max_tokens,
    show_default=True,
    help="Token limit of an answer.",
)
"""Token limit of an answer in words."""
