"""The fifth stage: which candidates do the same on inputs that nobody chose for them."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.rerank.agreement import Agreement, measure_agreement
from pkg.rerank.case import Case, Contender, choose_main, count_names
from pkg.rerank.nouns import Verdict
from pkg.rerank.trial import Trial
from pkg.sandbox.protocol import Sandbox


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
        return Verdict(self.name, True, round(agreement.score, 6), reason, seconds)
