import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pkg.vectors.best import GROUP, find_score_bound

SCORES = st.integers(1, 8 * GROUP).flatmap(
    lambda count: arrays(np.float32, count, elements=st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5, 1.0]))
)


@given(SCORES, st.data())
def test_the_best_reach_the_bound(scores: np.ndarray, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(scores)))
    assert (scores >= find_score_bound(scores, k)).sum() >= k


@given(SCORES, st.data())
def test_excluded_scores_do_not_reach_the_bound_while_enough_others_do(scores: np.ndarray, data: st.DataObject) -> None:
    passing = int((scores > -np.inf).sum())
    if passing:
        assert find_score_bound(scores, data.draw(st.integers(1, passing))) > -np.inf


@pytest.mark.parametrize("k", [1, 10, 200])
def test_few_others_reach_it(k: int) -> None:
    scores = np.random.default_rng(5).standard_normal(50_000).astype(np.float32)
    assert k <= (scores >= find_score_bound(scores, k)).sum() <= 2 * k
