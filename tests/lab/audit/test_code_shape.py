from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from pkg.lab.audit.code_shape import CodeShape, find_shape


def shape(text: str) -> CodeShape:
    (function,) = ast.parse(dedent(text)).body
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    found = find_shape(function)
    assert found is not None
    return found


GCD = """
    def gcd(a, b):
        while b:
            a, b = b, a % b
        return a
"""


@pytest.mark.parametrize(
    "text",
    [
        """
        def divisor(first: int, second: int = 0) -> int:
            '''Find it.'''
            while second:
                first, second = second, first % second
            return first
        """.replace(" = 0", ""),
        """
        @lru_cache
        def gcd(self, x, y):
            while y:
                x, y = y, x % y
            return x
        """,
    ],
)
def test_local_names_docstrings_annotations_and_decorators_do_not_change_the_shape(text: str) -> None:
    assert shape(text).key == shape(GCD).key
    assert shape(text).shingles == shape(GCD).shingles
    assert shape(text).arguments == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a, b): return a - b", "def f(a, b): return b - a"),
        ("def f(a): return len(a)", "def f(a): return sum(a)"),
        ("def f(a): return a[1:]", "def f(a): return a[:1]"),
        ("def f(a): return a.x", "def f(a): return a.y"),
        ("def f(a): return 1", "def f(a): return 1.0"),
        ("def f(a): return '1'", "def f(a): return 1"),
        ("def f(a, b=1): return a", "def f(a, b=2): return a"),
        ("def f(a): return f(a - 1)", "def f(a): return g(a - 1)"),
        ("def f(a):\n if a: b()\n else: c()", "def f(a):\n if a: c()\n else: b()"),
        ("def f(a):\n for i in a: g()\n h()", "def f(a):\n for i in a:\n  g()\n  h()"),
    ],
)
def test_different_code_has_a_different_shape(one: str, other: str) -> None:
    assert shape(one).key != shape(other).key


def test_an_annotated_assignment_is_an_assignment() -> None:
    one, other = shape("def f(a):\n b: int = a\n return b"), shape("def g(x):\n y = x\n return y")
    assert one.key == other.key


def test_one_changed_line_leaves_most_shingles() -> None:
    before = shape(GCD)
    after = shape(GCD.replace("return a", "return abs(a)"))
    assert before.key != after.key
    assert 0.5 < len(before.shingles & after.shingles) / len(before.shingles | after.shingles) < 1


def test_too_deeply_nested_code_has_no_shape() -> None:
    deep: ast.expr = ast.Name("a", ast.Load())
    for _ in range(5000):
        deep = ast.UnaryOp(ast.Not(), deep)
    (function,) = ast.parse("def f(a): return a").body
    assert isinstance(function, ast.FunctionDef)
    function.body = [ast.Return(deep)]
    assert find_shape(function) is None
