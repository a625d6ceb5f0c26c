from __future__ import annotations

import pytest

from pkg.errors import InputError
from pkg.rerank.examples.example_search import parse_given, parse_tests
from pkg.rerank.parsed_question import Question

ADD = Question("", "add")


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        ("add(1, 2) == 3", "add(1, 2) == 3"),
        ("assert add(1, 2) == 3", "add(1, 2) == 3"),
        (">>> add(1, 2)\n3", "add(1, 2) == 3"),
        ("add(1, 2) returns 3", "add(1, 2) == 3"),
        ({"call": "add(1, 2)", "expected": 3}, "add(1, 2) == 3"),
        ({"args": [1, "b"], "expected": None}, "add(1, 'b') == None"),
        ("x = add(1, 2)\nx += 1\nassert x == 4", "x = add(1, 2); x += 1; x == 4"),
    ],
)
def test_an_example_is_read(item: object, shown: str) -> None:
    assert parse_given([item], ADD)[0].shown == shown


@pytest.mark.parametrize(
    "item", [3, None, {"expected": 1}, {"call": "add(", "expected": 1}, "Hello there.", {"call": 1}]
)
def test_anything_else_is_refused_with_what_was_expected(item: object) -> None:
    with pytest.raises(InputError, match="expected"):
        parse_given([item], ADD)


def test_arguments_without_a_function_are_refused() -> None:
    with pytest.raises(InputError, match="the query names no function"):
        parse_given([{"args": [1], "expected": 2}], Question(""))


def test_hidden_asserts_are_compared_outside_and_programs_run_as_they_stand() -> None:
    first, second = parse_tests(["assert add(1, 2) == 3", "def check(f):\n    assert f(1, 2) == 3\ncheck(add)"])
    assert (first.source, first.expected) == ("add(1, 2)", 3)
    assert (second.source, second.expected) == ("add(1, 2)", 3)


@pytest.mark.parametrize("tests", [3, [], [""], [3]])
def test_what_is_no_test_is_refused(tests: object) -> None:
    if tests == []:
        assert parse_tests(tests) == ()
        return
    with pytest.raises(InputError, match="is not a test"):
        parse_tests(tests)
