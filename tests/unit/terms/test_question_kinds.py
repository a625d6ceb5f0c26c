"""The wording of a question tells whether a constant is wanted."""

from __future__ import annotations

import pytest

from pkg.terms.question_kinds import list_kind_terms, measure_constant_odds
from pkg.terms.words import split_terms


def measure(text: str) -> float:
    return measure_constant_odds(tuple(dict.fromkeys(split_terms(text.encode()))))


@pytest.mark.parametrize(
    ("constant", "function"),
    [
        ("how many attempts are made by default", "how does it make another attempt"),
        ("which endings of files count as pictures", "open a picture and turn it"),
        ("list of words that may not be names", "check that a name is valid"),
        ("name of the variable for the folder of settings", "what happens when the folder of settings is missing"),
    ],
)
def test_a_question_for_a_value_has_higher_odds_than_one_for_behaviour(constant: str, function: str) -> None:
    assert measure(constant) > measure(function) + 1


def test_the_first_words_count_by_themselves() -> None:
    assert list_kind_terms(("how", "mani", "row")) == ["", "how", "mani", "row", "^how", "^how_mani"]
    assert list_kind_terms(()) == ["", "^", "^"]


def test_unknown_words_leave_the_odds_of_any_question() -> None:
    assert measure("plugh") == pytest.approx(measure("arstdh"))
    assert measure("plugh") < 0
