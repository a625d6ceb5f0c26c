"""Make contenders of candidates: find the code of each, choose among its versions, and put equal code together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pkg.extract.syntax import parse_code
from pkg.local_errors import describe_local
from pkg.rerank.candidates import Check, Example, Extracted, Task
from pkg.rerank.case import Case, Contender, list_functions
from pkg.rerank.examples.find import list_called
from pkg.rerank.extraction import list_versions
from pkg.rerank.stages.similarity import strip_code
from pkg.rerank.version_choice import choose_versions
from pkg.rerank.wanted import Question


def find_contenders(task: Task, case: Case) -> list[Contender]:
    """Find the code of each candidate and put equal code together: what is said twice counts as two votes."""
    question = replace(case.question, entry=case.entry)
    answers: dict[tuple[str, ...], list[int]] = {}
    shown: list[tuple[Extracted, ...]] = []
    for place, candidate in enumerate(task.candidates):
        versions = _list_versions(candidate.text, question)
        places = answers.setdefault(tuple(strip_code(each.code) for each in versions), [])
        shown += [] if places else [versions]
        places.append(place)
    forget_strangers(case, shown)
    chosen = choose_versions(case, shown)
    for contender, places in zip(chosen, answers.values(), strict=True):
        contender.places = places
    return fold_contenders(chosen)


def _list_versions(text: str, question: Question) -> tuple[Extracted, ...]:
    """List the versions of the code of a candidate; an unexpected exception leaves it without code."""
    try:
        return list_versions(text, question)
    except Exception as fault:
        return (Extracted("", describe_local(fault)),)


def fold_contenders(contenders: Sequence[Contender]) -> list[Contender]:
    """Put contenders of equal code together; those with lines that only use it stay apart, a notch below."""
    folded: dict[tuple[str, bool], Contender] = {}
    for each in contenders:
        each.stripped = strip_code(each.code)
        first = folded.setdefault((each.stripped, bool(each.found.driver)), each)
        if first is not each:
            first.places = sorted((*first.places, *each.places))
    return list(folded.values())


def forget_strangers(case: Case, answers: Iterable[Sequence[Extracted]]) -> None:
    """Leave out examples of functions that no candidate defines: the query speaks of something else there."""
    trees = [parse_code(each.code) for versions in answers for each in versions]
    defined = {name for tree in trees if tree is not None for name in list_functions(tree)}
    known = [each for each in case.examples if not each.line or _is_known(each, case, defined)]
    if len(known) < len(case.examples):
        case.notes.append(f"{len(case.examples) - len(known)} examples call what no candidate defines")
        case.examples = tuple(known)


def _is_known(example: Example, case: Case, defined: set[str]) -> bool:
    if example.check is Check.PROGRAM:
        return True
    return case.question.entry is not None or bool(list_called(example) & defined)
