"""Evidence supports a statement only with its names, numbers, directions and most of its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.generation.ask.support import judge_support, list_content, list_numbers

SLEEP = '''tenacity/nap.py function sleep
def sleep(seconds: float = 10, *, event=None) -> None:
    """Sleep strategy that delays execution for a given number of seconds.

    The event is set before the delay. It does not block other threads.
    """
    if not event:
        time.sleep(seconds)
'''
NAMES = ["sleep"]


@pytest.mark.parametrize(
    "statement",
    [
        "`sleep` delays the execution for a number of seconds.",
        "The default number of seconds of `sleep` is 10.",
        "The default number of seconds of `sleep` is 10.0.",
        "`sleep` does not block other threads.",
        "`sleep` sets the event before it delays.",
    ],
)
def test_a_statement_of_the_evidence_is_supported(statement: str) -> None:
    assert judge_support(statement, NAMES, SLEEP) == "supported"


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("The maximal number of threads of the scheduler is 10.", []),
        ("`sleep` delays the execution for 20 seconds.", NAMES),
        ("`sleep` delays the execution for twelve seconds.", NAMES),
        ("`sleep_until` delays the execution for a number of seconds.", ["sleep_until"]),
        ("`sleep` blocks other threads.", NAMES),
        ("`sleep` does not delay the execution for a number of seconds.", NAMES),
        ("`sleep` sets the event after the delay.", NAMES),
        ("Customers log in with a password that is hashed.", []),
    ],
)
def test_an_invented_number_name_negation_or_direction_is_not_supported(statement: str, names: list[str]) -> None:
    assert judge_support(statement, names, SLEEP) == "unsupported"


def test_too_few_words_of_the_evidence_are_partly_supported() -> None:
    statement = "`sleep` delays the execution of tasks in the queue of the scheduler by seconds."
    assert judge_support(statement, NAMES, SLEEP) == "partly"


def test_words_far_from_each_other_do_not_support_a_statement() -> None:
    far = "file\n" + "\n".join(("red = 1", *["x = 0"] * 20, "green = 2", *["x = 0"] * 20, "blue = 3"))
    assert judge_support("red green blue", [], far) == "unsupported"
    assert judge_support("red green blue", [], "file\nred = 1\ngreen = 2\nblue = 3") == "supported"


def test_a_negation_in_code_denies_nothing() -> None:
    code = "shop.py function save\ndef save(order):\n    if not order.is_open: return\n    store(order, address)"
    assert judge_support("`save` stores the open order with its address.", ["save"], code) == "supported"
    assert judge_support("`save` does not store the open order.", ["save"], code) == "unsupported"


def test_numbers_are_compared_in_one_notation() -> None:
    assert list(list_numbers("1,000 and 2.50 or -3, two of x86, one more")) == ["1000", "2.5", "-3", "2"]


def test_content_words_are_neither_grammar_nor_words_about_any_code() -> None:
    assert list_content("The function returns the value that is used by the scheduler") == list_content("scheduler")


@given(st.text(max_size=200), st.text(max_size=400))
def test_any_texts_have_a_verdict(statement: str, evidence: str) -> None:
    assert judge_support(statement, [], evidence) in ("supported", "partly", "unsupported")
