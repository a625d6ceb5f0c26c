"""Choose the version of each answer for which the visible examples hold, or else the most likely one (P-21)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pkg.rerank.candidates import Extracted
from pkg.rerank.case import Case, DistinctCandidate
from pkg.rerank.stages.sandbox_stages import ExamplesStage, load_candidates
from pkg.sandbox.protocol import Kind


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
