"""The fifth stage: which candidates do the same on inputs that nobody chose for them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pkg.rerank.agreement import Agreement, measure_agreement
from pkg.rerank.batches import Inquiry, ask_all
from pkg.rerank.case import Case, Contender, choose_main, count_names, find_parameters
from pkg.rerank.inputs.generate import list_arguments, make_inputs
from pkg.rerank.nouns import Verdict
from pkg.rerank.sandbox.protocol import Kind, Sandbox, Step


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
        mains = [choose_main(case, each, names) for each in contenders]
        inputs = _make_inputs(case, [each for each in mains if each is not None])
        case.inputs = len(inputs)
        inquiries = [
            Inquiry(each.code, _make_steps(main, inputs)) for each, main in zip(contenders, mains, strict=True)
        ]
        results = ask_all(sandbox, inquiries, case.short_limits)
        outcomes = [[_read_value(end.kind, end.value) for end in result.steps] for result in results]
        outcomes = [each or [None] * len(inputs) for each in outcomes]
        agreements = measure_agreement(outcomes, [each.votes for each in contenders])
        total = sum(each.votes for each in contenders)
        seconds = [sum(end.seconds for end in result.steps) for result in results]
        return [self._judge(each, total, spent) for each, spent in zip(agreements, seconds, strict=True)]

    def _judge(self, agreement: Agreement, total: int, seconds: float) -> Verdict:
        inputs = f"{agreement.inputs} input{'s' * (agreement.inputs != 1)}"
        reason = (
            f"{agreement.partners} of {total} votes agree on {inputs}" if agreement.inputs else "no input to compare on"
        )
        return Verdict(self.name, True, round(agreement.score, 6), reason, seconds)


def _make_inputs(case: Case, mains: Sequence[ast.FunctionDef]) -> tuple[str, ...]:
    seen = list_arguments(case.examples, case.entry) if case.entry else []
    seed = f"{case.options.seed} {case.question.text}"
    return make_inputs(seed, seen, find_parameters(case, mains), case.options.inputs)


def _make_steps(main: ast.FunctionDef | None, inputs: Sequence[str]) -> tuple[Step, ...]:
    return tuple(Step(f"{main.name}({each})", is_expression=True) for each in inputs) if main is not None else ()


def _read_value(kind: Kind, value: str | None) -> str | None:
    return value if kind is Kind.OK else None
