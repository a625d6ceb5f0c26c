"""Verdicts and ratings are parsed as in the papers, with their oddities."""

from __future__ import annotations

import pytest

from pkg.lab.judge.judge_tasks import Kind
from pkg.lab.judge.judgements import (
    EMPTY,
    INSIDE,
    LEVELS,
    NONE,
    OUTSIDE,
    SEVERAL,
    begin_value,
    parse_grade,
    parse_levels,
    parse_verdict,
)


@pytest.mark.parametrize(
    ("text", "verdict", "oddities"),
    [
        ("B is right.\n\n[[B]]", "B", ()),
        ("My verdict: [[D]].", "D", ()),
        ("[[C]]\n[[C]]", "C", ()),
        ("First [[A]] seemed right to me, but no.\n[[B]]", "A", (SEVERAL, INSIDE)),
        ("I would say [[A]] because it is short.", "A", (INSIDE,)),
        ("[[E]] or [B]", "", (NONE,)),
        ("", "", (EMPTY,)),
        ("  \n", "", (EMPTY,)),
    ],
)
def test_the_first_verdict_counts(text: str, verdict: str, oddities: tuple[str, ...]) -> None:
    assert parse_verdict(text) == (verdict, oddities)


@pytest.mark.parametrize(
    ("text", "rating", "oddities"),
    [
        ("Rationale: Short.\nRating: 7", 7, ()),
        ("Rating: 2/10", 2, ()),
        ("Rating: 10/10.", 10, ()),
        ("**Rating:** 7", 7, ()),
        ("Rating: **7**/10", 7, ()),
        ("Rating:\n 8", 8, ()),
        ("Rating: 3\nRating: 9", 3, (SEVERAL,)),
        ("Rating: 4 would be too much.", 4, (INSIDE,)),
        ("Rating: 0", None, (OUTSIDE,)),
        ("Rating: 11", None, (OUTSIDE,)),
        ("Rating: 99999999999999999999999999", None, (OUTSIDE,)),
        ("Rating: seven", None, (NONE,)),
        ("MyRating: 7", None, (NONE,)),
        ("", None, (EMPTY,)),
    ],
)
def test_the_first_rating_counts_if_it_is_on_the_scale(
    text: str, rating: int | None, oddities: tuple[str, ...]
) -> None:
    assert parse_grade(text)[:2] == (rating, oddities)


def test_the_rationale_ends_at_the_rating() -> None:
    assert parse_grade("Rationale: Clear,\nand short.\nRating: 7").rationale == "Clear,\nand short."


def test_each_answer_has_its_section() -> None:
    text = (
        "#### Output for Response 1\nRating: 4\nRationale: Good.\n\n"
        "#### Output for Response 3\nRating: 9\nRationale: Too good.\n"
    )
    found = parse_levels(text, 3)
    assert [each.rating for each in found] == [4, None, None]
    assert [each.oddities for each in found] == [(), (NONE,), (OUTSIDE,)]
    assert found[0].rationale == "Good."


def test_without_headings_ratings_count_in_their_order_if_there_are_enough() -> None:
    assert [each.rating for each in parse_levels("Rating: 1\nRating: 5", 2)] == [1, 5]
    assert [each.rating for each in parse_levels("Rating: 1\nRating: 5", 3)] == [None, None, None]
    assert parse_grade("Rating: 6", LEVELS).rating is None


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("grade", "Rationale: It works.", "Rating:"),
        ("grade", "Rationale: It works.\nRating: 0", ""),
        ("correctness", "Rating: NUMBER", "Rating:"),
        ("pairwise", "A is better.", "[["),
        ("pairwise", "[[D]]", ""),
        ("annotate", "#### Output for Response 1\nRating: 4", "#### Output for Response 2\nRating:"),
        ("annotate", "#### Output for Response 1\nRating: 4\n#### Output for Response 2\nRating: high", ""),
        ("annotate", "Rating: 4\nRating: 2", ""),
    ],
)
def test_the_beginning_of_a_missing_value_depends_on_the_kind(kind: Kind, text: str, expected: str) -> None:
    assert begin_value(kind, text, 2) == expected
