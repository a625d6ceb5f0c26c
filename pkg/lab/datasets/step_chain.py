"""Run the steps from chunks to curated pairs one after another, from whatever rows there are to what is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pkg.errors import InputError, UsageError
from pkg.lab.datasets.asking import Asker, Request
from pkg.lab.datasets.dataset_options import DatasetOptions
from pkg.lab.datasets.dataset_rows import Row, Tally
from pkg.lab.datasets.file_pieces import CHUNKS
from pkg.lab.datasets.pair_checks import Repositories
from pkg.lab.datasets.self_augmentation import (
    CURATE,
    EXPLAIN,
    QUESTIONS,
    ask_explanations,
    ask_pairs,
    ask_scores,
    curate,
    explain,
    make_questions,
)
from pkg.lab.datasets.step_estimate import StepEstimate, estimate_requests, imagine_text
from pkg.models.usage import Price

STEPS = (CHUNKS, EXPLAIN, QUESTIONS, CURATE)
"""In their order; each takes the rows of the one before it."""


def plan_steps(rows: Sequence[Row], wanted: str) -> tuple[str, ...]:
    """List the steps from rows to those of the wanted one.

    Raises InputError for rows of several steps, and UsageError where no step leads from theirs to the wanted one.
    """
    found = sorted({str(row["step"]) for row in rows}) or [CHUNKS]
    if len(found) > 1:
        raise InputError(f"rows of several steps: {', '.join(found)}; expected rows of one")
    before = STEPS[: STEPS.index(wanted)]
    if found[0] not in before:
        raise UsageError(f"pkg data {wanted} takes rows of {' or '.join(before)}, and these are of {found[0]}")
    return STEPS[STEPS.index(found[0]) + 1 : STEPS.index(wanted) + 1]


def run_steps(
    rows: Iterable[Row],
    steps: Sequence[str],
    asker: Asker,
    options: DatasetOptions,
    tally: Tally,
    repositories: Repositories,
) -> Iterator[Row]:
    """Give the rows of the last step; each step takes rows as soon as the one before it gives them."""
    made = iter(rows)
    for step in steps:
        counts = tally.step(step)
        if step == EXPLAIN:
            made = explain(made, asker, options, counts)
        elif step == QUESTIONS:
            made = make_questions(made, asker, options, counts, repositories)
        else:
            made = curate(made, asker, options, counts)
    return made


def estimate_steps(
    rows: Sequence[Row], steps: Sequence[str], options: DatasetOptions, price: Price | None
) -> Iterator[StepEstimate]:
    """Estimate each step; what a step before it will have written is taken for as long as it may be."""
    for step in steps:
        requests = list(_ask(step, rows, options))
        yield estimate_requests(step, requests, price)
        text = imagine_text(options.max_tokens)
        rows = [request.row | {"explanation": text, "question": "", "answer": text} for request in requests]


def _ask(step: str, rows: Sequence[Row], options: DatasetOptions) -> Iterator[Request]:
    ask = {EXPLAIN: ask_explanations, QUESTIONS: ask_pairs, CURATE: ask_scores}[step]
    return ask(rows, options)
