"""The chain of steps from chunks to curated pairs, from the rows of any step to those of a later one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pkg.errors import InputError, UsageError
from pkg.lab.datasets.dataset_options import DatasetOptions
from pkg.lab.datasets.dataset_rows import Row, Tally
from pkg.lab.datasets.file_pieces import CHUNKS
from pkg.lab.datasets.pair_checks import Repositories
from pkg.lab.datasets.request_runner import Request, RequestRunner
from pkg.lab.datasets.self_augmentation import (
    CURATE,
    EXPLAIN,
    QUESTIONS,
    curate,
    explain,
    make_questions,
    request_explanations,
    request_pairs,
    request_scores,
)
from pkg.lab.datasets.step_estimate import StepEstimate, estimate_requests, make_placeholder_text
from pkg.models.usage import Price

STEPS = (CHUNKS, EXPLAIN, QUESTIONS, CURATE)
"""Steps in their order; each takes the rows of the previous one."""


def plan_steps(rows: Sequence[Row], wanted: str) -> tuple[str, ...]:
    """Return the steps that lead from rows to the wanted step.

    Raises InputError for rows of several steps, and UsageError if the wanted step does not follow theirs.
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
    runner: RequestRunner,
    options: DatasetOptions,
    tally: Tally,
    repositories: Repositories,
) -> Iterator[Row]:
    """Return the rows of the last step; the steps run as a pipeline of iterators."""
    made = iter(rows)
    for step in steps:
        counts = tally.step(step)
        if step == EXPLAIN:
            made = explain(made, runner, options, counts)
        elif step == QUESTIONS:
            made = make_questions(made, runner, options, counts, repositories)
        else:
            made = curate(made, runner, options, counts)
    return made


def estimate_steps(
    rows: Sequence[Row], steps: Sequence[str], options: DatasetOptions, price: Price | None
) -> Iterator[StepEstimate]:
    """Yield the estimate of each step; assumes the maximum length for texts that earlier steps will write."""
    for step in steps:
        requests = list(_ask(step, rows, options))
        yield estimate_requests(step, requests, price)
        text = make_placeholder_text(options.max_tokens)
        rows = [request.row | {"explanation": text, "question": "", "answer": text} for request in requests]


def _ask(step: str, rows: Sequence[Row], options: DatasetOptions) -> Iterator[Request]:
    ask = {EXPLAIN: request_explanations, QUESTIONS: request_pairs, CURATE: request_scores}[step]
    return ask(rows, options)
