"""Evaluate a graph on judged questions, in every mode and by every ranking (`pkg eval retrieval`)."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pkg.encode.encoder import Encoder
from pkg.errors import InputError, QueryError
from pkg.graph.store import GraphStore, choose_sources
from pkg.lab.evaluation.retrieval.judged_questions import JudgedQuestion, QuestionFile
from pkg.lab.evaluation.retrieval.rank_scores import (
    CUT,
    DEPTH,
    Answered,
    AnswerPlaces,
    find_normal_interval,
    measure_depth,
    reciprocal_ranks,
    summarise_ranks,
)
from pkg.lab.evaluation.retrieval.rankings import BASELINE, Given, RankingSystem, list_systems
from pkg.lab.lab_options import EVALUATED_MODES, EvaluatedMode, EvaluationOptions, Listen

NOTE = (
    "pruning and the floor change no order: what is cut of a hit is cut after it is ranked, and hits that do not fit"
    " are still listed"
)


@dataclass(frozen=True, slots=True)
class RankingFigures:
    """The figures of one ranking in one mode."""

    mode: str
    ranking: str
    without: str  # the flag of an ablation; "" for the defaults of pkg query
    figures: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """The figures of an evaluation, and counts of the questions left out."""

    store: str
    encoder: str
    sources: tuple[str, ...]
    questions: int  # number of questions asked
    left_out: Mapping[str, int]
    gold: int  # right answers of all questions
    gold_missing: Mapping[str, int]  # by mode: right answers without a node in the graph
    first_missing: Mapping[str, str]
    rows: tuple[RankingFigures, ...]
    notes: tuple[str, ...] = ()


def evaluate_retrieval(
    store: GraphStore,
    encoder: Encoder,
    asked: QuestionFile,
    options: EvaluationOptions | None = None,
    listen: Listen = lambda mode, done, total: None,
) -> RetrievalReport:
    """Score the answers to every question, in every mode and by every ranking.

    Raises UsageError for an unknown source, QueryError if the graph has no nodes for a requested mode, InputError if it
    holds no right answer.
    """
    options = options or EvaluationOptions()
    choose_sources(store, options.source)
    depth = measure_depth(name for question in asked.questions for name in question.gold)
    rows: list[RankingFigures] = []
    missing: dict[str, list[str]] = {}
    same: list[str] = []
    with store.snapshot():
        for mode, places in _open_modes(store, options, depth):
            questions = [JudgedQuestion(each.id, each.text, places.widen(each.gold)) for each in asked.questions]
            missing[mode] = [name for each in questions for name in places.list_missing(each.gold)]
            if len(missing[mode]) == sum(len(each.gold) for each in questions):
                raise InputError(
                    f"none of the {len(missing[mode]):,} right answers is a {mode} of {store.address} (the first:"
                    f" '{missing[mode][0]}', in the graph: '{places.show_name()}'); expected ids of rows, or path or"
                    " path::qualname, of what the graph was built from"
                )
            systems = list_systems(store, encoder, mode, places, options.rankings, options.source)
            rows += _evaluate_mode(mode, systems, questions, places, listen, same)
        sources = tuple(each.name for each in store.sources() if options.source in (None, each.name))
    left_out = {"questions without a right answer": len(asked.unjudged), "unknown questions": len(asked.unknown)}
    left_out["questions beyond the limit"] = asked.read - len(asked.unjudged) - len(asked.questions)
    return RetrievalReport(
        store.address,
        store.encoder()[0],
        sources,
        len(asked.questions),
        left_out,
        sum(len(each.gold) for each in asked.questions),
        {mode: len(names) for mode, names in missing.items()},
        {mode: names[0] for mode, names in missing.items() if names},
        tuple(rows),
        (NOTE, *same),
    )


def _open_modes(
    store: GraphStore, options: EvaluationOptions, depth: int
) -> Iterator[tuple[EvaluatedMode, AnswerPlaces]]:
    """Yield the modes with their possible answers; files are a mode only if the graph has more than corpora."""
    has_files = any(each.kind != "corpus" for each in store.sources() if options.source in (None, each.name))
    for mode in options.modes or [each for each in EVALUATED_MODES if each != "file" or has_files]:
        places = AnswerPlaces(store, mode, options.source, depth)
        if places.texts:
            yield mode, places
        elif options.modes or mode == "function":
            raise QueryError(
                f"no {mode}s in {store.address}, so there is nothing to find in the mode {mode}; build a graph of code"
                " that has some, or choose another --mode"
            )


def _evaluate_mode(
    mode: EvaluatedMode,
    systems: Sequence[RankingSystem],
    questions: Sequence[JudgedQuestion],
    places: AnswerPlaces,
    listen: Listen,
    same: list[str],
) -> Iterator[RankingFigures]:
    """Yield the figures of each ranking; an ablation that changes no answer only adds a line to `same`."""
    baseline: list[float] | None = None
    whole: dict[str, list[Given]] = {}  # results of the rankings before their ablations
    total = len(systems) * len(questions)
    for number, system in enumerate(systems):
        given, seconds = [], []
        for count, question in enumerate(questions, start=number * len(questions) + 1):
            start = time.perf_counter()
            given.append(system.search(question.text, DEPTH))
            seconds.append(time.perf_counter() - start)
            listen(mode, count, total)
        if system.without and _are_equal(given, whole[system.ranking]):
            same.append(f"{system.without} changes nothing here in the mode {mode}")
            continue
        whole.setdefault(system.ranking, given)
        answers = [places.judge(each.ids, question.gold) for each, question in zip(given, questions, strict=True)]
        figures = summarise_ranks(answers) | _describe_fit(given, answers)
        if baseline is not None:
            figures |= _compare(reciprocal_ranks(answers), baseline)
        if system.ranking == BASELINE:
            baseline = reciprocal_ranks(answers)
        figures["ms"] = round(statistics.median(seconds) * 1000, 2)
        yield RankingFigures(mode, system.ranking, system.without, figures)


def _are_equal(some: Sequence[Given], others: Sequence[Given]) -> bool:
    return all(list(one.ids) == list(other.ids) for one, other in zip(some, others, strict=True))


def _describe_fit(given: Sequence[Given], answers: Sequence[Answered]) -> dict[str, Any]:
    """Count the questions for which nothing fits, so that prompts are empty, and the wrong ones among them."""
    if all(each.fits is None for each in given):
        return {}
    unfit = [answer for each, answer in zip(given, answers, strict=True) if each.fits is False]
    wrong = sum(bool(answer.rank and answer.rank <= CUT) for answer in unfit)
    return {"nothing_fits": len(unfit), "nothing_fits_wrongly": wrong}


def _compare(values: Sequence[float], baseline: Sequence[float]) -> dict[str, Any]:
    """Return the mean difference of the reciprocal ranks to those of plain BM25, paired by question."""
    gains = [value - other for value, other in zip(values, baseline, strict=True)]
    return {
        f"mrr@{CUT}_over_{BASELINE}": round(statistics.mean(gains), 4),
        f"mrr@{CUT}_over_{BASELINE}_95%": [round(bound, 4) for bound in find_normal_interval(gains)],
    }
