"""Extract the code of each candidate, choose among its versions, and merge candidates with equal code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pkg.extract.syntax import parse_code
from pkg.local_errors import describe_local
from pkg.rerank.candidates import Check, Example, Extracted, Task
from pkg.rerank.case import Case, DistinctCandidate, list_functions
from pkg.rerank.examples.example_search import list_called
from pkg.rerank.extraction import list_versions
from pkg.rerank.parsed_question import Question
from pkg.rerank.stages.similarity import strip_code
from pkg.rerank.version_choice import choose_versions


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
