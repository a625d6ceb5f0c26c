"""Win rates, Welch's test, shares, spreads, intervals and rankings compared with scipy and the papers' figures."""

from __future__ import annotations

from itertools import permutations
from math import exp, log
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from pkg.lab.evaluation.rating_statistics import (
    BEATEN,
    ONE_WAY,
    UNBEATEN,
    UNCOMPARED,
    compare_means,
    count_extremes,
    count_scores,
    count_wins,
    describe_values,
    find_mean_interval,
    list_extremes,
    rank_systems,
)
from pkg.lab.evaluation.share_statistics import OUTCOMES, Outcome, average_win_rates, weight_shares

COUNTS = {"syntax": 140, "dependencies": 135, "meta": 50}
RATINGS = st.lists(st.integers(1, 10).map(float), min_size=2, max_size=30)


@pytest.mark.parametrize(
    ("shares", "overall"),
    [
        ((63.1, 59.26, 38.67), 57.8),
        ((62.38, 54.07, 50.67), 57.1),
        ((70.71, 61.97, 51.33), 64.1),
        ((78.33, 74.07, 50.67), 72.3),
    ],
)
def test_the_overall_shares_of_the_paper_come_out_of_its_table(shares: tuple[float, ...], overall: float) -> None:
    assert weight_shares(dict(zip(COUNTS, shares, strict=True)), COUNTS) == pytest.approx(
        overall, abs=0.06
    )  # the first: 57.746


@given(st.lists(st.lists(st.sampled_from(OUTCOMES), min_size=4, max_size=4), min_size=2, max_size=5))
def test_the_five_outcomes_make_all_items(runs: list[list[Outcome]]) -> None:
    found = average_win_rates(runs)
    assert sum(rate.mean for rate in found.values()) == pytest.approx(100)
    assert found["ours"].deviation == pytest.approx(stdev(100 * run.count("ours") / 4 for run in runs))


def test_ties_and_unread_verdicts_are_items_of_the_share() -> None:
    found = average_win_rates([["ours", "base", "no value", "tie bad"]])
    assert found["ours"] == (25.0, None)
    with pytest.raises(ValueError, match="without items"):
        average_win_rates([[]])


@given(RATINGS, RATINGS)
def test_welch_is_that_of_scipy(first: list[float], second: list[float]) -> None:
    found = compare_means(first, second)
    if np.var(first) == 0 or np.var(second) == 0:  # scipy warns here; another test has a case computed by hand
        return
    expected = stats.ttest_ind(first, second, equal_var=False)
    assert (found.t, found.freedom, found.p_value) == pytest.approx((expected.statistic, expected.df, expected.pvalue))
    assert found.difference == pytest.approx(fmean(first) - fmean(second))


def test_sides_that_do_not_vary_are_no_test_only_if_both_do_not() -> None:
    assert compare_means([2.0, 2.0], [5.0, 5.0, 5.0])[:4] == (-3.0, None, None, None)
    found = compare_means([1.0, 1.0], [1.0, 2.0])
    assert (found.t, found.freedom) == pytest.approx((-1.0, 1.0))
    assert found.p_value == pytest.approx(0.5)  # of Cauchy's distribution


def test_marks_say_how_unlikely_a_difference_is_by_chance() -> None:
    low = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]
    marks = {compare_means([value + shift for value in low], low).mark for shift in (0.0, 0.8, 1.1, 3.0)}
    assert marks == {"", "*", "†", "‡"}
    assert compare_means([3.0], low).note == "fewer than two values"
    with pytest.raises(ValueError, match="0 and 6 values"):
        compare_means([], low)


SAMPLES = [
    {"a": 3.0, "b": 1.0, "c": 3.0},
    {"a": 2.0, "b": 2.0},
    {"a": 1.0, "b": 4.0, "c": 2.0},
]


def test_wins_are_counted_on_shared_samples_alone() -> None:
    assert count_wins(SAMPLES, "a", "b") == (1, 1, 1)
    assert count_wins(SAMPLES, "c", "a") == (1, 1, 0)


