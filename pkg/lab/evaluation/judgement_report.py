"""Summarise judgements of systems: win rates by type of question, or mean ratings by preference, with tests.

Win rates are of all judgements, including unparsed ones (Q-18, A-24). Unparsed ratings are left out and counted, or
count 0 on request (A-33). Means are compared with those of a baseline by Welch's test (C-08), with wins, ties and
losses (C-11), best and worst shares (C-09), their lengths (C-10) and the spread of ratings (C-22).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from pkg.lab.evaluation.rating_statistics import (
    Extremes,
    Ranked,
    Spread,
    Welch,
    Wins,
    compare_means,
    count_extremes,
    count_scores,
    count_wins,
    describe_values,
    find_mean_interval,
    list_extremes,
    rank_systems,
)
from pkg.lab.evaluation.share_statistics import Interval, Outcome, WinRate, average_win_rates
from pkg.lab.judge.judge_tasks import Kind
from pkg.lab.judge.judgements import NO_VALUE, TIE_BAD, TIE_GOOD, Judgement, list_rated

ALL = "overall"
"""Type of all questions together; each type is weighted by its items."""


@dataclass(frozen=True, slots=True)
class PairReport:
    """The comparison of two systems on one type of question."""

    ours: str
    base: str
    type: str
    items: int
    judgements: int
    runs: int
    outcomes: dict[Outcome, WinRate]


@dataclass(frozen=True, slots=True)
class SystemReport:
    """The ratings of one system by one preference."""

    system: str
    preference: str
    ratings: int
    unread: int
    mean: float | None  # None if no rating could be parsed
    interval: Interval | None  # of the mean, by bootstrap
    welch: Welch | None  # compared with the baseline
    wins: Wins | None  # compared with the baseline
    extremes: Extremes | None
    scores: dict[int, int]


@dataclass(frozen=True, slots=True)
class JudgementReport:
    """The figures of judgements of one kind."""

    kind: Kind
    judge: str
    judgements: int
    without_value: int
    not_judged: int
    shortened: int
    oddities: dict[str, int]
    pairs: tuple[PairReport, ...] = ()
    ranking: Ranked | None = None
    systems: tuple[SystemReport, ...] = ()
    best_lengths: Spread | None = None
    worst_lengths: Spread | None = None


def report_judgements(
    judgements: Sequence[Judgement], baseline: str = "", unparsed_as_zero: bool = False, seed: int = 0
) -> JudgementReport:
    """Summarise judgements of one kind; raises ValueError for none, or for several kinds."""
    own = [each for each in judgements if not each.case]
    kinds, judges = {each.kind for each in own}, {each.judge for each in own}
    if len(kinds) != 1:
        raise ValueError(f"judgements of {', '.join(sorted(kinds)) or 'no kind'}; expected those of one")
    kind = kinds.pop()
    oddities = Counter(oddity for each in own for oddity in each.oddities)
    best, worst = _list_lengths(own)
    return JudgementReport(
        kind, " and ".join(sorted(judges)), len(own), sum(each.lacks_value for each in own),
        sum(bool(each.fault) for each in own), sum(each.left_out > 0 for each in own), dict(sorted(oddities.items())),
        tuple(_report_pairs(own, baseline)) if kind == "pairwise" else (),
        _rank(own) if kind == "pairwise" else None,
        tuple(_report_systems(own, baseline, unparsed_as_zero, seed)) if kind != "pairwise" else (),
        describe_values(best), describe_values(worst),
    )  # fmt: skip


def _report_pairs(judgements: Sequence[Judgement], baseline: str) -> Iterable[PairReport]:
    groups: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for each in judgements:
        groups[_name_pair(each, baseline, groups)].append(each)
    for (ours, base), group in groups.items():
        types = sorted({each.question_type for each in group if each.question_type})
        for name in (*types, ALL) if len(types) > 1 else (ALL,):
            yield _report_pair(ours, base, name, [each for each in group if name in (ALL, each.question_type)])


def _name_pair(judgement: Judgement, baseline: str, known: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """Return the two systems, the baseline last; without a baseline, in the order in which they were first met."""
    first, second = judgement.systems[0], judgement.systems[-1]
    is_turned = first == baseline or (second != baseline and (second, first) in known)
    return (second, first) if is_turned else (first, second)


def _report_pair(ours: str, base: str, name: str, group: Sequence[Judgement]) -> PairReport:
    runs: dict[int, list[Outcome]] = defaultdict(list)
    for each in group:
        runs[each.run].append(_name_outcome(each, ours))
    items = len({each.id for each in group})
    return PairReport(ours, base, name, items, len(group), len(runs), average_win_rates(list(runs.values())))


def _name_outcome(judgement: Judgement, ours: str) -> Outcome:
    winner = judgement.winner
    if winner in (TIE_GOOD, TIE_BAD, NO_VALUE):
        return cast("Outcome", winner)
    return "ours" if winner == ours else "base"


def _rank(judgements: Sequence[Judgement]) -> Ranked:
    """Rank the systems by all comparisons with a value; both kinds of tie count half."""
    wins: dict[tuple[str, str], float] = defaultdict(float)
    for each in judgements:
        first, second = each.systems[0], each.systems[-1]
        share = {"A": 1.0, "B": 0.0, "C": 0.5, "D": 0.5}.get(each.verdict)
        if share is not None:
            wins[first, second] += share
            wins[second, first] += 1 - share
    return rank_systems(wins)


def _report_systems(
    judgements: Sequence[Judgement], baseline: str, unparsed_as_zero: bool, seed: int
) -> Iterable[SystemReport]:
    """Yield the figures of each system; the ratings of one row in several runs are averaged, and count once."""
    ratings: dict[tuple[str, str], list[int | None]] = defaultdict(list)
    runs: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for each, system, found, _ in _list_ratings(judgements):
        rating = 0 if found is None and unparsed_as_zero else found
        ratings[each.preference, system].append(rating)
        if rating is not None:
            runs[each.preference, each.id, system].append(rating)
    truncated = _list_truncated(judgements)
    samples: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for (preference, id_, system), of_row in runs.items():
        samples[preference][id_][system] = sum(of_row) / len(of_row)
    low, high = 0 if unparsed_as_zero else 1, 5 if judgements[0].kind == "annotate" else 10
    for (preference, system), given in sorted(ratings.items()):
        shared = list(samples[preference].values())
        read = [each[system] for each in shared if system in each]
        others = [each[baseline] for each in shared if baseline in each]
        scores = [rating for rating in given if rating is not None]
        is_compared = bool(baseline and system != baseline and read and others)
        yield SystemReport(
            system, preference, len(scores), len(given) - len(scores), sum(read) / len(read) if read else None,
            find_mean_interval(read, seed) if read else None, compare_means(read, others) if is_compared else None,
            count_wins(shared, system, baseline) if is_compared else None,
            count_extremes(shared, [truncated[id_] for id_ in samples[preference]]).get(system),
            count_scores(scores, low, high),
        )  # fmt: skip


def _list_ratings(judgements: Sequence[Judgement]) -> Iterable[tuple[Judgement, str, int | None, int]]:
    """Yield all ratings, and None for each answer that was not judged."""
    for each in judgements:
        if each.ratings:
            yield from list_rated([each])
        else:
            yield from ((each, system, None, 0) for system in each.systems)


def _list_truncated(judgements: Sequence[Judgement]) -> dict[str, set[str]]:
    """Return the systems whose answer is truncated, by the id of the row."""
    truncated: dict[str, set[str]] = defaultdict(set)
    for each in judgements:
        truncated[each.id].update(each.truncated)
    return truncated


def _list_lengths(judgements: Sequence[Judgement]) -> tuple[list[float], list[float]]:
    """Return the lengths of the best and of the worst answers, in characters."""
    samples: dict[tuple[str, str, int], dict[str, tuple[float, float]]] = defaultdict(dict)
    for each, system, rating, length in list_rated(judgements):
        if rating is not None:
            samples[each.id, each.preference, each.run][system] = rating, float(length)
    best: list[float] = []
    worst: list[float] = []
    truncated = _list_truncated(judgements)
    for (id_, *_), sample in samples.items():
        rated = {system: rating for system, (rating, _) in sample.items()}
        ((high, low),) = list_extremes([rated], [truncated[id_]])
        best += [sample[system][1] for system in sorted(high)]
        worst += [sample[system][1] for system in sorted(low)]
    return best, worst
