"""Measure a judge: does order sway it, does it say the same twice, does it count length, do people agree with it.

What it says of planted cases stands in pkg.lab.judge.planted_cases; the measures themselves in pkg.lab.judge.agreement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean
from typing import Any

from pkg.lab.judge.agreement import Level, match_ratings, measure_alpha, measure_kappa, measure_rank_correlation
from pkg.lab.judge.answer_orders import find_order
from pkg.lab.judge.items import JudgedItem
from pkg.lab.judge.judgements import NO_VALUE, TIE_BAD, TIE_GOOD, Judgement, list_rated
from pkg.lab.judge.planted_cases import CaseResult
from pkg.lab.judge.ratings import Rating
from pkg.lab.judge.templates import OVERALL, Kind

TOLERANCE: Mapping[Kind, int] = {"pairwise": 0, "grade": 2, "annotate": 1, "correctness": 2}
"""Ratings so far apart agree: of ten as in the paper (C-21), of five half as far."""

LEVELS: Mapping[Kind, Level] = {
    "pairwise": "nominal", "grade": "interval", "annotate": "ordinal", "correctness": "interval"
}  # fmt: skip

RATING_KINDS = {"pairwise": "pairwise", "grade": "grade", "annotate": "annotation", "correctness": "grade"}
"""The kind of a person's rating that each way of judging is compared with."""


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How far two raters agree on what both have rated."""

    one: str
    other: str
    shared: int
    kappa: float | None  # None: undefined


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """How far the judge agrees with people, and they with each other."""

    pairs: tuple[PairAgreement, ...]
    alpha: float | None  # of all of them together
    raters: int  # people
    strangers: int  # ratings of other items or of another kind
    tolerance: float


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """What was measured of a judge; None for what could not be."""

    judge: str
    kind: Kind
    judgements: int
    without_value: int
    flip_rate: float | None  # share of comparisons that name another winner when the answers change places
    flips: int
    both_orders: int  # comparisons with a value in both orders
    first_share: float | None  # wins of the answer that stands first, of all wins
    self_agreement: float | None  # share of equal judgements among runs, two by two
    repeated: int  # pairs of runs
    length_correlation: float | None  # Spearman's
    cases: tuple[CaseResult, ...] = ()
    ordering: tuple[tuple[str, str, str], ...] = ()  # answers that order the judge: item, system, words
    human: HumanAgreement | None = None

    def to_json(self) -> dict[str, Any]:
        """Give the row of it."""
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
    """Put together what judgements, planted cases and ratings of people say of a judge."""
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
              if (words := find_order(answer))),
        None if ratings is None else compare_with_people(judge, kind, judgements, ratings, tolerance),
    )  # fmt: skip


def lacks_value(judgement: Judgement) -> bool:
    """Tell whether a judgement says nothing that counts."""
    if judgement.kind == "pairwise":
        return not judgement.verdict
    return not judgement.ratings or None in judgement.ratings


def compare_with_people(
    judge: str, kind: Kind, judgements: Sequence[Judgement], ratings: Sequence[Rating], tolerance: float | None = None
) -> HumanAgreement:
    """Compare what a judge said first with what people said of the same answers."""
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
    """Give the judge's first value of each place that people rate as well."""
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
    """Name a comparison whatever its order, with a number for the winner."""
    pair = sorted(systems)
    winner = {"A": systems[0], "B": systems[-1], "C": TIE_GOOD, "D": TIE_BAD}[verdict]
    return _name_place(item, *pair), float([*pair, TIE_GOOD, TIE_BAD].index(winner))


def _name_place(*parts: str) -> str:
    return "\0".join(parts)


def _pair_orders(judgements: Iterable[Judgement]) -> list[tuple[str, str]]:
    """Give the winners of each comparison in its two orders, where both have a value."""
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
    """Give what two runs say of the same thing, for each two runs that say anything, each in a text of its own."""
    found: dict[tuple[str, tuple[str, ...], str], list[Judgement]] = defaultdict(list)
    for each in judgements:
        if not lacks_value(each):
            found[each.id, each.systems, each.preference].append(each)
    return [
        (one.verdict or one.ratings, other.verdict or other.ratings)
        for group in found.values()
        for one, other in combinations(group, 2)
        if one.key != other.key  # without chance the second run is the first one's text
    ]


def _correlate_length(judgements: Sequence[Judgement]) -> float | None:
    """Correlate ratings with the lengths of their answers, or choices with how much longer the first one is."""
    chosen = {"A": 1.0, "B": -1.0, "C": 0.0, "D": 0.0}
    pairs = [
        (float(each.lengths[0] - each.lengths[-1]), chosen[each.verdict])
        for each in judgements
        if each.verdict and len(each.lengths) == 2
    ]
    pairs += [(float(length), float(rating)) for _, _, rating, length in list_rated(judgements) if rating is not None]
    return measure_rank_correlation([one for one, _ in pairs], [other for _, other in pairs])


def describe_check(check: Mapping[str, Any] | None) -> str:
    """Say in one line what the row of the last check found; advise one where there is none."""
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
        right, all_ = sum(each["right"] for each in cases), sum(each["judged"] + each["unread"] for each in cases)
        parts.append(f"planted cases right: {right} of {all_}")
    human = check.get("human") or {}
    own = [each["kappa"] for each in human.get("pairs", []) if each["one"] == check.get("judge")]
    parts += [f"kappa with people {', '.join('undefined' if k is None else f'{k:.2f}' for k in own)}"] if own else []
    return "; ".join(parts) or f"checked, and nothing could be measured; {NO_VALUE} throughout"
