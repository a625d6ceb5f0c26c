"""Stages that compare candidates: behaviour on generated inputs, and similarity to the query (P-25, A-07)."""

from __future__ import annotations

import ast
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import thread_time

from pkg.extract.syntax import is_string_statement, parse_code
from pkg.rerank.candidates import Verdict
from pkg.rerank.case import Case, DistinctCandidate, choose_main, count_names, find_parameters
from pkg.rerank.inputs.generate import guess_inputs, list_arguments, vary_inputs
from pkg.rerank.inputs.input_values import LiteralPool, collect_literals
from pkg.rerank.inputs.parameter_types import ArgumentTypes, guess_type, list_alternatives
from pkg.rerank.parsed_question import Definition, Function, Parameter
from pkg.rerank.value_equality import CanonicalValue, equal_canonical, make_canonical
from pkg.rerank.value_requests import Request, RequestBatch, run_requests
from pkg.sandbox.protocol import Kind, Result, Sandbox

Values = Sequence[str | None]  # of one candidate, one per input; None for no value
MAX_COMPARED = 500_000  # numbers that are compared within a tolerance for one input: about 0.1 seconds

Row = tuple[int, ...]  # group numbers of the values of one candidate, one per input; -1 for no value


def strip_code(code: str) -> str:
    """Return code without comments, docstrings and layout; invalid code is unchanged."""
    tree = parse_code(code)
    if tree is None:
        return code
    for node in ast.walk(tree):
        if isinstance(node, Definition | ast.Module):
            body = [each for each in node.body if not is_string_statement(each)]
            node.body = body if body or isinstance(node, ast.Module) else [ast.Pass()]
    try:
        return ast.unparse(tree)
    except RecursionError:
        return code


_ENCODING = threading.Lock()  # an encoder caches words, and tasks run in several threads

DIGITS = 6  # of a cosine; further digits depend on the order of additions


class SimilarityStage:
    """Measure the cosine between the query and each candidate."""

    name = "similarity"
    drops = False

    def judge(self, case: Case, candidates: Sequence[DistinctCandidate]) -> list[Verdict]:
        """Return the cosine of each candidate."""
        from pkg.encode.registry import load_encoder

        start = thread_time()
        is_raw = case.options.compare == "raw"
        texts = [each.code if is_raw else each.stripped for each in candidates]
        encoder = load_encoder(case.options.encoder)
        with _ENCODING:
            query = encoder.encode_query(case.question.text.encode("utf-8", "replace").decode())
            vectors = encoder.encode([text.encode("utf-8", "replace") for text in texts])
        cosines = [round(float(each), DIGITS) for each in vectors @ query]
        seconds = (thread_time() - start) / max(1, len(candidates))
        return [Verdict(self.name, True, cosine, "", seconds) for cosine in cosines]