def test_the_best_and_the_worst_may_be_several_and_where_all_are_equal_there_is_none() -> None:
    assert count_extremes(SAMPLES) == {"a": (1, 1, 3), "b": (1, 1, 3), "c": (1, 0, 2)}
    assert list(list_extremes(SAMPLES))[1] == (frozenset(), frozenset())


def test_a_truncated_answer_is_best_or_worst_only_among_truncated_ones() -> None:
    truncated = [{"b"}, {"a", "b"}, {"b", "c"}]
    assert next(list_extremes(SAMPLES, truncated)) == (frozenset(), frozenset())
    assert next(list_extremes(SAMPLES[2:], [{"b"}])) == (frozenset("c"), frozenset("a"))
    assert next(list_extremes(SAMPLES[2:], [{"a", "b", "c"}])) == (frozenset("b"), frozenset("a"))
    assert count_extremes(SAMPLES[2:], [{"b"}]) == {"a": (0, 1, 1), "b": (0, 0, 1), "c": (1, 0, 1)}


def test_values_are_described_by_their_quartiles() -> None:
    found = describe_values([1.0, 2.0, 3.0, 4.0])
    assert found == pytest.approx((4, 2.5, stats.tstd([1, 2, 3, 4]), 1.0, 1.75, 2.5, 3.25, 4.0))
    assert describe_values([]) is None


def test_scores_are_counted_over_the_whole_scale() -> None:
    assert count_scores([1, 3, 3], 1, 4) == {1: 1, 2: 0, 3: 2, 4: 0}
    with pytest.raises(ValueError, match="a score of 5"):
        count_scores([5], 1, 4)


def test_the_bootstrap_interval_is_seeded_and_near_that_of_scipy() -> None:
    values = [float(value) for value in np.random.default_rng(7).normal(5, 2, 60)]
    found = find_mean_interval(values, seed=1)
    assert found == find_mean_interval(values, seed=1) != find_mean_interval(values, seed=2)
    expected = stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(3))
    assert found == pytest.approx(tuple(expected.confidence_interval), abs=0.05)
    with pytest.raises(ValueError, match="no values"):
        find_mean_interval([])


WINS = {("a", "b"): 7.0, ("b", "a"): 3.0, ("b", "c"): 6.5, ("c", "b"): 3.5, ("a", "c"): 8.0, ("c", "a"): 2.0}


def test_strengths_are_the_likeliest_ones() -> None:
    def lose(logs: np.ndarray) -> float:
        values = dict(zip("abc", (*logs, 0.0), strict=True))
        return sum(count * log(1 + exp(values[two] - values[one])) for (one, two), count in WINS.items())

    best = (*optimize.minimize(lose, np.zeros(2)).x, 0.0)
    found = rank_systems(WINS).strengths
    assert list(found) == ["a", "b", "c"]
    for one, two in permutations(range(3), 2):
        difference = found["abc"[one]] - found["abc"[two]]
        assert difference == pytest.approx(best[one] - best[two], abs=1e-4)


def test_two_systems_stand_apart_by_the_odds_between_them() -> None:
    found = rank_systems({("a", "b"): 3.0, ("b", "a"): 1.0}).strengths
    assert found["a"] - found["b"] == pytest.approx(log(3))


def test_a_system_that_is_never_beaten_is_told_apart() -> None:
    found = rank_systems(WINS | {("top", "a"): 5.0, ("c", "low"): 2.0, ("p", "q"): 0.0})
    assert found.apart == {"top": UNBEATEN, "low": BEATEN, "p": UNCOMPARED, "q": UNCOMPARED}
    assert set(found.strengths) == {"a", "b", "c"}
    assert rank_systems({("a", "b"): 4.0}) == ({}, {"a": UNBEATEN, "b": BEATEN})
    chain = {("a", "b"): 4.0, ("b", "c"): 1.0}
    assert rank_systems(chain) == ({}, {"a": UNBEATEN, "b": ONE_WAY, "c": BEATEN})
    assert rank_systems({}) == ({}, {})
