from __future__ import annotations

from pkg.rerank.agreement import measure_agreement


def scores(outcomes: list[list[str | None]], votes: list[int]) -> list[float]:
    return [each.score for each in measure_agreement(outcomes, votes)]


def test_the_majority_has_the_highest_score() -> None:
    assert scores([["1", "2"], ["1", "2"], ["1", "3"]], [1, 1, 1]) == [5 / 6, 5 / 6, 4 / 6]


def test_votes_of_folded_candidates_count() -> None:
    one, other = scores([["1"], ["2"]], [1, 3])
    assert other == 0.75
    assert one == 0.25


def test_whoever_gives_no_value_agrees_with_nobody() -> None:
    assert scores([["1"], [None], [None], ["1"]], [1, 1, 1, 1]) == [0.5, 0.0, 0.0, 0.5]


def test_an_input_that_most_refuse_does_not_count() -> None:
    (first, *_) = measure_agreement([["1", "1"], ["1", None], ["1", None]], [1, 1, 1])
    assert (first.score, first.inputs, first.partners) == (1.0, 1, 3)


def test_numbers_agree_within_their_tolerance() -> None:
    assert scores([["0.30000000000000004"], ["0.3"]], [1, 1]) == [1.0, 1.0]


def test_without_inputs_nobody_has_a_score() -> None:
    assert scores([[], []], [1, 1]) == [0.0, 0.0]
