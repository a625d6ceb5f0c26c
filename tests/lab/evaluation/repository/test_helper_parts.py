from __future__ import annotations

import pytest

from pkg.generation.prompt_templates.prompt_template import HelperText
from pkg.lab.evaluation.code.evaluation_conditions import Part
from pkg.lab.evaluation.repository.helper_parts import show_part

CODE = '''import math

@cache
def area(
    radius,
):
    """Return the area.

    >>> area(2)
    12.56
    """
    # of a circle
    return math.pi * radius**2
'''
HEADER = "@cache\ndef area(\n    radius,\n):\n    "
DOCSTRING = '"""Return the area.\n\n    >>> area(2)\n    12.56\n    """'
BODY = "# of a circle\n    return math.pi * radius**2"
BARE = "def f(a): return a"


def show(code: str, part: Part, usage: str = "") -> str:
    shown = show_part(HelperText("a.py:1-2 f", code), part, usage)
    assert shown is not None
    assert shown.place == "a.py:1-2 f"
    return shown.code


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("signature", f"{HEADER}..."),
        ("docstring", f"{HEADER}{DOCSTRING}"),
        ("usage", f"{HEADER}...\n\narea(2)"),
        ("body", f"import math\n\n{HEADER}{BODY}"),
    ],
)
def test_a_part_shows_the_header_and_nothing_else_of_the_rest(part: Part, expected: str) -> None:
    assert show(CODE, part) == expected


def test_a_line_of_a_caller_comes_before_an_example() -> None:
    assert show(CODE, "usage", "total += area(r)") == f"{HEADER}...\n\ntotal += area(r)"
    assert show(BARE, "usage", "f(1)") == "def f(a):\n    ...\n\nf(1)"


@pytest.mark.parametrize("part", ["signature", "docstring", "usage"])
def test_without_docstring_and_usage_only_the_header_remains(part: Part) -> None:
    assert show(BARE, part) == "def f(a):\n    ..."
    assert show("def f(a):\n    # says much\n    return a\n", part) == "def f(a):\n    ..."


def test_a_body_keeps_its_comments_and_its_line() -> None:
    assert show(BARE, "body") == BARE
    assert show("def f(a):\n    # says much\n    return a\n", "body") == "def f(a):\n    # says much\n    return a"
    assert show('def f(a): "Return a."; return a', "body") == "def f(a): return a"
    assert show('def f(a):\n    """Do nothing."""\n', "body") == "def f(a):\n    ..."


@pytest.mark.parametrize("code", ["RATE = 1", "def f(:"])
def test_code_without_a_function_has_no_parts(code: str) -> None:
    assert show_part(HelperText("a.py:1-1 RATE", code), "body") is None
