"""Examples are found in the notations that people use, and no others are invented."""

from __future__ import annotations

import pytest

from pkg.rerank.candidates import Check
from pkg.rerank.examples.example_search import find_entry, find_examples
from pkg.rerank.parsed_question import parse_question


def read(text: str) -> list[str]:
    return [each.shown for each in find_examples(parse_question(text))]


def stub(docstring: str, header: str = "def f(x):") -> str:
    return f'{header}\n    """{docstring}\n    """\n'


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("f(2) returns 4", "f(2) == 4"),
        ("f(2) should return 4.", "f(2) == 4"),
        ("f(2) => 4", "f(2) == 4"),
        ("f(2) ==> 4", "f(2) == 4"),
        ("f(2) -> 4", "f(2) == 4"),
        ("f(2) ➞ 4", "f(2) == 4"),
        ("f(2) == 4", "f(2) == 4"),
        ("f(2) = 4", "f(2) == 4"),
        ("`f(2)` returns `4`", "f(2) == 4"),
        ("f(2)  # 4", "f(2) == 4"),
        ("f(2) # => 4", "f(2) == 4"),
        ("print(f(2))  # Output: 4", "f(2) == 4"),
        ("f('a') should be 'b'", "f('a') == 'b'"),
        ("f('a') returns the string 'b'", "f('a') == 'b'"),
        ("f(“a”) returns “b”", "f('a') == 'b'"),
        ("f([1, 2]) => [2,\n    1]", "f([1, 2]) == [2, 1]"),
        ("f(2) -> 1 + 3 = 4", "f(2) == 4"),
        ("f(2) returns 4 (twice two)", "f(2) == 4"),
        ("f(2) returns 4 - the square", "f(2) == 4"),
        ("f(2) returns None", "f(2) == None"),
        ("f(2) => true", "f(2) == True"),
        ("f(-2) => -4.5", "f(-2) == -4.5"),
        ("f({1: 'a'}) => {'a': 1}", "f({1: 'a'}) == {'a': 1}"),
        ("assert f(2) == 4", "f(2) == 4"),
        ("assert f(2) == 4, 'two squared'", "f(2) == 4"),
        ("assert 4 == f(2)", "f(2) == 4"),
        ("assert f(2)", "bool(f(2))"),
        ("assert not f(2)", "not bool(f(2))"),
        ("assert f(2) is True", "f(2) == True"),
        ("assert set(f([1])) == set([1])", "set(f([1])) == {1}"),
        ("assert f([\n    1,\n    ]) == [1]", "f([1]) == [1]"),
        ("For example: assert f(2) == 4", "f(2) == 4"),
        ("self.assertEqual(f(2), 4)", "f(2) == 4"),
        ("Input: x = 2\n    Output: 4", "f(2) == 4"),
        ("Input: 2\n    Output: 4", "f(2) == 4"),
        ("For x = 2 the output should be 4", "f(2) == 4"),
        ("For x = 2, the sum of digits will be 1 the output should be 4", "f(2) == 4"),
        ("If x = [1, 2] the function should return 3.", "f([1, 2]) == 3"),
        ("x = [2, 1]\n      -> sort x -> [1, 2]\n      return [1, 2]", "f([2, 1]) == [1, 2]"),
        (">>> f(2)\n    4", "f(2) == 4"),
        (">>> f(2) == 4", "f(2) == 4"),
        (">>> f(2) == 4\n    True", "f(2) == 4"),
        (">>> y = 2\n    >>> f(y)\n    4", "f(2) == 4"),
        (">>> f(\n    ...   2)\n    4", "f(2) == 4"),
        (">>> print(f(2))\n    4", "print(f(2)) prints '4'"),
        (">>> f(2)\n    Traceback (most recent call last):\n        ...\n    ValueError: no", "f(2) raises ValueError"),
        (">>> f(2)\n    <Box of 4>", "f(2) prints '<Box of 4>'"),
    ],
)
def test_an_example_is_read(line: str, expected: str) -> None:
    assert read(stub(f"Do it.\n\n    {line}\n")) == [expected]


