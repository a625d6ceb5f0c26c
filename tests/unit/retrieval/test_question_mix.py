"""The order of a search is mixed with the match of written questions, and a clear order holds."""

from __future__ import annotations

from fakes import FakeEncoder

from pkg.retrieval.question_mix import match_questions, mix_matches
from pkg.retrieval.ranking import Ranked


def rank(*scores: float) -> list[Ranked]:
    return [Ranked(f"{place}", score, 0.5, "", parts=(("word", 1.0),)) for place, score in enumerate(scores)]


def order(scores: list[float], matches: list[float | None]) -> str:
    return "".join(each.id for each in mix_matches(rank(*scores), matches))


def test_a_close_order_follows_the_match_and_a_clear_one_holds() -> None:
    assert order([0.52, 0.51, 0.1], [0.2, 0.9, 0.1]) == "102"
    assert order([0.9, 0.3, 0.1], [0.5, 0.9, 0.1]) == "012"


def test_equal_matches_and_no_matches_keep_the_order() -> None:
    assert order([0.9, 0.8, 0.7], [0.4, 0.4, 0.4]) == "012"
    assert order([0.9, 0.8, 0.7], [None, None, None]) == "012"
    assert order([0.5, 0.5, 0.5], [None, None, None]) == "012"
    assert mix_matches([], []) == ()


def test_a_candidate_without_questions_keeps_its_share_of_the_score() -> None:
    assert order([0.9, 0.8, 0.0], [0.1, None, 0.9]) == "102"


def test_each_candidate_gets_the_score_of_its_place() -> None:
    mixed = mix_matches(rank(0.52, 0.51, 0.1), [0.2, 0.9, 0.1])
    assert [(each.score, each.parts) for each in mixed] == [(0.52, ()), (0.51, ()), (0.1, ())]


def test_the_match_is_that_of_the_best_question() -> None:
    encoder = FakeEncoder()
    first, second, none = match_questions(
        encoder, "how do I read a file", [("write a file", "how do I read a file"), ("write a file",), ()]
    )
    assert first is not None
    assert second is not None
    assert first > second
    assert none is None
