from __future__ import annotations

import pytest

from pkg.rerank.parsed_question import Parameter, parse_question

PROMPT = '''\
from typing import List

def double(x):
    return 2 * x

def add(xs: List[int], start=0) -> int:
    """Add numbers, doubled."""
'''


def test_the_stub_of_a_prompt_is_wanted_and_the_rest_is_its_context() -> None:
    question = parse_question(PROMPT)
    assert question.entry == "add"
    assert question.parameters == (Parameter("xs", "List[int]"), Parameter("start", "", is_optional=True))
    assert question.context == "from typing import List\ndef double(x):\n    return 2 * x"
    assert question.stub == PROMPT


def test_a_header_without_a_body_is_a_stub_too() -> None:
    assert parse_question("import os\n\ndef f(a, b):\n").stub is not None


@pytest.mark.parametrize(
    ("query", "entry"),
    [
        ("Complete this:\n\n```python\ndef f(a):\n    pass\n```\nThanks", "f"),
        ("Write `def f(a, b=1) -> int:` for me.\n    def f(a, b=1) -> int:", "f"),
        ("Write a function called f_1 that adds.", "f_1"),
        ("Write a function named `add` that adds.", "add"),
        ("Write a function `add` that adds.", "add"),
        ("Write a function add(a, b) that adds.", "add"),
        ("Write a function to add numbers.", None),
        ("Write a function called by others.", None),
        ("", None),
    ],
)
def test_the_wanted_name_is_found_where_the_query_says_it(query: str, entry: str | None) -> None:
    assert parse_question(query).entry == entry


def test_a_signature_in_prose_tells_the_parameters() -> None:
    question = parse_question("Write a function named `clamp(value, low=0)`.")
    assert question.entry == "clamp"
    assert question.takes(1)
    assert question.takes(2)
    assert not question.takes(3)


def test_a_function_of_any_number_of_arguments_takes_any_call() -> None:
    assert parse_question("def f(*args):\n    '''Do.'''\n").takes(7)
