from __future__ import annotations

import ast

import pytest

from pkg.generation.aligned_code import align_code


@pytest.mark.parametrize(
    ("code", "aligned"),
    [
        ("x = 1\n    y = 2", "x = 1\ny = 2"),
        ("return 1", "return 1"),
        ("if a:\n        b\n    else:\n        c", "if a:\n    b\nelse:\n    c"),
        ("@cached\n    def f(self):\n        return 1", "@cached\ndef f(self):\n    return 1"),
        ("def f(self):\n        return 1", "def f(self):\n    return 1"),
        ("def f(self):\n\t\treturn 1", "def f(self):\n\treturn 1"),
        ("def f():\n    return 1", "def f():\n    return 1"),
        ("def f():\n  return 1", "def f():\n  return 1"),
        ("x = '''\nfree\n'''\n    y = 2", "x = '''\nfree\n'''\n    y = 2"),
    ],
)
def test_code_is_aligned_with_its_first_line(code: str, aligned: str) -> None:
    assert align_code(code) == aligned


def test_aligned_code_of_a_method_parses() -> None:
    code = "def f(self):\n            if a:\n                return 1\n            return 2"

    ast.parse(align_code(code))
