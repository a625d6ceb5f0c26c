"""Choose the best of several candidates (the use case)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pkg.errors import InputError, MissingExtraError, SandboxError
from pkg.extract.syntax import parse_code
from pkg.local_errors import describe_local
from pkg.rerank.candidates import (
    Candidate,
    Check,
    Example,
    Extracted,
    Name,
    Ranked,
    Ranking,
    RerankOptions,
    Task,
    Verdict,
)
from pkg.rerank.case import Case, DistinctCandidate, list_functions, make_case
from pkg.rerank.examples.example_search import list_called
from pkg.rerank.extraction import list_versions
from pkg.rerank.parsed_question import Question
from pkg.rerank.stages.comparisons import BehaviourStage, SimilarityStage, strip_code
from pkg.rerank.stages.sandbox_stages import ExamplesStage, OracleStage, SmokeStage, choose_versions
from pkg.rerank.stages.static_stages import Stage, StaticStage, SyntaxStage

if TYPE_CHECKING:
    from pkg.sandbox.protocol import Sandbox


ORDER = ("oracle", "examples", "syntax", "static", "behaviour")
"""Evidence, strongest first. Examples say more than warnings of the syntax and static stages, which may concern a
branch that no example reaches. Similarity to the query comes last, in `_make_sort_key`."""

_DYNAMIC = frozenset(("examples", "behaviour"))  # stages that observe the behaviour of a candidate

_DROPPING = ("syntax", "smoke", "static")  # stages that drop candidates, in the order in which they are passed


def apply_warnings(case: Case, candidates: Sequence[DistinctCandidate]) -> None:
    """Drop candidates with a static warning, unless every visible example holds for them (A-08)."""
    for each in candidates:
        warning = each.verdicts.get("static")
        examples = each.verdicts.get("examples")
        is_cleared = bool(case.examples) and examples is not None and examples.passed
        if each.dropped is None and warning is not None and not warning.passed and not is_cleared:
            each.dropped = "static"


def choose_finalists(candidates: Sequence[DistinctCandidate]) -> list[DistinctCandidate]:
    """Return the candidates that were not dropped; if all were, those that passed the most stages (A-09)."""
    alive = [each for each in candidates if each.dropped is None]
    if alive:
        return alive
    most = max(map(_count_passed, candidates))
    return [each for each in candidates if _count_passed(each) == most]


def _count_passed(candidate: DistinctCandidate) -> int:
    return len(_DROPPING) if candidate.dropped is None else _DROPPING.index(candidate.dropped)


def order_candidates(case: Case, candidates: Sequence[DistinctCandidate]) -> list[DistinctCandidate]:
    """Sort by the number of passed stages, then by the evidence, then by the input order."""
    return sorted(candidates, key=lambda each: (-_count_passed(each), *_make_sort_key(case, each), each.indices[0]))


def _make_sort_key(case: Case, candidate: DistinctCandidate) -> tuple[float, ...]:
    """Return the sort key of the evidence: lexicographic, or the weighted sum if there are weights.

    Among candidates of equal behaviour, the first one in the input precedes similarity: it is usually the greedy one,
    and the paper's stages, which choose by similarity, score below it in every variant of the benchmark
    (benchmarks/results/rerank.json). An answer with driver code ranks below an equal one without.
    """
    weights = case.options.weights
    has_driver = float(bool(candidate.extracted.driver) and not case.options.uses_whole_answer)
    if not weights:
        is_later = bool(_DYNAMIC & {*case.options.stages}) and 0 not in candidate.indices
        evidence = (-candidate.score(stage) for stage in ORDER)
        return (*evidence, has_driver, float(is_later), -candidate.score("similarity"))
    total = sum(weight * candidate.score(stage) for stage, weight in weights.items())
    return (-candidate.score("oracle"), -total, has_driver)


_FILTERS: tuple[Stage, ...] = (SyntaxStage(), StaticStage(), SmokeStage(), ExamplesStage(), OracleStage())
_COMPARISONS: tuple[Stage, ...] = (BehaviourStage(), SimilarityStage())


class Reranker:
    """Chooses among candidates, for many tasks with one sandbox; a context manager."""

    def __init__(self, options: RerankOptions | None = None, sandbox: Sandbox | None = None) -> None:
        """Open the sandbox of the options unless one is given; raises a PkgError if it cannot be opened."""
        self.options = options or RerankOptions()
        self.note = ""
        self.sandbox = sandbox or (self._open() if self.options.runs_code else None)

    def __enter__(self) -> Reranker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the sandbox."""
        if self.sandbox is not None:
            self.sandbox.close()

    def _open(self) -> Sandbox | None:
        """Open the sandbox; None if the default of the platform is missing, which leaves only the static stages."""
        from pkg.sandbox.worker_pool import open_sandbox

        try:
            return open_sandbox(self.options.sandbox, self.options.jobs)
        except (SandboxError, MissingExtraError) as fault:
            if self.options.sandbox is not None or sys.platform == "linux":
                raise
            self.note = f"no candidate was run, because there is no sandbox here: {fault}"
            return None

    def rerank(
        self, query: str, candidates: Sequence[str | Mapping[str, Any] | Candidate], *, examples: Sequence[Any] = ()
    ) -> Ranking:
        """Choose among candidates for a query; raises an InputError if there are none."""
        return self.rank(Task(query, make_candidates(candidates), tuple(examples)))

    def rank(self, task: Task, tests: Any = None) -> Ranking:
        """Choose among the candidates of a task; hidden tests make it an oracle.

        Raises an InputError if there are no candidates, or for an invalid example or test.
        """
        if not task.candidates:
            raise InputError("no candidates; expected at least one, as a text or an object with the field text")
        answers = [each.text for each in task.candidates]
        case = make_case(task.query, task.examples, self.options, self.sandbox, tests, answers)
        case.notes += [self.note] if self.note else []
        candidates = find_distinct_candidates(task, case)
        run_filters(case, candidates)
        apply_warnings(case, candidates)
        finalists = choose_finalists(candidates)
        run_comparisons(case, candidates, finalists)
        return make_ranking(task, case, order_candidates(case, candidates))


