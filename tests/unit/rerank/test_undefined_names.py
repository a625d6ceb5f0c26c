from __future__ import annotations

import ast

import pytest

from pkg.rerank.undefined_names import find_undefined


def names(code: str) -> list[str]:
    return [name for name, _ in find_undefined(code, ast.parse(code))]


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("def f(x):\n    return helper(x)", ["helper"]),
        ("print(undefined)", ["undefined"]),
        ("class A:\n    size = 1\n    def f(self):\n        return size", ["size"]),
        ("def f(x: Missing):\n    pass", ["Missing"]),
        ("@missing\ndef f(): pass", ["missing"]),
        ("[y for x in []]", ["y"]),
        ("lambda: z", ["z"]),
        ("try:\n    pass\nexcept Missing:\n    pass", ["Missing"]),
        ("def f():\n    b\n    a", ["b", "a"]),
    ],
)
def test_a_name_that_nothing_binds_is_found(code: str, missing: list[str]) -> None:
    assert names(code) == missing


@pytest.mark.parametrize(
    "code",
    [
        "import os.path as p, sys\np, sys, len, __name__, __file__",
        "from math import *\nsqrt(2)",
        "def f():\n    global g\n    g = 1\ndef h():\n    return g",
        "try:\n    unicode\nexcept NameError:\n    unicode = str",
        "def f():\n    x: Missing = 1\n    return x",
        "from __future__ import annotations\ndef f(x: Missing) -> Missing: pass",
        "def f():\n    def g():\n        return y\n    y = 1\n    return g",
        "class A:\n    def f(self):\n        return __class__",
        "exec('x = 1')\nprint(x)",
        "globals()['x'] = 1\nprint(x)",
        "for i in []: pass\nprint(i)",
        "with open('f') as g: g",
        "if (n := 3): n",
        "def f(*args, **more): return args, more",
        "def f(): return later()\ndef later(): pass",
        "import a\ndel a",
        "match 1:\n    case [x, *y]: x, y",
    ],
)
def test_a_name_that_may_be_bound_is_not_reported(code: str) -> None:
    assert names(code) == []


def test_the_line_of_the_first_use_is_reported() -> None:
    code = "x = 1\n\ndef f():\n    return y\n\ny2 = lambda: y\n"
    assert find_undefined(code, ast.parse(code)) == [("y", 4)]
