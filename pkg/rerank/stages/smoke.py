"""The third stage: whether the definitions run (P-24, A-08), only ever in the sandbox."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.rerank.batches import Inquiry, ask_all
from pkg.rerank.case import Case, Contender
from pkg.rerank.examples.example import Check, Example
from pkg.rerank.nouns import Verdict
from pkg.sandbox.protocol import Kind, Step


class SmokeStage:
    """Drop what fails when it is loaded."""

    name = "smoke"
    drops = True

    def judge(self, case: Case, contenders: Sequence[Contender]) -> list[Verdict]:
        """Load each candidate; the examples are asked in the same run, for the stage that follows."""
        load_contenders(case, contenders)
        return [self._judge_one(each) for each in contenders]

    def _judge_one(self, contender: Contender) -> Verdict:
        if contender.run is None:
            return Verdict(self.name, True, 1.0, "not run")
        load = contender.run.load
        passed = load.kind is Kind.OK
        return Verdict(
            self.name, passed, float(passed), "" if passed else f"{load.kind.value}: {load.detail}", load.seconds
        )


def load_contenders(case: Case, contenders: Sequence[Contender]) -> None:
    """Run those that have not run yet, with all examples as steps."""
    waiting = [each for each in contenders if each.run is None]
    if case.sandbox is None or not waiting:
        return
    shown = case.examples if "examples" in case.options.stages else ()
    steps = tuple(map(make_step, (*shown, *case.tests)))
    results = ask_all(case.sandbox, [Inquiry(each.code, steps) for each in waiting], case.limits)
    for contender, result in zip(waiting, results, strict=True):
        contender.run = result


def make_step(example: Example) -> Step:
    """Make the step of an example; what is expected is no part of it."""
    return Step(example.source, is_expression=example.check not in (Check.OUTPUT, Check.ASSERTION))
