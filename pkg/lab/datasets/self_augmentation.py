"""Self-augmentation: a model explains chunks, writes pairs from the explanations, and scores them (Q-08 to Q-12).

Each step takes the rows of the previous one, yields its own in the same order, and counts what it drops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random

from pkg.errors import InputError, UsageError
from pkg.lab.datasets.dataset_rows import (
    Origin,
    Row,
    StepCounts,
    Tally,
    drop_duplicates,
    make_evidence,
    make_row,
    read_place,
)
from pkg.lab.datasets.file_pieces import CHUNKS
from pkg.lab.datasets.pair_checks import (
    ANSWER,
    QUESTION,
    Malformed,
    Repositories,
    find_span_fault,
    parse_pair,
    parse_score,
)
from pkg.lab.datasets.prompts import draw_question, name_prompt, quote_name, render_prompt
from pkg.lab.datasets.request_runner import (
    Reply,
    Request,
    RequestRunner,
    StepEstimate,
    estimate_requests,
    make_placeholder_text,
    run_step,
)
from pkg.lab.lab_options import DatasetOptions
from pkg.models.usage import Price

EXPLAIN, QUESTIONS, CURATE = "explain", "questions", "curate"
STEPS = (CHUNKS, EXPLAIN, QUESTIONS, CURATE)
"""Steps in their order; each takes the rows of the previous one."""


def explain(chunks: Iterable[Row], runner: RequestRunner, options: DatasetOptions, counts: StepCounts) -> Iterator[Row]:
    """Explain each chunk as to a beginner, and answer a question of the corpus, in every repetition."""

    def read(reply: Reply) -> list[Row] | str:
        explanation = reply.text.strip()
        if not explanation:
            return "nothing written"
        row = reply.request.row
        fields = {
            "type": row["type"],
            "asked": row["asked"],
            "explanation": explanation,
            "is_cut": reply.is_cut,
            "repetition": row["repetition"],
            "content": reply.request.place.content,
        }
        origin = Origin(EXPLAIN, runner.model.name, name_prompt(EXPLAIN), options.seed)
        return [make_row(reply.request.place, origin, fields, row["meta_data"])]

    yield from drop_duplicates(run_step(runner, request_explanations(chunks, options), read, counts), counts)


def request_explanations(chunks: Iterable[Row], options: DatasetOptions) -> Iterator[Request]:
    """Yield the requests for explanations of each chunk, one for each repetition (Q-11).

    The corpus question depends on the seed, the chunk and the repetition.
    """
    rows = list(chunks)
    for repetition in range(options.repeat):
        for chunk in rows:
            question = draw_question(Random(f"{options.seed}:{chunk['id']}:{repetition}"))
            place, meta = read_place(chunk), chunk["meta_data"]
            words = {
                **place.meta_data,
                "contains_class": "yes" if meta.get("contains_class") else "no",
                "contains_function": "yes" if meta.get("contains_function") else "no",
                "file_imports": "; ".join(meta.get("file_imports") or ()) or "none",
                "question": question.text,
                "content": place.content,
            }
            row = {**chunk, "type": question.type, "asked": question.text, "repetition": repetition}
            yield Request(place, row, render_prompt(EXPLAIN, words), options.make_decoding(repetition))


def make_questions(
    explanations: Iterable[Row],
    runner: RequestRunner,
    options: DatasetOptions,
    counts: StepCounts,
    repositories: Repositories,
) -> Iterator[Row]:
    """Write a question and answer from each explanation; drops pairs that do not name their place (Q-09)."""

    def read(reply: Reply) -> list[Row] | str:
        pair, place, row = parse_pair(reply.text, reply.is_cut), reply.request.place, reply.request.row
        if isinstance(pair, Malformed):
            return pair.reason
        fault = find_span_fault(pair, place, repositories.find(place.source))
        if fault is not None:
            return fault
        fields = {"question": pair.question, "answer": pair.answer}
        unhashed = {"type": row["type"], "evidence": make_evidence(place), "explanation_id": row["id"]}
        origin = Origin(QUESTIONS, runner.model.name, name_prompt(QUESTIONS), options.seed)
        return [make_row(place, origin, fields, unhashed=unhashed)]

    yield from drop_duplicates(run_step(runner, request_pairs(explanations, options), read, counts), counts)


def request_pairs(explanations: Iterable[Row], options: DatasetOptions) -> Iterator[Request]:
    """Yield a request for the question that each explanation answers; the prefill names the place."""
    for row in explanations:
        place = read_place(row)
        words = {**place.meta_data, "content": place.content, "explanation": row["explanation"]}
        prefill = f"{QUESTION} In the file {quote_name(place.file_name)} of the module {quote_name(place.module)},"
        prefill += f" lines {place.start_line} to {place.end_line},"
        yield Request(
            place, row, render_prompt(QUESTIONS, words), options.make_decoding(row["repetition"]), prefill, ANSWER
        )


def curate(pairs: Iterable[Row], runner: RequestRunner, options: DatasetOptions, counts: StepCounts) -> Iterator[Row]:
    """Score each pair from 1 to 5, and keep those that reach the threshold (Q-12); drops pairs without a score."""

    def read(reply: Reply) -> list[Row] | str:
        found, row = parse_score(reply.text), reply.request.row
        if isinstance(found, Malformed):
            return found.reason
        if found.score < options.threshold:
            return f"a score of {found.score}, below {options.threshold}"
        judged = Origin(CURATE, runner.model.name, name_prompt(CURATE), options.seed)
        fields = {name: row[name] for name in ("question", "answer")}
        unhashed = {name: row[name] for name in ("type", "evidence")}
        unhashed |= {
            "score": found.score,
            "reasoning": found.reasoning,
            "written_by": row["model"],
            "pair_id": row["id"],
        }
        return [make_row(reply.request.place, judged, fields, unhashed=unhashed)]

    yield from drop_duplicates(run_step(runner, request_scores(pairs, options), read, counts), counts)


def request_scores(pairs: Iterable[Row], options: DatasetOptions) -> Iterator[Request]:
    """Yield a request for the score of each pair, at temperature 0."""
    for row in pairs:
        place = read_place(row)
        words = {**place.meta_data, "content": place.content, "question": row["question"], "answer": row["answer"]}
        yield Request(place, row, render_prompt(CURATE, words), options.make_score_decoding())


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
        ask = {EXPLAIN: request_explanations, QUESTIONS: request_pairs, CURATE: request_scores}[step]
        requests = list(ask(rows, options))
        yield estimate_requests(step, requests, price)
        text = make_placeholder_text(options.max_tokens)
        rows = [request.row | {"explanation": text, "question": "", "answer": text} for request in requests]
