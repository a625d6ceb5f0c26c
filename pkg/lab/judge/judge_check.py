"""Measures of a judge: order bias, self-agreement, length bias, and agreement with people.

Planted cases are in pkg.lab.judge.planted_cases, the agreement measures in pkg.lab.judge.agreement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean
from typing import Any

from pkg.lab.judge.agreement import Level, match_ratings, measure_alpha, measure_kappa, measure_rank_correlation
from pkg.lab.judge.injected_instructions import find_injection
from pkg.lab.judge.items import JudgedItem
from pkg.lab.judge.judgements import NO_VALUE, TIE_BAD, TIE_GOOD, Judgement, list_rated
from pkg.lab.judge.planted_cases import CaseResult
from pkg.lab.judge.ratings import Rating
from pkg.lab.judge.templates import OVERALL, Kind

TOLERANCE: Mapping[Kind, int] = {"pairwise": 0, "grade": 2, "annotate": 1, "correctness": 2}
"""Largest difference at which two ratings agree: on a scale to ten as in the paper (C-21), to five half of it."""

LEVELS: Mapping[Kind, Level] = {
    "pairwise": "nominal", "grade": "interval", "annotate": "ordinal", "correctness": "interval"
}  # fmt: skip

RATING_KINDS = {"pairwise": "pairwise", "grade": "grade", "annotate": "annotation", "correctness": "grade"}
"""Kind of human rating that each kind of judgement is compared with."""


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Agreement of two raters on the items that both have rated."""

    one: str
    other: str
    shared: int
    kappa: float | None  # None if undefined


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """Agreement of the judge with people, and of people with each other."""

    pairs: tuple[PairAgreement, ...]
    alpha: float | None  # of the judge and all people
    raters: int  # number of people
    strangers: int  # ratings of other items or of another kind, which are ignored
    tolerance: float


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """Measurements of a judge; None where nothing could be measured."""

    judge: str
    kind: Kind
    judgements: int
    without_value: int
    flip_rate: float | None  # share of comparisons whose winner changes when the answers are swapped
    flips: int
    both_orders: int  # comparisons with a value in both orders
    first_share: float | None  # share of wins of the answer that is shown first
    self_agreement: float | None  # share of equal judgements among pairs of runs
    repeated: int  # pairs of runs
    length_correlation: float | None  # Spearman's
    cases: tuple[CaseResult, ...] = ()
    ordering: tuple[tuple[str, str, str], ...] = ()  # answers that instruct the judge: item, system, words
    human: HumanAgreement | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the row of the check."""
        return {"type": "check", **asdict(self), "cases": [each._asdict() for each in self.cases]}


def check_judge(
    judge: str,
    kind: Kind,
    judgements: Sequence[Judgement],
    cases: Sequence[CaseResult] = (),
    items: Iterable[JudgedItem] = (),
    ratings: Sequence[Rating] | None = None,
    tolerance: float | None = None,
) -> JudgeCheck:
    """Measure a judge from its judgements, planted cases and human ratings."""
    pairs = _pair_orders(judgements) if kind == "pairwise" else []
    flips = sum(one != other for one, other in pairs)
    wins = [each.verdict for each in judgements if each.verdict in ("A", "B")]
    repeats = _pair_runs(judgements)
    return JudgeCheck(
        judge, kind, len(judgements), sum(lacks_value(each) for each in judgements),
        flips / len(pairs) if pairs else None, flips, len(pairs), wins.count("A") / len(wins) if wins else None,
        fmean(one == other for one, other in repeats) if repeats else None, len(repeats),
        _correlate_length(judgements), tuple(cases),
        tuple((item.id, system, words) for item in items for system, answer in item.answers.items()
              if (words := find_injection(answer))),
        None if ratings is None else compare_with_people(judge, kind, judgements, ratings, tolerance),
    )  # fmt: skip


def lacks_value(judgement: Judgement) -> bool:
    """Return whether a judgement has no verdict or lacks a rating."""
    if judgement.kind == "pairwise":
        return not judgement.verdict
    return not judgement.ratings or None in judgement.ratings


def compare_with_people(
    judge: str, kind: Kind, judgements: Sequence[Judgement], ratings: Sequence[Rating], tolerance: float | None = None
) -> HumanAgreement:
    """Compare the first value of a judge for each answer or pair with the human ratings of the same."""
    allowed = TOLERANCE[kind] if tolerance is None else tolerance
    own = _list_own(judgements)
    raters: dict[str, dict[str, float]] = {judge: own}
    strangers = 0
    for rating in ratings:
        values = _list_values(rating) if rating.kind == RATING_KINDS[kind] else {}
        known = {name: value for name, value in values.items() if name in own}
        strangers += not known
        raters.setdefault(f"{rating.rater} (rater)" if rating.rater == judge else rating.rater, {}).update(known)
    people = [name for name, given in raters.items() if name != judge and given]
    pairs = []
    for one, other in combinations([judge, *people], 2):
        first, second = match_ratings(raters, one, other)
        pairs.append(PairAgreement(one, other, len(first), measure_kappa(first, second, allowed)))
    shared = [[raters[name][place] for name in (judge, *people) if place in raters[name]] for place in own]
    return HumanAgreement(tuple(pairs), measure_alpha(shared, LEVELS[kind]), len(people), strangers, allowed)


def _list_own(judgements: Sequence[Judgement]) -> dict[str, float]:
    """Return the judge's first value by place: a comparison, or an answer with a preference."""
    own: dict[str, float] = {}
    for each in judgements:
        if each.kind == "pairwise" and each.verdict:
            own.setdefault(*_name_choice(each.id, each.systems, each.verdict))
    for each, system, rating, _ in list_rated(judgements):
        if rating is not None:
            own.setdefault(_name_place(each.id, system, each.preference or OVERALL), float(rating))
    return own