@pytest.mark.parametrize(
    "line",
    [
        "f(x) returns 4",
        "f(2) returns 4 if it rains",
        "f(2) returns 3 or 4",
        "f(2) is a call",
        "f(2) != 4",
        "f(2) <= 4",
        "f(2) should not return 4",
        "not f(2) == 4",
        "1 + f(2) = 4",
        "f(2) = f(1) + 4",
        "f(2) = 2 + 3 = 4",
        "f(2) returns 4, 5",
        "f(2) returns (4)",
        "f(2) returns 4th",
        "f(2, 3) returns 4",
        "g(2, 3) returns 4",
        "f(2) ->",
        "f(2) returns 'a' 'b'",
        "f(2) => [1, 2",
        ">>> f(2)",
        ">>> f(2)\n    the result is that many numbers come out here",
        ">>> f(2)\n    [1, ..., 9]",
        "assert f(2) ==",
        "Input: y\n    Output: 4",
        "f(2) => 9**9**9",
    ],
)
def test_ambiguous_text_is_not_an_example(line: str) -> None:
    assert read(stub(f"Do it.\n\n    {line}\n")) == []


def test_examples_that_contradict_each_other_are_both_left_out() -> None:
    assert read(stub("f(1) => 1\n    f(2) => 4\n    f(2) => 5\n")) == ["f(1) == 1"]


def test_an_example_that_is_shown_twice_counts_once() -> None:
    assert read(stub(">>> f(1)\n    1\n\n    f(1) returns 1\n")) == ["f(1) == 1"]


def test_an_empty_answer_means_none_only_where_other_calls_have_answers() -> None:
    assert read(stub(">>> f([])\n\n    >>> f([1])\n    1")) == ["f([]) == None", "f([1]) == 1"]


def test_quotes_after_an_answer_are_not_part_of_it() -> None:
    assert read('def f(x):\n    """\n    >>> f(2)\n    4"""\n') == ["f(2) == 4"]


def test_a_mathematical_definition_is_no_example() -> None:
    text = "Defined so:\n    f(1) = 3\n    f(n) = 1 + n / 2\n\n    Return a list.\n\n    Examples:\n    f(3) = [1, 3]\n"
    assert read(stub(text, "def f(n):")) == ["f(3) == [1, 3]"]


def test_an_old_name_in_the_examples_means_the_wanted_function() -> None:
    assert read(stub("grade([4.0]) ==> ['A']\n")) == ["f([4.0]) == ['A']"]


def test_words_without_quotes_are_strings_where_there_are_several() -> None:
    shown = read(stub("f(abcd) => True\n    f(aa) => False\n    f(adb) => True\n", "def f(s):"))
    assert shown == ["f('abcd') == True", "f('aa') == False", "f('adb') == True"]


def test_named_arguments_come_in_the_order_of_the_parameters() -> None:
    text = stub("Input: k = 3, items = [1, 2]\n    Output: [1]\n", "def f(items, k):")
    assert read(text) == ["f([1, 2], 3) == [1]"]


def test_the_query_of_a_benchmark_without_a_header_names_its_function_by_its_assert() -> None:
    question = parse_question("Write a function to add.\nassert add_up((1, 2), 3) == 6")
    examples = find_examples(question)
    assert [each.shown for each in examples] == ["add_up((1, 2), 3) == 6"]
    assert find_entry(question, examples) == "add_up"


def test_a_wanted_function_may_bear_the_name_of_a_built_in_one() -> None:
    question = parse_question("Find the sum of common divisors.\nassert sum(10, 15) == 6")
    assert find_entry(question, find_examples(question)) == "sum"


def test_examples_have_a_line_and_a_notation() -> None:
    (example,) = find_examples(parse_question(stub("\n    f(2) => 4\n")))
    assert (example.line, example.notation, example.check) == (3, "arrow", Check.VALUE)


def test_closeness_keeps_what_is_expected_outside() -> None:
    (example,) = find_examples(parse_question("Do it.\nassert abs(f(2) - 0.5) < 1e-3"))
    assert (example.source, example.expected, example.tolerance) == ("f(2)", 0.5, 1e-3)
    (example,) = find_examples(parse_question("Do it.\nassert math.isclose(f(2), 0.5, rel_tol=1e-2)"))
    assert (example.source, example.expected, example.tolerance) == ("f(2)", 0.5, 1e-2)


@pytest.mark.parametrize("text", ["", ">>>", "f(" * 5000, "assert " * 2000, "Input: " * 500, "f(2) => " + "[" * 5000])
def test_hostile_texts_end_without_examples(text: str) -> None:
    assert read(text) == []
