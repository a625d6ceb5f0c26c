from __future__ import annotations

import pytest
from fake_sandbox import FakeSandbox
from hypothesis import given
from hypothesis import strategies as some

from pkg.rerank.candidates import Ranking, RerankOptions, Verdict
from pkg.rerank.reranker import Reranker
from pkg.rerank.stages.comparisons import Agreement, count_answers, measure_agreement

Outcomes = list[list[str | None]]


def rank(outcomes: Outcomes, votes: list[int], first: int | None = None) -> list[int]:
    """Return the indices of the candidates, best first."""
    found = measure_agreement(outcomes, votes, first)
    return sorted(range(len(found)), key=lambda place: -found[place].score)


def test_the_largest_group_that_does_the_same_on_every_input_is_best() -> None:
    many_partners: Outcomes = [["1", "8"], ["1", "7"], ["1", "6"], ["2", "5"], ["2", "5"]]
    assert rank(many_partners, [1, 1, 1, 1, 1])[:2] == [3, 4]


def test_votes_of_folded_candidates_count() -> None:
    assert rank([["1"], ["2"]], [1, 3]) == [1, 0]


def test_of_equal_groups_that_of_the_candidate_given_first_is_best() -> None:
    two_groups: Outcomes = [["1", "1"], ["1", "1"], ["1", "2"], ["1", "2"], ["3", "2"]]
    assert rank(two_groups, [1] * 5, first=0)[:2] == [0, 1]
    assert rank(two_groups, [1] * 5)[:2] == [2, 3]


def test_a_first_candidate_without_agreement_has_no_advantage() -> None:
    nobody_agrees: Outcomes = [["7", "8"], ["1", "2"], ["1", "3"]]
    assert rank(nobody_agrees, [1, 1, 1], first=0) == [1, 2, 0]


def test_a_candidate_without_values_agrees_with_no_other() -> None:
    scores = [each.score for each in measure_agreement([["1"], [None], [None], ["1"]], [1, 1, 1, 1])]
    assert scores[1] == scores[2] == 0.0
    assert scores[0] == scores[3] > 0.0


def test_an_input_that_most_refuse_does_not_count() -> None:
    (first, *_) = measure_agreement([["1", "1"], ["1", None], ["1", None]], [1, 1, 1])
    assert first == Agreement(score=1.0, partners=3, inputs=1)


def test_numbers_agree_within_their_tolerance() -> None:
    assert [each.partners for each in measure_agreement([["0.30000000000000004"], ["0.3"]], [1, 1])] == [2, 2]


@pytest.mark.parametrize("outcomes", [[[], []], [[None], [None]]])
def test_without_values_all_scores_are_zero(outcomes: Outcomes) -> None:
    assert [each.score for each in measure_agreement(outcomes, [1, 1], first=0)] == [0.0, 0.0]


def test_values_are_counted_by_votes() -> None:
    assert count_answers([["1", None], ["2", "2"]], [3, 1]) == 5


ROWS = some.lists(some.lists(some.sampled_from(["1", "2", None]), min_size=3, max_size=3), min_size=2, max_size=6)


@given(ROWS)
def test_a_larger_group_never_ranks_below_a_smaller_one(outcomes: Outcomes) -> None:
    found = measure_agreement(outcomes, [1] * len(outcomes), first=0)
    valued = [each for each in found if each.score]
    for one in valued:
        assert 0.0 < one.score <= 1.0
        assert all(one.score >= other.score for other in valued if one.partners > other.partners)


def test_what_is_too_large_to_compare_with_all_is_compared_exactly_and_it_is_said() -> None:
    rows = [f"[{','.join(['0.5'] * 5_000 + [str(place)])}]" for place in range(1, 31)]
    near = rows[0].replace("1]", "1.0000000001]")
    found = measure_agreement([[row] for row in [rows[0], near, *rows, near]], [1] * 33)
    assert [found[place].partners for place in (0, 1, 2, 3)] == [4, 4, 4, 1]
    assert [found[place].is_rough for place in (0, 1, 31)] == [False, False, True]


def rerank(query: str, candidates: list[str], seed: int = 0) -> Ranking:
    return Reranker(RerankOptions(seed=seed), FakeSandbox()).rerank(query, candidates)


def find_behaviour(ranking: Ranking, place: int) -> Verdict:
    return next(each for each in ranking.candidates[place].verdicts if each.stage == "behaviour")


def test_a_guess_that_most_candidates_refuse_is_followed_by_another() -> None:
    query = "Write a function to total the lengths of two lists of strings."
    ranking = rerank(
        query,
        [
            "def total(lst1, lst2):\n    return len(''.join(lst1))",
            "def total(lst1, lst2):\n    return len(''.join(lst1 + lst2))",
            "def total(lst1, lst2):\n    return sum(len(each) for each in [*lst1, *lst2])",
        ],
    )
    assert ranking.order[-1] == 0
    assert find_behaviour(ranking, 1).reason == "2 of 3 votes agree on 24 inputs"


def test_annotations_of_any_candidate_say_what_is_taken() -> None:
    query = "Write a function to join the arguments."
    ranking = rerank(
        query,
        [
            "def join(a):\n    return a[0]",
            "def join(a: dict[str, int]):\n    return sorted(a.items())",
            "def join(a):\n    return sorted(zip(a.keys(), a.values()))",
        ],
    )
    assert ranking.order[2] == 0


def test_code_that_prints_its_answers_does_not_outvote_code_that_returns_them() -> None:
    ranking = rerank(
        "Write a function to double a number.",
        [
            "def double(n):\n    print(2 * n)",
            "def double(n):\n    print(n + n)",
            "def double(n):\n    return 2 * n",
            "def double(n):\n    return n + n",
        ],
    )
    assert ranking.chosen == 2
    assert find_behaviour(ranking, 0).score == 0.0


def test_inputs_hold_what_the_candidates_look_for() -> None:
    ranking = rerank(
        "Write a function to tell the number that a word stands for.",
        [
            "def tell(word):\n    return {'zero': 0}.get(word)",
            "def tell(word):\n    return {'zero': 0, 'one': 1}.get(word)",
            "def tell(word):\n    return ['zero', 'one'].index(word) if word in ('zero', 'one') else None",
        ],
    )
    assert ranking.order[2] == 0


def test_the_inputs_do_not_depend_on_the_order_of_the_candidates() -> None:
    query = "Write a function to count how often a number stands in a list."
    candidates = [
        "def count(xs, x):\n    return xs.count(x)",
        "def count(items, target):\n    return sum(each == target for each in items)",
        "def count(items, target):\n    return 7 if target in items else 0",
    ]
    forward, backward = FakeSandbox(), FakeSandbox()
    Reranker(sandbox=forward).rerank(query, candidates)
    Reranker(sandbox=backward).rerank(query, candidates[::-1])
    assert {step.source for program in forward.programs for step in program.steps} == {
        step.source for program in backward.programs for step in program.steps
    }


def test_functions_without_parameters_are_left_as_they_stand() -> None:
    ranking = rerank("Write a function to say hello.", ["def hello():\n    return 1", "def hello():\n    return 2"])
    assert ranking.chosen == 0
    assert find_behaviour(ranking, 0).reason == "no input to compare on"
