import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.retrieval.question import MAX_WORDS, list_abbreviations, parse_question
from pkg.terms.words import split_terms


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (b"the common denominator", "den"),
        (b"the common denominator", "denom"),
        (b"list of parameters", "param"),
        (b"root mean square of the samples", "rms"),
        (b"method resolution order", "mro"),
    ],
)
def test_abbreviations_are_listed(text: bytes, short: str) -> None:
    assert split_terms(short.encode())[0] in list_abbreviations(text)


def test_a_word_is_cut_by_two_letters_at_least() -> None:
    assert list_abbreviations(b"rows") == []
    assert list_abbreviations(b"table") == ["tab"]


def test_each_is_listed_once() -> None:
    found = list_abbreviations(b"parameter of a parameter, and parametric parameters")
    assert len(set(found)) == len(found)


def test_a_long_text_is_read_from_its_beginning() -> None:
    words = b"ab " * (MAX_WORDS - 1)
    assert "den" in list_abbreviations(words + b"denominator")
    assert "den" not in list_abbreviations(words + b"ab denominator")


def test_terms_of_the_question_are_no_abbreviations() -> None:
    question = parse_question("int of an integer")
    assert "int" in question.weights
    assert question.abbreviations
    assert question.abbreviations.keys().isdisjoint(question.weights)


@given(st.text(max_size=80))
def test_any_text_has_some_or_none(text: str) -> None:
    assert all(list_abbreviations(text.encode("utf-8", "ignore")))
