"""The text of an answer as it arrives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pkg.models.answer_text import LONGEST_TOKEN, AnswerText

LETTERS = st.text("ab\n", max_size=12)


@given(pieces=st.lists(LETTERS), stop=st.lists(st.text("ab\n", min_size=1, max_size=4), max_size=3))
def test_an_answer_ends_before_the_first_stop_string_in_any_pieces(pieces: list[str], stop: list[str]) -> None:
    told: list[str] = []
    answer = AnswerText(stop, 100, told.append)
    for piece in pieces:
        answer.add(piece)
    whole = "".join(pieces)
    ends = [place for each in stop if (place := whole.find(each)) >= 0]
    # A stop string that ends first wins, as it does for who reads along: of two that overlap it may begin later.
    assert answer.is_cut == bool(ends)
    assert not any(each in answer.text for each in stop)
    assert whole.startswith(answer.text)
    assert answer.finish() == "".join(told) == answer.text


def test_a_possible_beginning_of_a_stop_string_is_held_back() -> None:
    told: list[str] = []
    answer = AnswerText(['"""'], 100, told.append)
    answer.add('say ""')
    assert told == ["say "]
    answer.add("!")
    assert told == ["say ", '""!']


def test_an_endless_answer_is_truncated() -> None:
    answer = AnswerText([], max_tokens=2)
    while not answer.has_ended:
        answer.add("x" * 10)
    assert (answer.is_endless, len(answer.text)) == (True, 2 * LONGEST_TOKEN)


def test_nothing_is_added_after_the_end() -> None:
    answer = AnswerText(["\n"], 100)
    answer.add("one\ntwo")
    answer.add("three")
    assert answer.finish() == "one"
