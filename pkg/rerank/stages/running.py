"""The stages that run code in the sandbox: definitions, examples, behaviour on inputs (P-24, A-08, U-09)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.errors import shorten
from pkg.rerank.batches import Inquiry, ask_all
from pkg.rerank.candidates import Check, Example, Verdict
from pkg.rerank.case import Case, Contender, choose_main, count_names
from pkg.rerank.comparison import rate_step
from pkg.rerank.trial import Agreement, Trial, measure_agreement
from pkg.sandbox import protocol
from pkg.sandbox.protocol import Kind, Sandbox, Step


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


LONGEST = 120  # characters of a value in a reason


class ExamplesStage:
    """Rank by the share of the visible examples that hold; nobody is dropped, for an example may itself be wrong."""

    name = "examples"
    drops = False

    def judge(self, case: Case, contenders: Sequence[Contender]) -> list[Verdict]:
        """Compare what came out with what the query shows, here and not where the candidates run."""
        load_contenders(case, contenders)
        return [judge_examples(self.name, each, case.examples, 0) for each in contenders]


class OracleStage:
    """Rank by hidden tests, for research alone: a ranking that saw them measures nothing."""

    name = "oracle"
    drops = False

    def judge(self, case: Case, contenders: Sequence[Contender]) -> list[Verdict]:
        """Compare what came out with the tests that were handed over."""
        load_contenders(case, contenders)
        first = len(case.examples) if "examples" in case.options.stages else 0
        return [judge_examples(self.name, each, case.tests, first) for each in contenders]


def judge_examples(stage: str, contender: Contender, examples: Sequence[Example], first: int) -> Verdict:
    """Count which examples hold; their steps in the run of the contender begin at `first`."""
    if contender.run is None or not examples:
        return Verdict(stage, True, 0.0, "none to try" if not examples else "not run")
    ends = contender.run.steps[first : first + len(examples)]
    rates = [rate_step(example, end) for example, end in zip(examples, ends, strict=True)]
    held = [rate > 0 for rate in rates]
    score = sum(rates) / len(examples)
    seconds = sum(end.seconds for end in ends)
    return Verdict(stage, all(held), score, _explain(examples, ends, held), seconds)


def _explain(examples: Sequence[Example], ends: Sequence[protocol.Verdict], held: Sequence[bool]) -> str:
    """Say how many hold, and what the first one that does not came to."""
    count = f"{sum(held)} of {len(held)} hold"
    if all(held):
        return count
    example, end = next((each, end) for each, end, holds in zip(examples, ends, held, strict=True) if not holds)
    if example.check is Check.OUTPUT and end.kind is Kind.OK:
        seen = repr(end.output)
    else:
        seen = end.value or "nothing" if end.kind is Kind.OK else f"{end.kind.value}: {end.detail}"
    return f"{count}; {shorten(example.shown, LONGEST)}: got {shorten(seen, LONGEST)}"


class BehaviourStage:
    """Let agreement vote among the candidates that the examples could not tell apart."""

    name = "behaviour"
    drops = False

    def judge(self, case: Case, contenders: Sequence[Contender]) -> list[Verdict]:
        """Compare those that hold the most examples; the others are behind them whatever they do."""
        best = max((each.score("examples") for each in contenders), default=0.0)
        judged = [each for each in contenders if each.score("examples") == best]
        if case.sandbox is None or len(judged) < 2:
            return [self._alone(each in judged and len(judged) == 1) for each in contenders]
        found = dict(zip(map(id, judged), self._compare(case, case.sandbox, judged), strict=True))
        return [found.get(id(each)) or self._alone(False) for each in contenders]

    def _alone(self, is_best: bool) -> Verdict:
        return Verdict(self.name, True, float(is_best), "nothing to compare with" if is_best else "not compared")

    def _compare(self, case: Case, sandbox: Sandbox, contenders: Sequence[Contender]) -> list[Verdict]:
        names = count_names(contenders)
        trial = Trial(case, sandbox, contenders, [choose_main(case, each, names) for each in contenders])
        outcomes = trial.find_outcomes()
        case.inputs = len(outcomes[0])
        first = next((place for place, each in enumerate(contenders) if 0 in each.places), None)
        agreements = measure_agreement(outcomes, trial.votes, first)
        total = sum(trial.votes)
        return [self._judge(each, total, spent) for each, spent in zip(agreements, trial.seconds, strict=True)]

    def _judge(self, agreement: Agreement, total: int, seconds: float) -> Verdict:
        inputs = f"{agreement.inputs} input{'s' * (agreement.inputs != 1)}"
        reason = (
            f"{agreement.partners} of {total} votes agree on {inputs}" if agreement.inputs else "no input to compare on"
        )
        if agreement.is_rough:
            reason += "; values too large to compare within a tolerance were compared exactly"
        return Verdict(self.name, True, round(agreement.score, 6), reason, seconds)
