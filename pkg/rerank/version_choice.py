"""Of each answer choose the version for which the visible examples hold, or else the one that it ends with (P-21)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pkg.rerank.candidates import Extracted
from pkg.rerank.case import Case, Contender
from pkg.rerank.stages.sandbox_stages import ExamplesStage, load_contenders
from pkg.sandbox.protocol import Kind


def choose_versions(case: Case, answers: Sequence[Sequence[Extracted]]) -> list[Contender]:
    """Choose a version of each answer; one that was run keeps what came out.

    The versions of an answer are tried one after the other until one loads and all examples hold.
    """
    tried = [[Contender([], versions[0])] for versions in answers]
    if case.sandbox is None or case.options.takes_whole:
        return [each for (each,) in tried]
    left = [list(versions[1:]) for versions in answers]
    waiting = [place for place, rest in enumerate(left) if rest]
    while waiting:
        load_contenders(case, [tried[place][-1] for place in waiting])
        waiting = [place for place in waiting if _goes_on(case, tried[place][-1], left[place])]
        for place in waiting:
            tried[place].append(Contender([], left[place].pop(0)))
    return [each[0] if len(each) == 1 else max(each, key=partial(_rate, case)) for each in tried]


def _goes_on(case: Case, last: Contender, left: list[Extracted]) -> bool:
    """Tell whether another version is to be tried."""
    loads, share = _rate(case, last)
    is_shown = bool(case.examples) and "examples" in case.options.stages
    return bool(left) and not (loads and (share == 1.0 or not is_shown))


def _rate(case: Case, contender: Contender) -> tuple[bool, float]:
    """Rate a version by whether it loads and by the share of the examples that hold."""
    loads = contender.run is not None and contender.run.load.kind is Kind.OK
    if not loads or "examples" not in case.options.stages:
        return loads, 0.0
    (verdict,) = ExamplesStage().judge(case, [contender])
    return loads, float(verdict.passed) or verdict.score
