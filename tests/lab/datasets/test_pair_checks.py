"""Texts of models are parsed strictly, and pairs that do not name or quote their place are found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.lab.datasets.dataset_rows import Place
from pkg.lab.datasets.pair_checks import (
    Malformed,
    Pair,
    Repository,
    Score,
    find_file_fault,
    find_span_fault,
    parse_pair,
    parse_pairs,
    parse_score,
)

CODE = 'def load_cart(path):\n    """Read cart.json."""\n    return json.loads(path.read_text())'
PLACE = Place("shop", None, "store/cart.py", 10, 12, CODE)
SHOP = Repository(["store/cart.py", "store/prices.py", "README.md"])
QUESTION = "In cart.py of shop.store, lines 10 to 12: what does it do?"
ANSWER = "It reads the cart:\n```python\nreturn json.loads(path.read_text())\n```"


@pytest.mark.parametrize(
    ("question", "answer", "fault"),
    [
        (QUESTION, ANSWER, None),
        (QUESTION, "`load_cart` reads it.", None),
        (QUESTION, "It does this:\nreturn json.loads(path.read_text())", None),
        (QUESTION.replace("cart.py", "this file"), ANSWER, "a question without its file"),
        (QUESTION + " And basket.py?", ANSWER, "a question about a file that does not exist"),
        (QUESTION + " And store/prices.py, in README.md?", ANSWER, None),
        (QUESTION + " And wrong/prices.py?", ANSWER, "a question about a file that does not exist"),
        (QUESTION + " Why cart.json?", ANSWER, None),  # the code names it
        (QUESTION.replace("shop.store", "the shop"), ANSWER, "a question without its module"),
        (QUESTION.replace("10 to 12", "10 to 13"), ANSWER, "a question without its lines"),
        (QUESTION.replace("10 to 12", "110 to 12"), ANSWER, "a question without its lines"),
        (QUESTION, "It loads the cart from a path.", "an answer without code"),
        (QUESTION, "It prints:\n```python\nprint(1)\n```", "an answer that does not mention the span"),
    ],
)
def test_a_pair_about_lines(question: str, answer: str, fault: str | None) -> None:
    assert find_span_fault(Pair(question, answer), PLACE, SHOP) == fault


def test_a_pair_about_a_file_needs_neither_lines_nor_code() -> None:
    readme = Place("shop", None, "README.md", 1, 3, "# Shop\n\nInstall it with pip.")
    asked = "How is the shop installed, by README.md?"
    assert find_file_fault(Pair(asked, "With pip."), readme, SHOP) is None
    assert find_file_fault(Pair(asked, "No."), readme, SHOP) == "an answer that does not mention the span"
    assert find_file_fault(Pair("How?", "With pip."), readme, SHOP) == "a question without its file"
    assert find_file_fault(Pair(asked + " See setup.cfg", "With pip."), readme, SHOP) == (
        "a question about a file that does not exist"
    )


def test_alternating_questions_and_answers_are_parsed() -> None:
    text = "Question: From where is b?\nAnswer: From the library b,\nby import b.\n\nQuestion: c?\nAnswer: no"
    assert parse_pairs(text) == [
        Pair("From where is b?", "From the library b,\nby import b."),
        Pair("c?", "no"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no question and no answer"),
        ("I cannot do that.", "no question and no answer"),
        ("Sure! Here you are:\nQuestion: a?\nAnswer: b", "words before the first question"),
        ("Question: a?", "a question without an answer"),
        ("Answer: b\nQuestion: a?", "questions and answers do not alternate"),
        ("Question: a?\nQuestion: b?\nAnswer: c\nAnswer: d", "questions and answers do not alternate"),
        ("Question: a?\nAnswer: b\nQuestion: c?", "questions and answers do not alternate"),
        ("Question:\nAnswer: b", "an empty question or answer"),
        ("Question: a?\nAnswer:  \n", "an empty question or answer"),
    ],
)
def test_malformed_texts_are_dropped(text: str, reason: str) -> None:
    assert parse_pairs(text) == Malformed(reason)


def test_a_label_inside_of_a_line_is_text() -> None:
    assert parse_pair("Question: What does `Answer: x` mean?\nAnswer: See Question: y.") == Pair(
        "What does `Answer: x` mean?", "See Question: y."
    )


def test_a_truncated_text_is_dropped() -> None:
    assert parse_pairs("Question: a?\nAnswer: b and", is_cut=True) == Malformed("cut off before its end")


def test_two_pairs_are_malformed_if_one_is_expected() -> None:
    assert parse_pair("Question: a?\nAnswer: b\nQuestion: c?\nAnswer: d") == Malformed("more than one question")


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Right and short.\nScore: 4", 4),
        ("Score: 1", 1),
        ("Good.\n**Score: 5**\n", 5),
        ("Good.\n**Score:** 5", 5),
        ("It says that the score is high.\nscore: [3].", 3),
        ("Score: 4\nas it is good\nScore: 4", 4),
    ],
)
def test_the_score_is_on_the_last_line(text: str, score: int) -> None:
    found = parse_score(text)
    assert isinstance(found, Score)
    assert found.score == score


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no score on the last line"),
        ("I would give it Score: 4 because it is good.", "no score on the last line"),
        ("Score: 4\nThat is all.", "no score on the last line"),
        ("Score: 4/5", "no score on the last line"),
        ("Score: 4.5", "no score on the last line"),
        ("Score: four", "no score on the last line"),
        ("Score: 2\nScore: 5", "more than one score"),
        ("Score: 10", "a score outside of 1 to 5"),
        ("Score: 0", "a score outside of 1 to 5"),
        ("Score: -3", "a score outside of 1 to 5"),
    ],
)
def test_a_missing_score_has_a_reason(text: str, reason: str) -> None:
    assert parse_score(text) == Malformed(reason)


@given(st.text())
def test_the_parsers_accept_any_text(text: str) -> None:
    pairs, score = parse_pairs(text), parse_score(text)
    assert isinstance(pairs, Malformed) or all(pair.question and pair.answer for pair in pairs)
    assert isinstance(score, Malformed) or 1 <= score.score <= 5
