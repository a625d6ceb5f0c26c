"""Stages that run code in the sandbox, and the choice among versions by their runs (P-21, P-24, A-08, U-09)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pkg.errors import shorten
from pkg.rerank.candidates import Check, Example, Extracted, Verdict
from pkg.rerank.case import Case, DistinctCandidate
from pkg.rerank.conditions import split_expression, write_line
from pkg.rerank.example_rating import Rating, rate_own_result, rate_step
from pkg.rerank.examples.literals import parse_expression
from pkg.rerank.value_requests import Request, RequestBatch, RequestKind, run_requests
from pkg.sandbox import protocol
from pkg.sandbox.claims import clean_line
from pkg.sandbox.protocol import Kind, Sandbox


class SmokeStage:
    """Drops candidates that fail to load."""

    name = "smoke"
    drops = True

    def judge(self, case: Case, candidates: Sequence[DistinctCandidate]) -> list[Verdict]:
        """Load each candidate; the same run evaluates the examples for the next stage."""
        load_candidates(case, candidates)
        return [self._judge_one(case, each) for each in candidates]

    def _judge_one(self, case: Case, candidate: DistinctCandidate) -> Verdict:
        if candidate.run is None:
            return Verdict(self.name, True, 1.0, "not run")
        load = candidate.run.load
        if case.question.is_script and load.detail.startswith("EOFError") and not case.options.uses_whole_answer:
            return Verdict(self.name, True, 1.0, "it reads input, and there is none", load.seconds)
        passed = load.kind is Kind.OK
        return Verdict(
            self.name, passed, float(passed), "" if passed else f"{load.kind.value}: {load.detail}", load.seconds
        )


def load_candidates(case: Case, candidates: Sequence[DistinctCandidate]) -> None:
    """Run the candidates that have not run yet, with all examples as requests."""
    waiting = [each for each in candidates if each.run is None]
    if case.sandbox is None or not waiting:
        return
    visible = case.examples if "examples" in case.options.stages else ()
    examples = (*visible, *case.tests)
    requests = tuple(make_request(each, case.entry) for each in examples)
    results = run_requests(case.sandbox, [RequestBatch(each.code, requests) for each in waiting], case.limits)
    for candidate, result in zip(waiting, results, strict=True):
        candidate.run = result
    _run_undecided(case, case.sandbox, waiting, examples)


def _run_undecided(
    case: Case, sandbox: Sandbox, candidates: Sequence[DistinctCandidate], examples: Sequence[Example]
) -> None:
    """Evaluate in the candidates' processes what cannot be decided outside, such as the contents of a Stack."""
    indices = [_list_undecided(case, each, examples) for each in candidates]
    undecided = [(each, found) for each, found in zip(candidates, indices, strict=True) if found]
    if not undecided:
        return
    batches = [
        RequestBatch(each.code, tuple(_make_whole_request(examples[index], case.entry) for index in found))
        for each, found in undecided
    ]
    results = run_requests(sandbox, batches, case.limits)
    for (candidate, found), result in zip(undecided, results, strict=True):
        candidate.own_results = dict(zip(found, result.steps, strict=True))


def _make_whole_request(example: Example, entry: str | None) -> Request:
    return replace(make_request(example, entry), source=example.source)


def _list_undecided(case: Case, candidate: DistinctCandidate, examples: Sequence[Example]) -> list[int]:
    ends = candidate.run.steps if candidate.run is not None else ()
    ratings = [rate_step(example, end, case.entry) for example, end in zip(examples, ends, strict=True)]
    return [index for index, rating in enumerate(ratings) if rating.may_delegate]


def make_request(example: Example, entry: str | None = None) -> Request:
    """Make the request of an example, without the expected value and what is decided outside."""
    before = tuple(write_line(line, entry, example.before[:index]) for index, line in enumerate(example.before))
    if example.check is Check.PROGRAM:
        return Request(example.source, RequestKind.PROGRAM)
    if example.check in (Check.VALUE, Check.TRUTH):
        return Request(split_expression(example.source, entry, example.before).request, RequestKind.VALUE, before)
    is_value = example.check is Check.OUTPUT and parse_expression(example.source) is not None
    return Request(example.source, RequestKind.VALUE if is_value else RequestKind.STATEMENTS, before)


MAX_SHOWN = 120  # characters of a value in a reason


class ExamplesStage:
    """Scores the share of the visible examples that hold; it drops none, because an example may be wrong."""

    name = "examples"
    drops = False

    def judge(self, case: Case, candidates: Sequence[DistinctCandidate]) -> list[Verdict]:
        """Compare the results with the examples of the query."""
        load_candidates(case, candidates)
        return [judge_examples(self.name, case, each, case.examples, 0) for each in candidates]


