"""The overlap judge scores words, citations and passed tests, independent of order."""

from __future__ import annotations

import pytest
from fake_sandbox import FakeSandbox

from pkg.lab.judge.items import Excerpt, JudgedItem
from pkg.lab.judge.judge_tasks import JudgeTask
from pkg.lab.judge.overlap_judge import OverlapJudge, measure_citations, measure_overlap


@pytest.mark.parametrize(
    ("answer", "reference", "score"),
    [
        ("the cat sat", "the cat sat", 1.0),
        ("The CAT, sat!", "the cat sat", 1.0),
        ("the dog", "the cat sat", 2 / 5),
        ("the the the", "the cat", 2 / 5),  # a word counts as often as both have it
        ("", "the cat", 0.0),
        ("!?", "the cat", 0.0),
    ],
)
def test_overlap_is_the_f1_score_of_the_words(answer: str, reference: str, score: float) -> None:
    assert measure_overlap(answer, reference) == pytest.approx(score)
    assert measure_overlap(reference, answer) == pytest.approx(score)


def test_repeating_the_question_gains_nothing_unless_the_reference_does() -> None:
    question, reference = "Which file imports json?", "The file store.py imports json."
    assert measure_overlap(question, reference, question) == 0.0
    assert measure_overlap("It is store.py.", reference, question) == pytest.approx(2 * 2 / (4 + 3))
    assert measure_overlap("json", "imports json", question) == pytest.approx(2 / 3)


def test_a_citation_counts_if_it_refers_to_the_evidence() -> None:
    item = JudgedItem("1", "Q", evidence=(Excerpt("shop/cart.py", 3, 9), Excerpt("README.md", 1, 4)))
    assert measure_citations("It adds [1], as shop/cart.py:5 says.", item) == 1.0
    assert measure_citations("See [2], [3], shop/cart.py:12 and other.py:5.", item) == 0.25
    assert measure_citations("See [the page](1) or x[i].", item) == 0.0
    assert measure_citations(f"[{'9' * 5000}]", item) == 0.0


ADD = JudgedItem(
    "1",
    "Write add.",
    {
        "right": "```python\ndef add(a, b):\n    return b + a\n```",
        "wrong": "def add(a, b):\n    return a - b",
        "no": "No.",
    },
    tests=("assert add(1, 2) == 3", "assert add(0, 0) == 0"),
)


def test_code_is_scored_by_the_tests_that_it_passes() -> None:
    tasks = [JudgeTask("correctness", ADD, (system,)) for system in ADD.answers]
    found = list(OverlapJudge(FakeSandbox()).judge_all(tasks))
    assert [each.ratings for each in found] == [(10,), (6,), (1,)]


def test_the_winner_is_the_same_in_both_orders_and_equal_answers_tie() -> None:
    item = JudgedItem(
        "1", "Q", {"a": "the cat sat", "b": "the dog", "c": "the cat sat", "d": "no", "e": "none"}, "the cat sat"
    )
    pairs = [("a", "b"), ("b", "a"), ("a", "c"), ("d", "e")]
    found = OverlapJudge().judge_all([JudgeTask("pairwise", item, pair) for pair in pairs])
    assert [each.winner for each in found] == ["a", "a", "tie good", "tie bad"]


def test_an_item_without_reference_evidence_and_tests_is_not_judged() -> None:
    item = JudgedItem("1", "Q", {"a": "x"}, tests=("assert x",))
    (found,) = OverlapJudge().judge_all([JudgeTask("grade", item, ("a",))])
    assert (found.ratings, found.fault) == ((), "no reference, no evidence and no tests to compare with")


def test_annotations_are_on_their_scale() -> None:
    item = JudgedItem("1", "Q", {"a": "the cat sat", "b": "no"}, "the cat sat")
    (found,) = OverlapJudge().judge_all([JudgeTask("annotate", item, ("a", "b"))])
    assert found.ratings == (5, 1)
