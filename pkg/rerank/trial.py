"""Try the candidates on inputs and count how far they agree: wrong code is wrong in many ways, right code in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pkg.rerank.case import Case, Contender, find_parameters
from pkg.rerank.forms import Form, equal_forms, make_form
from pkg.rerank.inputs.generate import guess_inputs, list_arguments, vary_inputs
from pkg.rerank.inputs.input_values import Pool, make_pool
from pkg.rerank.inputs.kinds import Profile, guess_kind, list_others
from pkg.rerank.value_requests import Ask, Inquiry, ask_all
from pkg.rerank.wanted import Function, Parameter
from pkg.sandbox.protocol import Kind, Result, Sandbox

Values = Sequence[str | None]  # of one candidate, one an input; None where it gave none
MOST_COMPARED = 500_000  # numbers of one input that are compared within a tolerance: about a tenth of a second

Row = tuple[int, ...]  # the same, each value by the number of its kind; -1 for none


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far one candidate agrees with all."""

    score: float  # 0 to 1
    partners: int  # votes of its group: that agree on every input that counts, its own included
    inputs: int  # that count
    is_rough: bool = False  # a value of it was too large to be compared with all others


def measure_agreement(outcomes: Sequence[Values], votes: Sequence[int], first: int | None = None) -> list[Agreement]:
    """Compare the values of all candidates input by input; each candidate weighs its votes.

    first: the place of the candidate that was given first, where it is among them.
    """
    columns = [column for column in _list_columns(outcomes) if _counts(column, votes)]
    grouped = [_group_values(column) for column in columns]
    rows = list(zip(*(groups for groups, _ in grouped), strict=True)) or [()] * len(outcomes)
    rough = {place for _, places in grouped for place in places}
    leader = None if first is None else rows[first]
    agreements = [_measure_one(row, rows, votes, leader) for row in rows]
    return [replace(each, is_rough=place in rough) for place, each in enumerate(agreements)]


def count_answers(outcomes: Sequence[Values], votes: Sequence[int]) -> int:
    """Count by votes how many values were given."""
    return sum(vote * sum(value is not None for value in values) for values, vote in zip(outcomes, votes, strict=True))


def _list_columns(outcomes: Sequence[Values]) -> list[list[str | None]]:
    return [list(column) for column in zip(*outcomes, strict=True)]


def _counts(column: list[str | None], votes: Sequence[int]) -> bool:
    """Tell whether at least half of the votes give a value."""
    return 2 * sum(vote for value, vote in zip(column, votes, strict=True) if value is not None) >= sum(votes)


def _group_values(column: list[str | None]) -> tuple[list[int], set[int]]:
    """Number the distinct values of one input, -1 for no value, and give the places of those too large to compare all.

    Those are equal to what is exactly the same, and to nothing that is only near.
    """
    groups: dict[str | None, int] = {None: -1}
    distinct: dict[Form, int] = {}
    alike: dict[str, list[Form]] = {}  # by the text of their forms: only those can be near each other
    rough, work = set(), 0
    for place, value in enumerate(column):
        if value is None or value in groups:
            continue
        form = make_form(value, is_strict=True)
        if form not in distinct:
            others = alike.setdefault(form.text, [])
            work += len(others) * len(form.numbers)
            rough |= {place} if work > MOST_COMPARED else set()
            compared = others if work <= MOST_COMPARED else []
            near = next((other for other in compared if equal_forms(form, other)), None)
            distinct[form] = len(distinct) if near is None else distinct[near]
            others += [form] if near is None else []
        groups[value] = distinct[form]
    return [groups[value] for value in column], rough


def _measure_one(row: Row, rows: Sequence[Row], votes: Sequence[int], leader: Row | None) -> Agreement:
    """Rate a candidate by its group, and then by the mean share of the votes that give its values."""
    if not row:
        return Agreement(0.0, sum(votes), 0)
    total = sum(votes)
    partners = sum(vote for other, vote in zip(rows, votes, strict=True) if other == row)
    shared = sum(_count_shared(row, other) * vote for other, vote in zip(rows, votes, strict=True))
    leads = row == leader and partners > 1
    share = 1.0 if leads else shared / (total * len(row))
    return Agreement((partners - 1 + share) / total if any(value >= 0 for value in row) else 0.0, partners, len(row))


