"""The summary of ratings: means, the paper's thresholds, and choices independent of side."""

from __future__ import annotations

from typing import Any

import pytest

from pkg.lab.rating.rating_summary import summarise_ratings


def rate(item: str, question: int, answer: int, rater: str = "ana", **more: object) -> dict[str, Any]:
    ratings = {"question": question, "answer": answer}
    return {"id": item, "rater": rater, "kind": "pair", "ratings": ratings, "seconds": 30, **more}


@pytest.mark.parametrize(
    ("ratings", "decision"),
    [
        ([(3, 2)], "drop"), ([(3, 3)], "curate"), ([(5, 5)], "curate"), ([(5, 6)], "keep"), ([(0, 10)], "curate"),
        ([(10, 10), (0, 0)], "curate"), ([(2, 2), (2, 3), (2, 2)], "drop"),
    ],
)  # fmt: skip
def test_pairs_are_decided_by_the_mean_of_all_raters(ratings: list[tuple[int, int]], decision: str) -> None:
    rows = [rate("a", *given, rater=f"r{n}") for n, given in enumerate(ratings)]
    assert list(summarise_ratings(rows))[-1]["decision"] == decision


def test_one_bad_code_mark_drops_the_pair() -> None:
    bad = {"id": "a", "rater": "ben", "kind": "pair", "ratings": {}, "bad_code": True, "seconds": 1}
    head, pair = summarise_ratings([rate("a", 10, 10), bad])
    assert (pair["decision"], pair["score"], pair["raters"]) == ("drop", 10, 2)
    assert (head["bad_code"], head["means"], head["minutes"]) == (1, {"answer": 10, "question": 10}, 0.5)


def test_choices_are_counted_by_system_and_by_side() -> None:
    given = [("A", "x", "y"), ("A", "y", "x"), ("B", "y", "x"), ("C", "x", "y"), ("D", "x", "y")]
    rows = [
        {"id": str(n), "rater": "ana", "kind": "pairwise", "verdict": verdict, "systems": [left, right]}
        for n, (verdict, left, right) in enumerate(given)
    ]
    line = list(summarise_ratings(rows))[1]
    assert line["chosen"] == {"x": 2, "y": 1}
    assert (line["ties"], line["both_wrong"], line["left"], line["ratings"]) == (1, 1, 2, 5)


def test_grades_are_summarised_by_system() -> None:
    rows = [
        {"id": "a", "rater": "ana", "kind": "grade", "system": system, "ratings": {"overall": value}}
        for system, value in (("x", 2), ("x", 5), ("y", 9))
    ]
    assert [(line["system"], line["overall"]) for line in list(summarise_ratings(rows))[1:]] == [("x", 3.5), ("y", 9)]


def test_no_ratings_and_invalid_values_are_summarised() -> None:
    assert next(iter(summarise_ratings([])))["ratings"] == 0
    odd = {"id": "a", "rater": "ana", "kind": "pair", "ratings": {"answer": "nine", "question": float("nan")}}
    assert list(summarise_ratings([odd]))[-1]["decision"] == "drop"
