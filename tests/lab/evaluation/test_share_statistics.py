from __future__ import annotations

from itertools import combinations

import pytest

from pkg.lab.evaluation.share_statistics import compare_paired, find_share_interval, pass_at_k


@pytest.mark.parametrize(("samples", "passed", "k"), [(5, 2, 1), (5, 2, 3), (6, 0, 2), (6, 6, 2), (7, 5, 4)])
def test_pass_at_k_is_the_share_of_draws_that_hold_a_right_one(samples: int, passed: int, k: int) -> None:
    draws = list(combinations([True] * passed + [False] * (samples - passed), k))
    assert pass_at_k(samples, passed, k) == pytest.approx(sum(map(any, draws)) / len(draws))


def test_more_than_there_are_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="pass@10 needs 10 samples"):
        pass_at_k(5, 1, 10)


def test_the_interval_of_a_share_is_that_of_wilson() -> None:
    assert find_share_interval(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)  # Newcombe 1998
    assert find_share_interval(0, 0) == (0.0, 1.0)


def test_pairs_that_differ_decide() -> None:
    before, after = [True] * 3 + [False] * 9, [False] + [True] * 11
    found = compare_paired(before, after)
    assert (found.fixed, found.broken) == (9, 1)
    assert found.p_value == pytest.approx(2 * (1 + 10) / 2**10)
    assert compare_paired([True, False], [True, False]).p_value == 1.0
