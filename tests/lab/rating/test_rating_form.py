"""The data of the page is checked: numbers from 0 to 10, one of four choices, texts, times, names."""

from __future__ import annotations

from typing import Any

import pytest

from pkg.errors import InputError
from pkg.lab.rating.rating_form import read_name, read_participant, read_rating, read_seconds


@pytest.mark.parametrize(
    ("kind", "posted", "expected"),
    [
        ("pair", {"ratings": {"question": 0, "answer": 10}}, {"ratings": {"question": 0, "answer": 10}}),
        ("grade", {"ratings": {"overall": 7, "style": 3}}, {"ratings": {"overall": 7}}),
        ("pair", {"bad_code": True}, {"ratings": {}, "bad_code": True}),
        ("pairwise", {"verdict": "C", "comment": "a\r\nb"}, {"verdict": "C", "comment": "a\nb"}),
        ("create", {"question": "q", "answer": "a"}, {"question": "q", "answer": "a"}),
        ("create", {"bad_code": True}, {"question": "", "answer": "", "bad_code": True}),
    ],
)
def test_a_rating_is_read(kind: str, posted: dict[str, Any], expected: dict[str, Any]) -> None:
    assert read_rating(kind, posted) == expected


@pytest.mark.parametrize(
    ("kind", "posted", "message"),
    [
        ("pair", {"ratings": {"question": 3}}, "answer: not set yet"),
        ("pair", {"ratings": {"question": 11, "answer": 1}}, "11; expected a whole number from 0 to 10"),
        ("pair", {"ratings": {"question": -1, "answer": 1}}, "-1; expected a whole number"),
        ("pair", {"ratings": {"question": 2.5, "answer": 1}}, "2.5; expected a whole number"),
        ("pair", {"ratings": {"question": True, "answer": 1}}, "True; expected a whole number"),
        ("grade", {"ratings": {"overall": "9"}}, "'9'; expected a whole number"),
        ("grade", {"ratings": [9]}, "expected an object"),
        ("grade", {"bad_code": "yes"}, "not set yet"),
        ("pairwise", {}, "verdict: not chosen yet"),
        ("pairwise", {"verdict": "E"}, "'E'; expected one of A, B, C, D"),
        ("create", {"question": " \n", "answer": "a"}, "no question yet"),
        ("create", {"question": "q", "answer": "a" * 100_001}, "expected at most 100,000"),
        ("create", {"question": ["q"], "answer": "a"}, "expected a text"),
    ],
)
def test_an_invalid_rating_is_refused(kind: str, posted: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_rating(kind, posted)


def test_times_are_bounded() -> None:
    assert read_seconds(1.26) == 1.3
    assert read_seconds(1e300) == 7 * 86_400
    for wrong in (-1, float("nan"), float("inf"), "1", None, True):
        with pytest.raises(InputError, match="expected a number"):
            read_seconds(wrong)


def test_names_are_one_short_line() -> None:
    assert read_name("  Ana  B ") == "Ana B"
    for wrong in ("", " ", "a" * 101, "a\0b", "a\u202eb", None, 3):
        with pytest.raises(InputError, match="expected 1 to 100 letters"):
            read_name(wrong)


def test_all_answers_of_a_participant_are_optional() -> None:
    assert read_participant({}) == {}
    told = {"degree": "master", "semesters": "10+", "skill_general": "4", "skill_python": "", "field": " biology "}
    expected = {"degree": "master", "semesters": "10+", "skill_general": "4", "field": "biology"}
    assert read_participant(told) == expected
    with pytest.raises(InputError, match="skill_python: '6'; expected one of 1, 2"):
        read_participant({"skill_python": "6"})