def _count_shared(row: Row, other: Row) -> int:
    return sum(one == another and one >= 0 for one, another in zip(row, other, strict=True))


NOTHING = "null"  # None, as it is rendered

PROBES = 2  # calls that are tried with each other guess: there may be dozens of guesses, and one call may be unlucky
FEW = 0.5  # share of the answers to a guess, below which it was wrong: no call counts that fewer than half answer
MORE = 0.1  # share of the answers by which a later guess must be better than one that the names or the query suggest


@dataclass(slots=True)
class Trial:
    """The candidates of one task, as they are asked for values."""

    case: Case
    sandbox: Sandbox
    contenders: Sequence[Contender]
    mains: Sequence[Function | None]
    seconds: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.seconds = [0.0] * len(self.contenders)

    @property
    def votes(self) -> list[int]:
        """Count the candidates of each code."""
        return [each.votes for each in self.contenders]

    def find_outcomes(self) -> list[Values]:
        """Ask on changed arguments of the query, or else on guessed ones; a wrong guess is followed by another."""
        seen = (
            list_arguments(self.case.examples, self.case.entry) if self.case.entry and not self.case.is_doubted else []
        )
        if seen:
            return self._ask(vary_inputs(self._seed, seen, self.case.options.inputs))
        functions = [each for each in self.mains if each is not None]
        parameters = find_parameters(self.case, functions)
        pool = make_pool(self.case.question.text, functions)
        guess = tuple(map(guess_kind, parameters))
        outcomes = self._ask_guess(parameters, guess, pool)
        answered = self._rate(outcomes)
        if answered >= FEW or not parameters:
            return outcomes
        other = self._find_other(parameters, guess, answered, pool)
        return outcomes if other == guess else self._ask_guess(parameters, other, pool)

    @property
    def _seed(self) -> str:
        return f"{self.case.options.seed} {self.case.question.text}"

    def _ask_guess(self, parameters: Sequence[Parameter], profile: Profile, pool: Pool) -> list[Values]:
        return self._ask(guess_inputs(self._seed, parameters, profile, pool, self.case.options.inputs))

    def _find_other(self, parameters: Sequence[Parameter], guess: Profile, rate: float, pool: Pool) -> Profile:
        """Try a few calls of every other guess at once, and give the one with most answers."""
        probes = {
            each: guess_inputs(self._seed, parameters, each, pool, PROBES)
            for each in list_others(guess, self.case.question.text)
        }
        outcomes = self._ask(tuple(text for texts in probes.values() for text in texts))
        first, best = 0, guess
        for profile, texts in probes.items():
            found = self._rate([each[first : first + len(texts)] for each in outcomes])
            first += len(texts)
            if found > rate + MORE:
                best, rate = profile, found
        return best

    def _rate(self, outcomes: Sequence[Values]) -> float:
        return count_answers(outcomes, self.votes) / max(1, len(outcomes[0]) * sum(self.votes))

    def _ask(self, inputs: Sequence[str]) -> list[Values]:
        asks = [_make_asks(main, inputs) for main in self.mains]
        inquiries = [Inquiry(each.code, own) for each, own in zip(self.contenders, asks, strict=True)]
        results = ask_all(self.sandbox, inquiries, self.case.short_limits)
        self.seconds = [
            before + sum(end.seconds for end in result.steps)
            for before, result in zip(self.seconds, results, strict=True)
        ]
        return [_list_values(each) or [None] * len(inputs) for each in results]


def _make_asks(main: Function | None, inputs: Sequence[str]) -> tuple[Ask, ...]:
    return tuple(Ask(f"{main.name}({each})") for each in inputs) if main is not None else ()


def _list_values(result: Result) -> Values:
    """Read what the calls gave; code that never gives anything but None, as code that prints, shows nothing."""
    values = [end.value if end.kind is Kind.OK else None for end in result.steps]
    return [None] * len(values) if {*values} <= {None, NOTHING} else values