class OracleStage:
    """Scores hidden tests, only for research: a ranking that uses them is not a measurement."""

    name = "oracle"
    drops = False

    def judge(self, case: Case, candidates: Sequence[DistinctCandidate]) -> list[Verdict]:
        """Compare the results with the hidden tests."""
        load_candidates(case, candidates)
        first = len(case.examples) if "examples" in case.options.stages else 0
        return [judge_examples(self.name, case, each, case.tests, first) for each in candidates]


def judge_examples(
    stage: str, case: Case, candidate: DistinctCandidate, examples: Sequence[Example], first: int
) -> Verdict:
    """Return the verdict on examples; first: index of their first step in the run of the candidate."""
    if candidate.run is None or not examples:
        return Verdict(stage, True, 0.0, "none to try" if not examples else "not run")
    ends = candidate.run.steps[first : first + len(examples)]
    ratings = rate_examples(case, candidate, examples, first)
    held = [rating.rate > 0 for rating in ratings]
    score = sum(rating.rate for rating in ratings) / len(examples)
    seconds = sum(end.seconds for end in (*ends, *candidate.own_results.values()))
    return Verdict(stage, all(held), score, _explain(examples, ends, ratings), seconds)


def rate_examples(
    case: Case, candidate: DistinctCandidate, examples: Sequence[Example], first: int = 0
) -> list[Rating]:
    """Rate each example; first: index of their first step in the run of the candidate."""
    ends = candidate.run.steps[first : first + len(examples)] if candidate.run is not None else ()
    ratings = [rate_step(example, end, case.entry) for example, end in zip(examples, ends, strict=True)]
    for index, end in candidate.own_results.items():
        if first <= index < first + len(examples):
            rate = rate_own_result(examples[index - first], end)
            ratings[index - first] = ratings[index - first]._replace(rate=rate)
    return ratings


def _explain(examples: Sequence[Example], ends: Sequence[protocol.Verdict], ratings: Sequence[Rating]) -> str:
    """Describe how many examples hold, the first failure, and the examples that the candidate's process decided."""
    count = f"{sum(rating.rate > 0 for rating in ratings)} of {len(ratings)} hold"
    notes = [rating.note for rating in ratings if rating.rate > 0 and rating.note]
    if notes:
        count += f", {len(notes)} of them decided in the candidate's process ({notes[0]})"
    for example, end, rating in zip(examples, ends, ratings, strict=True):
        if not rating.rate:
            return f"{count}; {shorten(example.shown, MAX_SHOWN)}: got {_show_end(example, end, rating)}"
    return count


def _show_end(example: Example, end: protocol.Verdict, rating: Rating) -> str:
    if end.kind is not Kind.OK:
        return shorten(f"{end.kind.value}: {end.detail}", MAX_SHOWN)
    seen = repr(end.output) if example.check in (Check.OUTPUT, Check.PROGRAM) else clean_line(end.value or "nothing")
    return shorten(seen, MAX_SHOWN) + (f" ({shorten(rating.note, MAX_SHOWN)})" if rating.note else "")


def choose_versions(case: Case, answers: Sequence[Sequence[Extracted]]) -> list[DistinctCandidate]:
    """Choose a version of each answer; results of runs are kept.

    The versions of an answer are tried in order until one loads and all examples hold.
    """
    tried = [[DistinctCandidate([], versions[0])] for versions in answers]
    if case.sandbox is None or case.options.uses_whole_answer:
        return [each for (each,) in tried]
    left = [list(versions[1:]) for versions in answers]
    waiting = [index for index, rest in enumerate(left) if rest]
    while waiting:
        load_candidates(case, [tried[index][-1] for index in waiting])
        waiting = [index for index in waiting if left[index] and _needs_another(case, tried[index][-1])]
        for index in waiting:
            tried[index].append(DistinctCandidate([], left[index].pop(0)))
    return [each[0] if len(each) == 1 else max(each, key=partial(_rate, case)) for each in tried]


def _needs_another(case: Case, last: DistinctCandidate) -> bool:
    """Return whether a version does not load, or fails an example."""
    loads, share = _rate(case, last)
    has_examples = bool(case.examples) and "examples" in case.options.stages
    return not (loads and (share == 1.0 or not has_examples))


def _rate(case: Case, candidate: DistinctCandidate) -> tuple[bool, float]:
    """Return whether a version loads, and the share of the examples that hold."""
    loads = candidate.run is not None and candidate.run.load.kind is Kind.OK
    if not loads or "examples" not in case.options.stages:
        return loads, 0.0
    (verdict,) = ExamplesStage().judge(case, [candidate])
    return loads, float(verdict.passed) or verdict.score
