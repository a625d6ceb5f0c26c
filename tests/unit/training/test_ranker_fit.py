from __future__ import annotations

import numpy as np
import pytest
from ranker_fit import Judged, fit_ranker


def make_judged(seed: int, informed: float) -> list[Judged]:
    """Make questions of ten candidates: the first feature tells the right one, the second tells nothing."""
    dice = np.random.default_rng(seed)
    judged = []
    for _ in range(60):
        right = np.arange(10) == dice.integers(10)
        features = np.stack((right * informed + dice.normal(size=10), dice.normal(size=10)), axis=1)
        judged.append(Judged(features, right, 1 / 60))
    return judged


def count_first(judged: list[Judged], weights: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    return float(np.mean([each.right[int(np.argmax(each.features @ weights))] for each in judged]))


def test_a_feature_that_tells_the_right_one_outweighs_one_that_tells_nothing() -> None:
    ranker = fit_ranker(make_judged(1, 4.0))
    assert ranker.weights[0] > 5 * abs(ranker.weights[1])
    assert count_first(make_judged(2, 4.0), ranker.weights) > 0.8


@pytest.mark.parametrize("informed", [1.0, 2.0, 4.0])
def test_the_rate_of_first_hits_is_how_often_they_are_right(informed: float) -> None:
    judged = make_judged(1, informed)
    ranker = fit_ranker(judged)
    sums = [float((each.features @ ranker.weights).max()) for each in judged]
    rates = 1 / (1 + np.exp(-(np.array(sums) + ranker.offset)))
    assert float(rates.mean()) == pytest.approx(count_first(judged, ranker.weights), abs=0.05)


def test_questions_without_a_right_candidate_lower_the_rate_alone() -> None:
    judged = make_judged(1, 4.0)
    hopeless = [Judged(each.features, np.zeros(10, bool), each.weight) for each in make_judged(3, 0.0)]
    without, with_them = fit_ranker(judged), fit_ranker(judged + hopeless)
    assert with_them.weights[0] > 0
    assert count_first(judged, with_them.weights) == count_first(judged, without.weights)


def test_the_same_questions_give_the_same_ranker() -> None:
    first, second = fit_ranker(make_judged(1, 2.0)), fit_ranker(make_judged(1, 2.0))
    assert first.weights.tolist() == second.weights.tolist()
    assert first.offset == second.offset
