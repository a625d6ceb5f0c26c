from __future__ import annotations

import pytest

from pkg.extract.syntax import MAX_CODE, cut_tail, find_syntax_error


@pytest.mark.parametrize(
    "code",
    [
        "def f(:",
        "return 1",
        "a\0b",
        "x = '\ud800'",
        "(" * 5000 + ")" * 5000,
        "-" * 100_000 + "1",
        "1+" * 50_000 + "1",
        "x" * (MAX_CODE + 1),
        "def f():\npass",
    ],
)
def test_what_python_does_not_take_is_refused_with_a_reason(code: str) -> None:
    fault = find_syntax_error(code)
    assert fault is not None
    assert fault[0]


def test_what_python_only_dislikes_is_taken() -> None:
    assert find_syntax_error("x = '\\d' is 'a'") is None


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("a = 1\nb = (", "a = 1"),
        ("a = 1\nif a:\n    b = 2\n    c = '''x\ny", "a = 1\nif a:\n    b = 2"),
        ("a = 1\nif a:\n", "a = 1"),
        ("(", ""),
        ("@a\n" * 5000, ""),
        ("a = 1", "a = 1"),
    ],
)
def test_the_longest_start_that_parses_is_kept(code: str, kept: str) -> None:
    assert cut_tail(code) == kept