def make_candidates(given: Iterable[str | Mapping[str, Any] | Candidate]) -> tuple[Candidate, ...]:
    """Make candidates from texts or objects with a text and an optional id; raises an InputError for anything else."""
    candidates = tuple(_make_candidate(index, each) for index, each in enumerate(given))
    repeated = [name for name, count in Counter(each.id for each in candidates).items() if count > 1]
    if repeated:
        raise InputError(f"several candidates have the id {repeated[0]!r}; expected unique ids, or none")
    return candidates


def _make_candidate(index: int, given: Any) -> Candidate:
    if isinstance(given, Candidate):
        return given
    if isinstance(given, str):
        return Candidate(index, given)
    text = given.get("text") if isinstance(given, Mapping) else None
    if not isinstance(text, str):
        raise InputError(f"candidate {index} has no text; expected a text, or an object with the field text")
    own = given.get("id")
    extra = {name: value for name, value in given.items() if name not in ("id", "text")}
    return Candidate(own if isinstance(own, str | int) and not isinstance(own, bool) else index, text, extra)


def run_filters(case: Case, candidates: Sequence[DistinctCandidate]) -> None:
    """Run the stages that judge candidates one by one, on those that are left."""
    for stage in _FILTERS:
        if stage.name not in case.options.stages and not (stage.name == "oracle" and case.is_oracle):
            continue
        alive = [each for each in candidates if each.dropped is None]
        for candidate, verdict in zip(alive, judge_each(stage, case, alive), strict=True):
            candidate.verdicts[stage.name] = verdict
            if stage.drops and not verdict.passed:
                candidate.dropped = stage.name


def run_comparisons(
    case: Case, candidates: Sequence[DistinctCandidate], finalists: Sequence[DistinctCandidate]
) -> None:
    """Run the stages that compare candidates; similarity is measured for all of them."""
    for stage in _COMPARISONS:
        if stage.name not in case.options.stages:
            continue
        runnable = [each for each in finalists if each.dropped not in ("syntax", "smoke")]
        judged = candidates if stage.name == "similarity" else runnable
        for candidate, verdict in zip(judged, compare_all(stage, case, judged), strict=True):
            candidate.verdicts[stage.name] = verdict


def compare_all(stage: Stage, case: Case, candidates: Sequence[DistinctCandidate]) -> Sequence[Verdict]:
    """Return the verdicts of a comparing stage; after an unexpected failure, the candidates that cause it score 0.

    Those are the candidates for which the stage fails when they are compared with themselves.
    """
    try:
        return list(stage.judge(case, candidates))
    except Exception as fault:
        reason = describe_local(fault)
    faults = [_find_fault(stage, case, each) for each in candidates]
    sound = [each for each, fault in zip(candidates, faults, strict=True) if not fault]
    compared = iter(compare_all(stage, case, sound) if len(sound) < len(candidates) else ())
    reasons = [fault or (reason if len(sound) == len(candidates) else "") for fault in faults]
    case.notes += [
        f"{stage.name} of candidate {each.indices[0]}: {reason}"
        for each, reason in zip(candidates, reasons, strict=True)
        if reason
    ]
    return [Verdict(stage.name, True, 0.0, reason) if reason else next(compared) for reason in reasons]


def _find_fault(stage: Stage, case: Case, candidate: DistinctCandidate) -> str:
    """Return the failure of a stage that compares a candidate with itself; "" if there is none."""
    try:
        stage.judge(case, [candidate, candidate])
    except Exception as fault:
        return describe_local(fault)
    return ""


