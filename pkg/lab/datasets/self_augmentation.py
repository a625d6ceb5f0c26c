"""Have a model explain pieces of files, make questions of the explanations, and keep the good ones (Q-08 to Q-12).

Each step takes the rows of the one before it and gives its own, in their order; what it drops it counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from pkg.lab.datasets.asking import Asker, Reply, Request, run_step
from pkg.lab.datasets.dataset_options import DatasetOptions
from pkg.lab.datasets.dataset_rows import Origin, Row, StepCounts, drop_twins, make_row, read_place, show_evidence
from pkg.lab.datasets.pair_checks import Repositories, find_span_fault
from pkg.lab.datasets.pair_parsing import ANSWER, QUESTION, Malformed, parse_pair, parse_score
from pkg.lab.datasets.prompts import draw_question, name_prompt, quote_name, render_prompt

EXPLAIN, QUESTIONS, CURATE = "explain", "questions", "curate"


def explain(chunks: Iterable[Row], asker: Asker, options: DatasetOptions, counts: StepCounts) -> Iterator[Row]:
    """Have each chunk explained as to a beginner, with a question of the corpus answered, in every repetition."""

    def read(reply: Reply) -> list[Row] | str:
        explanation = reply.text.strip()
        if not explanation:
            return "nothing written"
        row = reply.request.row
        said = {
            "type": row["type"],
            "asked": row["asked"],
            "explanation": explanation,
            "is_cut": reply.is_cut,
            "repetition": row["repetition"],
            "content": reply.request.place.content,
        }
        origin = Origin(EXPLAIN, asker.model.name, name_prompt(EXPLAIN), options.seed)
        return [make_row(reply.request.place, origin, said, row["meta_data"])]

    yield from drop_twins(run_step(asker, ask_explanations(chunks, options), read, counts), counts)


def ask_explanations(chunks: Iterable[Row], options: DatasetOptions) -> Iterator[Request]:
    """Ask for the explanation of each chunk in every repetition (Q-11).

    The question is drawn by the seed, the chunk and the repetition.
    """
    rows = list(chunks)
    for repetition in range(options.repeat):
        for chunk in rows:
            question = draw_question(Random(f"{options.seed}:{chunk['id']}:{repetition}"))
            place, meta = read_place(chunk), chunk["meta_data"]
            words = {
                **place.meta_data,
                "contains_class": _say(meta.get("contains_class")),
                "contains_function": _say(meta.get("contains_function")),
                "file_imports": "; ".join(meta.get("file_imports") or ()) or "none",
                "question": question.text,
                "content": place.content,
            }
            row = {**chunk, "type": question.type, "asked": question.text, "repetition": repetition}
            yield Request(place, row, render_prompt(EXPLAIN, words), options.decode(repetition))


def _say(holds: object) -> str:
    return "yes" if holds else "no"


def make_questions(
    explanations: Iterable[Row],
    asker: Asker,
    options: DatasetOptions,
    counts: StepCounts,
    repositories: Repositories,
) -> Iterator[Row]:
    """Have a question with its answer made of each explanation; one that is not about its place is dropped (Q-09)."""

    def read(reply: Reply) -> list[Row] | str:
        pair, place, row = parse_pair(reply.text, reply.is_cut), reply.request.place, reply.request.row
        if isinstance(pair, Malformed):
            return pair.reason
        fault = find_span_fault(pair, place, repositories.find(place.source))
        if fault is not None:
            return fault
        said = {"question": pair.question, "answer": pair.answer}
        beside = {"type": row["type"], "evidence": show_evidence(place), "explanation_id": row["id"]}
        origin = Origin(QUESTIONS, asker.model.name, name_prompt(QUESTIONS), options.seed)
        return [make_row(place, origin, said, beside=beside)]

    yield from drop_twins(run_step(asker, ask_pairs(explanations, options), read, counts), counts)


def ask_pairs(explanations: Iterable[Row], options: DatasetOptions) -> Iterator[Request]:
    """Ask for the question that each explanation answers; its place is written for models that can be begun for."""
    for row in explanations:
        place = read_place(row)
        words = {**place.meta_data, "content": place.content, "explanation": row["explanation"]}
        begun = f"{QUESTION} In the file {quote_name(place.file_name)} of the module {quote_name(place.module)},"
        begun += f" lines {place.start_line} to {place.end_line},"
        yield Request(place, row, render_prompt(QUESTIONS, words), options.decode(row["repetition"]), begun, ANSWER)


def curate(pairs: Iterable[Row], asker: Asker, options: DatasetOptions, counts: StepCounts) -> Iterator[Row]:
    """Have each pair scored from 1 to 5, and keep those that reach the threshold (Q-12); no score, no row."""

    def read(reply: Reply) -> list[Row] | str:
        found, row = parse_score(reply.text), reply.request.row
        if isinstance(found, Malformed):
            return found.reason
        if found.score < options.threshold:
            return f"a score of {found.score}, below {options.threshold}"
        judged = Origin(CURATE, asker.model.name, name_prompt(CURATE), options.seed)
        said = {name: row[name] for name in ("question", "answer")}
        beside = {name: row[name] for name in ("type", "evidence")}
        beside |= {"score": found.score, "reasoning": found.reasoning, "written_by": row["model"], "pair_id": row["id"]}
        return [make_row(reply.request.place, judged, said, beside=beside)]

    yield from drop_twins(run_step(asker, ask_scores(pairs, options), read, counts), counts)


def ask_scores(pairs: Iterable[Row], options: DatasetOptions) -> Iterator[Request]:
    """Ask for the score of each pair, always by the likeliest words."""
    for row in pairs:
        place = read_place(row)
        words = {**place.meta_data, "content": place.content, "question": row["question"], "answer": row["answer"]}
        yield Request(place, row, render_prompt(CURATE, words), options.judge())