def _list_values(rating: Rating) -> dict[str, float]:
    if rating.kind == "pairwise":
        name, value = _name_choice(rating.id, rating.systems, rating.verdict)
        return {name: value}
    return {_name_place(rating.id, rating.system, name): float(value) for name, value in rating.ratings.items()}


def _name_choice(item: str, systems: Sequence[str], verdict: str) -> tuple[str, float]:
    """Return the place of a comparison, independent of order, and a number for the winner."""
    pair = sorted(systems)
    winner = {"A": systems[0], "B": systems[-1], "C": TIE_GOOD, "D": TIE_BAD}[verdict]
    return _name_place(item, *pair), float([*pair, TIE_GOOD, TIE_BAD].index(winner))


def _name_place(*parts: str) -> str:
    return "\0".join(parts)


def _pair_orders(judgements: Iterable[Judgement]) -> list[tuple[str, str]]:
    """Return the winners of each comparison in its two orders, if both have a value."""
    found: dict[tuple[str, tuple[str, ...], int], list[Judgement]] = defaultdict(list)
    for each in judgements:
        if each.verdict:
            found[each.id, tuple(sorted(each.systems)), each.run].append(each)
    return [
        (group[0].winner, group[1].winner)
        for group in found.values()
        if len(group) == 2 and group[0].systems != group[1].systems
    ]


def _pair_runs(judgements: Iterable[Judgement]) -> list[tuple[object, object]]:
    """Return the values of each two runs of the same task that have one, if their texts were written separately."""
    found: dict[tuple[str, tuple[str, ...], str], list[Judgement]] = defaultdict(list)
    for each in judgements:
        if not lacks_value(each):
            found[each.id, each.systems, each.preference].append(each)
    return [
        (one.verdict or one.ratings, other.verdict or other.ratings)
        for group in found.values()
        for one, other in combinations(group, 2)
        if one.key != other.key  # at temperature 0 the second run reuses the text of the first
    ]


def _correlate_length(judgements: Sequence[Judgement]) -> float | None:
    """Correlate ratings with the lengths of their answers, or verdicts with the difference of the two lengths."""
    chosen = {"A": 1.0, "B": -1.0, "C": 0.0, "D": 0.0}
    pairs = [
        (float(each.lengths[0] - each.lengths[-1]), chosen[each.verdict])
        for each in judgements
        if each.verdict and len(each.lengths) == 2
    ]
    pairs += [(float(length), float(rating)) for _, _, rating, length in list_rated(judgements) if rating is not None]
    return measure_rank_correlation([one for one, _ in pairs], [other for _, other in pairs])


def describe_check(check: Mapping[str, Any] | None) -> str:
    """Describe the row of the last check in one line, or advise to run one."""
    if check is None:
        return "not checked; --check measures it"
    parts = []
    if check.get("flip_rate") is not None:
        parts.append(f"{check['flip_rate']:.0%} of winners change with the order ({check['both_orders']} in both)")
    if check.get("self_agreement") is not None:
        parts.append(f"says the same twice in {check['self_agreement']:.0%} of {check['repeated']}")
    if check.get("length_correlation") is not None:
        parts.append(f"correlation with length {check['length_correlation']:+.2f}")
    cases = check.get("cases") or []
    if cases:
        right, total = sum(each["right"] for each in cases), sum(each["judged"] + each["unread"] for each in cases)
        parts.append(f"planted cases right: {right} of {total}")
    human = check.get("human") or {}
    own = [each["kappa"] for each in human.get("pairs", []) if each["one"] == check.get("judge")]
    parts += [f"kappa with people {', '.join('undefined' if k is None else f'{k:.2f}' for k in own)}"] if own else []
    return "; ".join(parts) or f"checked, and nothing could be measured; {NO_VALUE} throughout"