def judge_each(stage: Stage, case: Case, candidates: Sequence[DistinctCandidate]) -> Sequence[Verdict]:
    """Return the verdicts of a stage; after an unexpected failure, each candidate is judged alone.

    A candidate for which it fails again is not dropped and scores 0.
    """
    try:
        return list(stage.judge(case, candidates))
    except Exception as fault:
        reason = describe_local(fault)
        if len(candidates) == 1:
            case.notes.append(f"{stage.name} of candidate {candidates[0].indices[0]}: {reason}")
            return [Verdict(stage.name, True, 0.0, reason)]
    return [verdict for each in candidates for verdict in judge_each(stage, case, [each])]


def make_ranking(task: Task, case: Case, ordered: Sequence[DistinctCandidate]) -> Ranking:
    """Return the ranking of all candidates; those of equal code share a rank."""
    ranked: dict[int, Ranked] = {}
    for rank, candidate in enumerate(ordered, 1):
        for index in candidate.indices:
            ranked[index] = _make_ranked(task.candidates, candidate, index, rank)
    order = [task.candidates[index].id for candidate in ordered for index in candidate.indices]
    return Ranking(
        chosen=order[0],
        order=tuple(order),
        candidates=tuple(ranked[index] for index in range(len(task.candidates))),
        fallback=all(each.dropped is not None for each in ordered),
        entry=case.entry,
        examples=tuple(each.shown for each in case.examples),
        inputs=case.inputs,
        sandbox=case.sandbox.name if case.sandbox is not None else None,
        oracle=case.is_oracle,
        notes=tuple(case.notes),
        id=task.id,
        extra=task.extra,
    )


def describe_found(found: Extracted) -> str:
    """Describe how the code was extracted, and its driver code."""
    if found.is_without_driver or not found.driver:
        return found.note
    return "; ".join(filter(None, (found.note, f"ranked below equal code because of its driver code ({found.driver})")))


def _make_ranked(candidates: Sequence[Candidate], candidate: DistinctCandidate, index: int, rank: int) -> Ranked:
    first: Name | None = candidates[candidate.indices[0]].id if index != candidate.indices[0] else None
    similarity = candidate.verdicts.get("similarity")
    reason = candidate.verdicts[candidate.dropped].reason if candidate.dropped else describe_found(candidate.extracted)
    return Ranked(
        id=candidates[index].id,
        rank=rank,
        code=candidate.code,
        votes=candidate.votes,
        same_as=first,
        dropped=candidate.dropped,
        reason=reason,
        verdicts=tuple(candidate.verdicts.values()),
        similarity=similarity.score if similarity is not None else None,
        extra=candidates[index].extra,
        is_cut=candidate.extracted.is_cut,
    )


def find_distinct_candidates(task: Task, case: Case) -> list[DistinctCandidate]:
    """Extract the code of each candidate and merge equal code; each merged candidate counts as one vote."""
    question = replace(case.question, entry=case.entry)
    answers: dict[tuple[str, ...], list[int]] = {}
    distinct: list[tuple[Extracted, ...]] = []
    for index, candidate in enumerate(task.candidates):
        versions = _list_versions(candidate.text, question)
        indices = answers.setdefault(tuple(strip_code(each.code) for each in versions), [])
        distinct += [] if indices else [versions]
        indices.append(index)
    drop_unrelated_examples(case, distinct)
    chosen = choose_versions(case, distinct)
    for each, indices in zip(chosen, answers.values(), strict=True):
        each.indices = indices
    return merge_equal_code(chosen)


def _list_versions(text: str, question: Question) -> tuple[Extracted, ...]:
    """List the versions of the code of a candidate; after an unexpected exception it has no code."""
    try:
        return list_versions(text, question)
    except Exception as fault:
        return (Extracted("", describe_local(fault)),)


def merge_equal_code(candidates: Sequence[DistinctCandidate]) -> list[DistinctCandidate]:
    """Merge candidates with equal code; those with driver code stay separate, because they rank below."""
    merged: dict[tuple[str, bool], DistinctCandidate] = {}
    for each in candidates:
        each.stripped = strip_code(each.code)
        first = merged.setdefault((each.stripped, bool(each.extracted.driver)), each)
        if first is not each:
            first.indices = sorted((*first.indices, *each.indices))
    return list(merged.values())


def drop_unrelated_examples(case: Case, answers: Iterable[Sequence[Extracted]]) -> None:
    """Drop examples of functions that no candidate defines: they are about something else."""
    trees = [parse_code(each.code) for versions in answers for each in versions]
    defined = {name for tree in trees if tree is not None for name in list_functions(tree)}
    known = [each for each in case.examples if not each.line or _is_known(each, case, defined)]
    if len(known) < len(case.examples):
        case.notes.append(f"{len(case.examples) - len(known)} examples call a function that no candidate defines")
        case.examples = tuple(known)


def _is_known(example: Example, case: Case, defined: set[str]) -> bool:
    if example.check is Check.PROGRAM:
        return True
    return case.question.entry is not None or bool(list_called(example) & defined)
