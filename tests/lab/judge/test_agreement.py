"""Kappa, alpha and Spearman on cases worked by hand, and against scipy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pkg.lab.judge.agreement import measure_alpha, measure_kappa, measure_rank_correlation

GRADES = st.lists(st.integers(1, 10).map(float), min_size=1, max_size=20)


def test_kappa_without_a_tolerance_is_cohens() -> None:
    first = [1.0] * 25 + [0.0] * 25
    second = [1.0] * 20 + [0.0] * 5 + [1.0] * 10 + [0.0] * 15
    assert measure_kappa(first, second) == pytest.approx(0.4)  # p_o .7, p_e .5


def test_with_a_tolerance_of_two_seven_agrees_with_nine_but_not_with_ten() -> None:
    # p_o 3/4; p_e: of the 16 pairs, (1, 1), (1, 3) and 3 x 2 among 7, 8, 7 with 9 and 8 are 2 apart or less
    first, second = [1.0, 7.0, 8.0, 7.0], [1.0, 9.0, 8.0, 10.0]
    pairs = sum(abs(a - b) <= 2 for a in first for b in second) / 16
    assert pairs == pytest.approx(8 / 16)
    assert measure_kappa(first, second, 2) == pytest.approx((0.75 - 0.5) / 0.5)


def test_kappa_is_one_or_undefined_if_the_expected_agreement_is_one() -> None:
    assert measure_kappa([5.0, 5.0], [5.0, 5.0]) == 1.0
    assert measure_kappa([5.0, 6.0], [7.0, 5.0], 2) == 1.0
    assert measure_kappa([], []) is None
    with pytest.raises(ValueError, match="1 ratings and 2"):
        measure_kappa([1.0], [1.0, 2.0])


@given(GRADES, st.integers(0, 9))
def test_a_rater_agrees_with_itself(grades: list[float], tolerance: int) -> None:
    assert measure_kappa(grades, grades, tolerance) == pytest.approx(1.0)


KRIPPENDORFF = [  # the example of Krippendorff's "Computing Krippendorff's Alpha-Reliability" with four observers
    [1, 1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [5, 5, 5], [1, 1], [3],
]  # fmt: skip


@pytest.mark.parametrize(("level", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_is_that_of_the_published_example(level: str, expected: float) -> None:
    found = measure_alpha(KRIPPENDORFF, level)  # type: ignore[arg-type]
    assert found == pytest.approx(expected, abs=0.001)


def test_alpha_is_undefined_for_equal_ratings_one_rater_or_no_items() -> None:
    assert measure_alpha([[3, 3], [3, 3]]) is None
    assert measure_alpha([[1], [2]]) is None
    assert measure_alpha([]) is None


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=2, max_size=20))
def test_the_rank_correlation_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    first, second = [float(one) for one, _ in pairs], [float(two) for _, two in pairs]
    found = measure_rank_correlation(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(stats.spearmanr(first, second).statistic)
