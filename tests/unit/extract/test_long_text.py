"""Definitions and imports of a text over the token budget, found in one pass without a syntax tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.extract import long_text
from pkg.extract.long_text import extract_long_text, is_over_budget
from pkg.extract.python import extract_unit
from pkg.model import Class, Function, Status

PACKAGE = Path(__file__).parents[3] / "pkg"
SOURCES = [*sorted((PACKAGE / "extract").glob("*.py")), PACKAGE / "model.py", PACKAGE / "units.py"]
ODD = b'''"""def no(): of a docstring"""
import os, sys as system; x = 1
from . import (
    one,  # a comment with ( and "
    two as second,
)
TEXT = \'\'\'
def not_one(): pass
\'\'\'
if TEXT:
    try:
        import json
    except ImportError:
        json = None
else:
    def only_else(a={"k": "def f(:"}, *, b=lambda: (1, 2)) -> "x:y":
        return a \\
            + 1


@decorate(
    "argument",
)
@other
class Base[T: int](One, Two[int, str], metaclass=Meta("a,b")):
    r"""Say
    it."""

    field = 1

    @property
    async def method(self): return self.field

    def tabbed(self):
    \tdef inner():
    \t\tpass

    class Inner: pass


def last(): "A docstring."
async   def   spaced ( ) :
    yield {
def_ = 1
    }
'''


def drop_ends(definition: Class | Function) -> Class | Function:
    """Drop the end of the span: a tree includes a comment after the last statement."""
    return definition._replace(span=definition.span._replace(end=0))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_definitions_and_imports_are_those_of_the_whole_extraction(path: Path) -> None:
    text = path.read_bytes()
    whole, kept = extract_unit(text), extract_long_text(text)
    assert list(map(drop_ends, kept.definitions)) == list(map(drop_ends, whole.definitions))
    assert sorted(kept.imports) == sorted(whole.imports)


def test_odd_layouts_are_read() -> None:
    kept = extract_long_text(ODD)
    assert [(each.qualname, each.span.start_line, each.span.end_line) for each in kept.definitions] == [
        ("only_else", 16, 18),
        ("Base", 21, 38),
        ("Base.method", 31, 32),
        ("Base.tabbed", 34, 36),
        ("Base.tabbed.inner", 35, 36),
        ("Base.Inner", 38, 38),
        ("last", 41, 41),
        ("spaced", 42, 45),
    ]
    base = kept.definitions[1]
    assert isinstance(base, Class)
    assert base.bases == ("One", "Two[int, str]", 'metaclass=Meta("a,b")')
    assert [re.sub(r"\s", "", each) for each in base.decorators] == ['decorate("argument",)', "other"]
    assert [each.bound_name for each in kept.imports] == ["os", "system", "one", "second", "json"]


@given(st.text(alphabet="adefclsimport \n\t:()[]{}\"'\\#@=,.0é") | st.binary().map(lambda data: data.decode("latin-1")))
def test_any_text_is_read_and_what_is_found_lies_in_it(text: str) -> None:
    data = text.encode()
    for each in extract_long_text(data).definitions:
        assert 0 <= each.span.start < each.span.end <= len(data)
        assert 1 <= each.span.start_line <= each.span.end_line <= data.count(b"\n") + 1


SHAPES = {
    "assignments": ("", "x = 1\n", ""),
    "functions": ("", "def f(a):\n    return a\n\n\n", ""),
    "methods": ("class A:\n", "    def f(self):\n        return 1\n", ""),
    "a list on one line": ("x = [", "1, ", "]\n"),
    "a dict": ("x = {\n", "    'a': 1,\n", "}\n"),
    "imports": ("", "import a.b as c\n", ""),
    "calls in a function": ("def f():\n", "    g(h(1))\n", ""),
    "brackets": ("x = ", "(", "\n"),
    "branches": ("if x:\n    pass\n", "elif y:\n    z = 1\n", ""),
    "decorators": ("", "@d\n", "def f():\n    pass\n"),
    "a long string": ('x = """', "words with \\\\ and '\n", '"""\n'),
    "a string that is not closed": ("x = '''", "a\\\n", ""),
    "a chain": ("x = a", ".b(c)", "\n"),
    "backslashes": ("x = 1", " + \\\n 1", "\n"),
    "defaults": ("def f(", "a=(1, 2), ", "): pass\n"),
    "bases": ("class A(", "B, ", "C): pass\n"),
    "nested definitions": ("", "def f(): pass\nclass A: pass\n", ""),
}


class CountingPattern:
    """A pattern that counts its searches and matches, and the bytes that they pass."""

    def __init__(self, pattern: re.Pattern[bytes]) -> None:
        self._pattern, self.steps = pattern, 0

    def search(self, text: bytes, start: int = 0, end: int = 1 << 62) -> re.Match[bytes] | None:
        return self._count(self._pattern.search(text, start, end), start, min(len(text), end))

    def match(self, text: bytes, start: int = 0, end: int = 1 << 62) -> re.Match[bytes] | None:
        return self._count(self._pattern.match(text, start, end), start, start)

    def findall(self, text: bytes) -> list[bytes]:
        self.steps += 1 + len(text)
        return self._pattern.findall(text)

    def _count(self, found: re.Match[bytes] | None, start: int, end: int) -> re.Match[bytes] | None:
        self.steps += 1 + (found.end() if found else end) - start
        return found


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_text_and_no_faster(monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    before, repeated, after = SHAPES[shape]
    patterns = {
        name: CountingPattern(value) for name, value in vars(long_text).items() if isinstance(value, re.Pattern)
    }
    for name, pattern in patterns.items():
        monkeypatch.setattr(long_text, name, pattern)
    steps = [0]
    for times in (500, 1000):
        extract_long_text((before + repeated * times + after).encode())
        steps.append(sum(each.steps for each in patterns.values()))
    small, large = steps[1], steps[2] - steps[1]
    assert 0 < small <= large <= 2 * small + 100


def test_only_a_text_over_the_budget_is_cut_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_text, "TOKEN_BUDGET", 40)
    text = b"def f():\n    x = 1\n    return g(x)\n"
    assert not is_over_budget(text)
    assert not is_over_budget(b"# a comment of many words\n" * 20 + b"x = '''" + b"many words\n" * 20 + b"'''\n")
    assert extract_unit(text).status is Status.OK
    long = extract_unit(text * 4)
    assert (long.status, len(long.definitions), long.blocks, long.calls, long.constants) == (
        Status.PARTIAL, 4, (), (), (),
    )  # fmt: skip
    assert long.reason == "over 40 tokens: only its classes, functions and imports are kept"
