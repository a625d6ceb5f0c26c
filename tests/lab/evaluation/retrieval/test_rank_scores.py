from __future__ import annotations

import math

import pytest

from pkg.lab.evaluation.retrieval.rank_scores import Answered, find_interval, find_rank, list_scores, summarise_ranks


def answer(*found: tuple[int, float], ideal: tuple[float, ...] = (1.0,)) -> Answered:
    return Answered(found, ideal, 100, 100)


def test_the_measures_are_those_worked_out_by_hand() -> None:
    answers = [answer((1, 1.0)), answer((4, 1.0)), answer((20, 1.0)), answer()]
    means = {name: sum(values) / 4 for name, values in list_scores(answers).items()}
    assert means["mrr@10"] == pytest.approx((1 + 1 / 4) / 4)
    assert means["mrr@100"] == pytest.approx((1 + 1 / 4 + 1 / 20) / 4)
    assert means["ndcg@10"] == pytest.approx((1 + 1 / math.log2(5)) / 4)
    assert [means[f"recall@{k}"] for k in (1, 5, 10, 100)] == [0.25, 0.5, 0.5, 0.75]


def test_graded_gains_are_discounted_as_in_the_textbook_example() -> None:
    # Gains 3, 2, 3, 0, 1, 2; the ideal order is 3, 3, 2, 2, 1.
    given = answer((1, 3), (2, 2), (3, 3), (5, 1), (6, 2), ideal=(3, 3, 2, 2, 1))
    (gain,) = list_scores([given])["ndcg@10"]
    best = 3 + 3 / math.log2(3) + 2 / 2 + 2 / math.log2(5) + 1 / math.log2(6)
    assert gain == pytest.approx(6.8611 / best, abs=1e-4)


def test_recall_counts_all_right_answers_and_a_hit_the_first_alone() -> None:
    figures = summarise_ranks([answer((1, 1.0), (7, 1.0), ideal=(1.0, 1.0, 1.0, 1.0))])
    assert (figures["hit@1"], figures["recall@1"], figures["recall@10"]) == (1.0, 0.25, 0.5)


def test_an_empty_answer_is_counted_and_scores_nothing() -> None:
    figures = summarise_ranks([Answered((), (1.0,), 0, 5), Answered(((1, 1.0),), (1.0,), 3, 5)])
    assert (figures["empty"], figures["fewer_than_there_are"], figures["mrr@10"]) == (1, 2, 0.5)


def test_a_share_has_the_interval_of_wilson_which_is_never_empty() -> None:
    assert find_interval([1.0] * 8 + [0.0] * 2) == pytest.approx((0.4902, 0.9433), abs=1e-3)
    low, high = find_interval([0.0] * 10)
    assert (low, high) == pytest.approx((0.0, 0.2775), abs=1e-3)


def test_the_interval_of_a_mean_stays_between_0_and_1() -> None:
    low, high = find_interval([1.0, 1.0, 0.9])
    assert 0.8 < low < 0.9667 < high == 1.0


def test_any_right_place_is_enough_for_a_rank() -> None:
    assert find_rank(["a", "b", "c"], ["c", "b"], 3, 3).rank == 2
    assert find_rank(["a"], ["z"], 1, 3).rank is None