class BehaviourStage:
    """Scores the agreement among the candidates for which the most examples hold."""

    name = "behaviour"
    drops = False

    def judge(self, case: Case, candidates: Sequence[DistinctCandidate]) -> list[Verdict]:
        """Compare the candidates with the best score on the examples; the others rank below in any case."""
        best = max((each.score("examples") for each in candidates), default=0.0)
        judged = [each for each in candidates if each.score("examples") == best]
        if case.sandbox is None or len(judged) < 2:
            return [self._alone(each in judged and len(judged) == 1) for each in candidates]
        found = dict(zip(map(id, judged), self._compare(case, case.sandbox, judged), strict=True))
        return [found.get(id(each)) or self._alone(False) for each in candidates]

    def _alone(self, is_best: bool) -> Verdict:
        return Verdict(self.name, True, float(is_best), "nothing to compare with" if is_best else "not compared")

    def _compare(self, case: Case, sandbox: Sandbox, candidates: Sequence[DistinctCandidate]) -> list[Verdict]:
        names = count_names(candidates)
        trial = Trial(case, sandbox, candidates, [choose_main(case, each, names) for each in candidates])
        outcomes = trial.find_outcomes()
        case.inputs = len(outcomes[0])
        first = next((index for index, each in enumerate(candidates) if 0 in each.indices), None)
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


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of one candidate with the others."""

    score: float  # 0 to 1
    partners: int  # votes that agree on every valid input, including its own
    inputs: int  # number of valid inputs
    is_rough: bool = False  # one of its values was too large to be compared within a tolerance


def measure_agreement(outcomes: Sequence[Values], votes: Sequence[int], first: int | None = None) -> list[Agreement]:
    """Compare the values of all candidates per input, weighted by votes.

    first: index of the candidate that was given first, if it is among them.
    """
    groups_by_input = [_group_values(values) for values in zip(*outcomes, strict=True) if _is_valid(values, votes)]
    rows = list(zip(*(groups for groups, _ in groups_by_input), strict=True)) or [()] * len(outcomes)
    rough = {index for _, indices in groups_by_input for index in indices}
    first_row = None if first is None else rows[first]
    agreements = [_measure_one(row, rows, votes, first_row) for row in rows]
    return [replace(each, is_rough=index in rough) for index, each in enumerate(agreements)]


def count_answers(outcomes: Sequence[Values], votes: Sequence[int]) -> int:
    """Return the number of values, weighted by votes."""
    return sum(vote * sum(value is not None for value in values) for values, vote in zip(outcomes, votes, strict=True))


def _is_valid(values: Sequence[str | None], votes: Sequence[int]) -> bool:
    """Return whether at least half of the votes have a value for an input."""
    return 2 * sum(vote for value, vote in zip(values, votes, strict=True) if value is not None) >= sum(votes)


def _group_values(values: Sequence[str | None]) -> tuple[list[int], set[int]]:
    """Number the distinct values of one input, -1 for no value, and return the indices of values that are too large.

    Too large values are compared exactly instead of within the tolerance.
    """
    groups: dict[str | None, int] = {None: -1}
    distinct: dict[CanonicalValue, int] = {}
    alike: dict[str, list[CanonicalValue]] = {}  # by text: only those can be close
    rough, work = set(), 0
    for index, value in enumerate(values):
        if value is None or value in groups:
            continue
        canonical = make_canonical(value, is_strict=True)
        if canonical not in distinct:
            others = alike.setdefault(canonical.text, [])
            work += len(others) * len(canonical.numbers)
            rough |= {index} if work > MAX_COMPARED else set()
            compared = others if work <= MAX_COMPARED else []
            near = next((other for other in compared if equal_canonical(canonical, other)), None)
            distinct[canonical] = len(distinct) if near is None else distinct[near]
            others += [canonical] if near is None else []
        groups[value] = distinct[canonical]
    return [groups[value] for value in values], rough


def _measure_one(row: Row, rows: Sequence[Row], votes: Sequence[int], first_row: Row | None) -> Agreement:
    """Rate a candidate by the size of its group, and then by the mean share of the votes for its values."""
    if not row:
        return Agreement(0.0, sum(votes), 0)
    total = sum(votes)
    partners = sum(vote for other, vote in zip(rows, votes, strict=True) if other == row)
    shared = sum(_count_shared(row, other) * vote for other, vote in zip(rows, votes, strict=True))
    leads = row == first_row and partners > 1
    share = 1.0 if leads else shared / (total * len(row))
    return Agreement((partners - 1 + share) / total if any(value >= 0 for value in row) else 0.0, partners, len(row))


def _count_shared(row: Row, other: Row) -> int:
    return sum(one == another and one >= 0 for one, another in zip(row, other, strict=True))


NONE_TEXT = "null"  # rendered None

PROBES = 2  # calls per alternative guess: there may be dozens of guesses, and one call may be unlucky
MIN_ANSWERED = 0.5  # share of calls with a value, below which the guess was wrong
MIN_IMPROVEMENT = 0.1  # share of calls with a value by which an alternative must exceed the first guess


@dataclass(slots=True)
class Trial:
    """Runs the candidates of one task on generated inputs."""

    case: Case
    sandbox: Sandbox
    candidates: Sequence[DistinctCandidate]
    functions: Sequence[Function | None]  # one per candidate
    seconds: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.seconds = [0.0] * len(self.candidates)

    @property
    def votes(self) -> list[int]:
        """Return the votes of each candidate."""
        return [each.votes for each in self.candidates]

    def find_outcomes(self) -> list[Values]:
        """Return the values for mutated arguments of the query, or for guessed ones; a wrong guess is replaced once."""
        seen = (
            list_arguments(self.case.examples, self.case.entry)
            if self.case.entry and not self.case.ignores_entry
            else []
        )
        if seen:
            return self._call(vary_inputs(self._seed, seen, self.case.options.inputs))
        known = [each for each in self.functions if each is not None]
        parameters = find_parameters(self.case, known)
        literals = collect_literals(self.case.question.text, known)
        types = tuple(map(guess_type, parameters))
        outcomes = self._call_with_types(parameters, types, literals)
        answered = self._rate(outcomes)
        if answered >= MIN_ANSWERED or not parameters:
            return outcomes
        other = self._find_other(parameters, types, answered, literals)
        return outcomes if other == types else self._call_with_types(parameters, other, literals)

    @property
    def _seed(self) -> str:
        return f"{self.case.options.seed} {self.case.question.text}"

    def _call_with_types(
        self, parameters: Sequence[Parameter], types: ArgumentTypes, literals: LiteralPool
    ) -> list[Values]:
        return self._call(guess_inputs(self._seed, parameters, types, literals, self.case.options.inputs))

    def _find_other(
        self, parameters: Sequence[Parameter], types: ArgumentTypes, rate: float, literals: LiteralPool
    ) -> ArgumentTypes:
        """Run a few calls of every alternative guess, and return the one with the most values."""
        probes = {
            each: guess_inputs(self._seed, parameters, each, literals, PROBES)
            for each in list_alternatives(types, self.case.question.text)
        }
        outcomes = self._call(tuple(text for texts in probes.values() for text in texts))
        first, best = 0, types
        for alternative, texts in probes.items():
            found = self._rate([each[first : first + len(texts)] for each in outcomes])
            first += len(texts)
            if found > rate + MIN_IMPROVEMENT:
                best, rate = alternative, found
        return best

    def _rate(self, outcomes: Sequence[Values]) -> float:
        return count_answers(outcomes, self.votes) / max(1, len(outcomes[0]) * sum(self.votes))

    def _call(self, inputs: Sequence[str]) -> list[Values]:
        batches = [
            RequestBatch(each.code, _make_requests(function, inputs))
            for each, function in zip(self.candidates, self.functions, strict=True)
        ]
        results = run_requests(self.sandbox, batches, self.case.short_limits)
        self.seconds = [
            before + sum(end.seconds for end in result.steps)
            for before, result in zip(self.seconds, results, strict=True)
        ]
        return [_list_values(each) or [None] * len(inputs) for each in results]


def _make_requests(function: Function | None, inputs: Sequence[str]) -> tuple[Request, ...]:
    return tuple(Request(f"{function.name}({each})") for each in inputs) if function is not None else ()


def _list_values(result: Result) -> Values:
    """Return the values of the calls; code that only returns None, such as code that prints, has no values."""
    values = [end.value if end.kind is Kind.OK else None for end in result.steps]
    return [None] * len(values) if {*values} <= {None, NONE_TEXT} else values
