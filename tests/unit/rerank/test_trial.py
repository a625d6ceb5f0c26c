from __future__ import annotations

from fake_sandbox import FakeSandbox

from pkg.rerank.candidates import Ranking, RerankOptions, Verdict
from pkg.rerank.reranker import Reranker


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
    assert ranking.order == (2, 1, 0)
    assert find_behaviour(ranking, 1).reason == "2 of 3 votes agree on 24 inputs"


def test_annotations_of_any_candidate_say_what_is_taken() -> None:
    query = "Write a function to join what is given."
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
