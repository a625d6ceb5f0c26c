"""Diagnosis of one answer, with the real sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pkg.errors import InputError
from pkg.rerank.diagnosis import CLASSES, OTHER, Diagnosis, check_answer
from pkg.sandbox.protocol import Sandbox
from pkg.sandbox.worker_pool import open_sandbox

QUERY = "Write a function half(n) that halves a number.\n\nhalf(4) == 2 and half(10) == 5."
RIGHT = "def half(n):\n    return n // 2"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox() as opened:
        yield opened


def check(sandbox: Sandbox, text: str, query: str = QUERY, **given: object) -> Diagnosis:
    return check_answer(text, query, sandbox=sandbox, **given)  # type: ignore[arg-type]


def test_an_answer_for_which_all_examples_hold_has_no_faults(sandbox: Sandbox) -> None:
    found = check(sandbox, f"Here:\n```python\n{RIGHT}\n```")
    assert (found.passed, found.code, found.held, found.render()) == (True, RIGHT, 2, "")


def test_another_value_is_an_assertion_that_fails_with_both_values(sandbox: Sandbox) -> None:
    found = check(sandbox, "def half(n):\n    return n - 2")
    assert (found.passed, found.held) == (False, 1)
    (failure,) = found.failures
    assert (failure.error_class, failure.expected, failure.seen) == ("AssertionError", "5", "8")
    assert found.render() == "half(10) == 5 fails (AssertionError): expected 5, got 8.\n1 of 2 examples hold."


@pytest.mark.parametrize(
    ("code", "error", "error_class", "line", "words"),
    [
        ("def half(n):\n    return n // two", "NameError", "NameError", 2, "name 'two' is not defined"),
        ("def half(n):\n    return n // '2'", "TypeError", "TypeError", 2, "unsupported operand"),
        ("def half(n):\n    if n:\n        return 1 // 0", "ZeroDivisionError", OTHER, 3, "by zero"),
        ("def half(n):\n    raise SystemExit", "SystemExit", OTHER, 2, ""),
        ("def half(n):\n    while n:\n        pass", "TimeoutError", OTHER, 0, "ran too long"),
        ("def half(n):\n    assert n < 0, 'why'", "AssertionError", "AssertionError", 2, "why"),
    ],
)
def test_an_exception_is_reported_with_class_message_and_line(
    sandbox: Sandbox, code: str, error: str, error_class: str, line: int, words: str
) -> None:
    failure = check(sandbox, code).failures[0]
    assert (failure.error, failure.error_class, failure.line) == (error, error_class, line)
    assert words in failure.message
    assert failure.example == "half(4) == 2"
    assert failure.source == (code.split("\n")[line - 1] if line else "")


def test_a_syntax_error_is_reported_with_reason_line_position_and_code(sandbox: Sandbox) -> None:
    found = check(sandbox, "def half(n)\n    return n // 2")
    (failure,) = found.failures
    assert (failure.error_class, failure.line, failure.column) == ("SyntaxError", 1, 12)
    assert failure.source == "def half(n)"
    assert not found.is_run
    assert "in line 1, position 12: def half(n)" in found.render()


def test_a_module_that_is_missing_ends_the_load(sandbox: Sandbox) -> None:
    found = check(sandbox, f"import nothing_of_that_name\n{RIGHT}")
    assert [(each.error, each.example, each.line) for each in found.failures] == [("ModuleNotFoundError", "", 1)]
    assert found.render().startswith("The code cannot be run: ModuleNotFoundError")


def test_a_missing_function_and_other_parameters_are_reported(sandbox: Sandbox) -> None:
    missing = check(sandbox, RIGHT.replace("half", "halve"))
    assert missing.lacks_entry
    assert "No 'half' (found: halve)." in missing.render()
    wider = check(sandbox, "def half(n, by):\n    return n // by")
    assert not wider.lacks_entry
    assert "'half' cannot be called with 1 argument (line 1)." in wider.render()


def test_without_examples_an_answer_passes_if_it_loads_without_warnings(sandbox: Sandbox) -> None:
    query = "Write a function half(n) that halves a number."
    assert check(sandbox, RIGHT, query).passed
    assert check(sandbox, RIGHT, query).examples == ()
    assert not check(sandbox, "def half(n):\n    return n // two", query).passed
    cut = check(sandbox, "def half(n):\n    m = n\n    return (m", query)
    assert cut.is_cut
    assert not cut.passed
    assert cut.render() == "The answer is incomplete; a shorter one is needed."


def test_examples_may_be_passed(sandbox: Sandbox) -> None:
    assert check(sandbox, RIGHT, "Write half.", examples=["assert half(6) == 3"]).passed
    found = check(sandbox, RIGHT, "Write half.", examples=["half(6) == 2", {"call": "half(8)", "expected": 4}])
    assert [each.example for each in found.failures] == ["half(6) == 2"]
    with pytest.raises(InputError, match="is not an example"):
        check(sandbox, RIGHT, "Write half.", examples=["half("])


def test_conditions_and_exceptions_are_reported_as_in_the_query(sandbox: Sandbox) -> None:
    query = "Write half(n).\n\nassert half(9) in (4, 5)\nassert not half(0)\n"
    found = check(sandbox, "def half(n):\n    return 7", query)
    assert found.render().split("\n")[:2] == [
        "half(9) in (4, 5) fails (AssertionError): expected True, got half(9) == 7.",
        "not (half(0)) fails (AssertionError): expected False, got half(0) == 7.",
    ]


def test_many_failures_are_counted(sandbox: Sandbox) -> None:
    query = "Write half(n).\n" + "".join(f"assert half({2 * each}) == {each}\n" for each in range(1, 10))
    words = check(sandbox, "def half(n):\n    return 0", query).render()
    assert "4 more examples fail." in words
    assert "0 of 9 examples hold." in words


def test_every_class_of_the_paper_is_one(sandbox: Sandbox) -> None:
    assert {*CLASSES} == {"AssertionError", "NameError", "TypeError", "SyntaxError", "IndentationError"}
    (failure,) = check(sandbox, "def half(n):").failures
    assert failure.error_class == "IndentationError"


def test_the_intended_version_is_checked_without_driver_code(sandbox: Sandbox) -> None:
    draft = "```python\ndef half(n):\n    return n - 2\n```"
    found = check(sandbox, f"{draft}\nNo, rather:\n```python\n{RIGHT}\n\nprint(half(int(input())))\n```")
    assert (found.passed, found.code) == (True, RIGHT)
    assert "(line 4: print(half(int(input()))))" in found.note
    wrong = check(sandbox, f"<think>\n```python\n{RIGHT}\n```\n</think>\n{draft}")
    assert [each.seen for each in wrong.failures] == ["8"]
