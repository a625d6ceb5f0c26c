"""The fourth stage: what the query shows, each example by itself (A-08, U-09)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.rerank.case import Case, Contender
from pkg.rerank.comparison import rate_step
from pkg.rerank.examples.example import Check, Example
from pkg.rerank.nouns import Verdict
from pkg.rerank.stages.smoke import load_contenders
from pkg.sandbox import protocol
from pkg.sandbox.protocol import Kind
from pkg.wording import shorten

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
