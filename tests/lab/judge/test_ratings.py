"""Ratings round-trip through JSON; a value outside of its scale is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.lab.judge.ratings import SCALES, Rating, RatingKind, parse_rating, read_ratings

WORDS = st.text(min_size=1)


@given(
    kind=st.sampled_from(sorted(SCALES)),
    name=WORDS,
    rater=WORDS,
    share=st.floats(0, 1),
    comment=st.text(),
    bad_code=st.booleans(),
)
def test_a_rating_round_trips_through_json(
    kind: RatingKind, name: str, rater: str, share: float, comment: str, bad_code: bool
) -> None:
    low, high = SCALES[kind]
    value = min(high, max(low, low + share * (high - low)))
    rating = Rating(name, rater, kind, {"overall": value}, system="a", comment=comment, bad_code=bad_code, seconds=1.5)
    assert parse_rating(json.loads(json.dumps(rating.to_json()))) == rating


def test_a_comparison_round_trips_through_json() -> None:
    rating = Rating("q1", "ann", "pairwise", verdict="C", systems=("a", "b"), when="2026-01-01T00:00:00Z")
    assert parse_rating(rating.to_json()) == rating


GOOD: dict[str, Any] = {"id": "q1", "rater": "ann", "kind": "grade", "ratings": {"overall": 7}}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ratings": {"overall": 11}}, "overall is rated 11; expected 0 to 10"),
        ({"ratings": {"overall": -1}}, "overall is rated -1; expected 0 to 10"),
        ({"ratings": {"overall": float("nan")}}, "overall is rated NaN"),
        ({"ratings": {"overall": True}}, "overall is rated true"),
        ({"ratings": {"overall": "7"}}, 'overall is rated "7"'),
        ({"kind": "annotation"}, "overall is rated 7; expected 1 to 5"),
        ({"kind": "opinion"}, 'the kind is "opinion"'),
        ({"kind": []}, "the kind is []"),
        ({"kind": "pairwise", "verdict": "E", "systems": ["a", "b"]}, 'the verdict is "E"'),
        ({"kind": "pairwise", "verdict": "A", "systems": ["a"]}, 'the systems are ["a"]'),
        ({"rater": ""}, 'the rater ""'),
        ({"ratings": {}}, "no ratings"),
        ({"ratings": [7]}, "'ratings' is [7]"),
        ({"seconds": -1}, "'seconds' is -1"),
        ({"comment": 3}, "'comment' is 3"),
    ],
)
def test_an_invalid_rating_is_returned_with_its_reason_and_the_next_is_read(
    change: dict[str, Any], reason: str
) -> None:
    found = read_ratings([json.dumps(GOOD | change), json.dumps(GOOD)])
    assert [each.ratings for each in found.items] == [{"overall": 7}]
    assert [each.path for each in found.bad] == ["line 1"]
    assert reason in found.bad[0].reason
