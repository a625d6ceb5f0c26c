"""An inserted docstring is exactly the given text, and the rest of the function is unchanged."""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pkg.errors import InputError
from pkg.extract.docstrings import insert_docstring
from pkg.extract.parser import parse
from pkg.extract.python import extract_unit
from pkg.extract.syntax import parse_piece, silence_warnings

TEXT = "Add two numbers.\n\nReturns:\n    int: their sum"


def read_function(content: str, indent: str = "") -> ast.FunctionDef | ast.AsyncFunctionDef:
    tree = parse_piece(content.encode("utf-8", "surrogatepass"), indent.encode())
    assert tree is not None, content
    return next(each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))


def strip_first(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
    stripped = copy.copy(function)  # the parsed tree is cached, so it must not change
    stripped.body = function.body[1:]
    return stripped


def check(content: str, text: str = TEXT, indent: str = "") -> str:
    """Insert a docstring; check that it is the text, and that the rest is unchanged."""
    changed = insert_docstring(content, text, indent)
    before, after = read_function(content, indent), read_function(changed, indent)
    assert ast.get_docstring(after, clean=True) == inspect.cleandoc(text)
    assert ast.dump(strip_first(after)) == ast.dump(before)
    return changed


def test_it_is_below_the_header_with_the_indentation_of_the_body() -> None:
    assert check("def add(a, b):\n    return a + b") == (
        'def add(a, b):\n    """Add two numbers.\n\n    Returns:\n        int: their sum\n    """\n    return a + b'
    )


def test_a_text_of_one_line_stays_one_line() -> None:
    assert check("def add(a, b):\n    return a + b", "Add.") == 'def add(a, b):\n    """Add."""\n    return a + b'


@pytest.mark.parametrize(
    "content",
    [
        "def one(): return 1",
        "def two(): x = 1; return x  # both",
        "def three(): return '''\n  a\n'''",
        "def go_on(): \\\n  return 1",
        "async def wait(x) -> int:\n\tawait x\n\treturn 1",
        "def tight():\n return 1",
        "def method(self):\n        return 1",
        "@property\ndef plain(self):\n    return 1",
        "@cached\n# why\n@route('/', methods=[\n    'GET'])\n# below\ndef plain(self):\n    return 1",
        "def noted():  # a note\n    # another\n\n    # a third\n    return 1",
        "def low():\n# a note at the left\n    return 1",
        "def inner():\n    @decorated\n    def f(): return 1\n    return f",
        "def text():\n    f'{1}'\n    return 1",
        "def data():\n    b'data'\n    return 1",
        "def stub(): ...",
        "def wide(\n    a: int = (lambda: 1)(),\n    *b: dict[str, int],\n) -> 'x:y':\n    yield a",
        "def windows():\r\n    return 1\r\n",
        "def old(a):\n    # type: (int) -> int\n    return a",
        "def quoted():\n    return '''\"\"\"'''",
        "def accents():  # é\n    return 'é' + 'ü'",
        "def bytes_that_were_no_text():\n    return '\udc80\udcff'",
        "def holds_a_class():\n    class A:\n        '''Its own.'''\n    return A",
    ],
)
def test_any_kind_of_function_accepts_it(content: str) -> None:
    if "\ud800" <= max(content) <= "\udfff":
        assert insert_docstring(content, "Say.").replace('    """Say."""\n', "") == content
    else:
        check(content)


def test_the_header_below_a_decorator_shows_where_a_method_stood() -> None:
    content = "@property\n    def name(self): return 1"
    assert check(content, "Name.", "    ") == '@property\n    def name(self):\n        """Name."""\n        return 1'
    assert insert_docstring(content, "Name.") == insert_docstring(content, "Name.", "    ")


def test_the_white_space_before_the_first_line_counts_for_a_body_on_the_same_line() -> None:
    assert check("def name(self): return 1", "Name.", "\t") == 'def name(self):\n\t\t"""Name."""\n\t\treturn 1'


def test_a_comment_with_types_stays_in_the_line_below_the_header() -> None:
    assert check("def old(a):\n    # type: (int) -> int\n    return a", "Old.") == (
        'def old(a):\n    # type: (int) -> int\n    """Old."""\n    return a'
    )


def test_line_ends_are_those_of_the_file() -> None:
    assert "\n" not in insert_docstring("def f():\r\n    return 1\r\n", TEXT).replace("\r\n", "")


@pytest.mark.parametrize(
    "text",
    [
        'Says "yes"',
        '"',
        'Three: """ and """" more""',
        "A backslash \\ and \\n, \\N{x}, \\",
        "A zero \0, a bell \a, a carriage \r return, a form feed \f",
        "Half a letter \ud800",
        "{braces} and %s",
        "",
    ],
)
def test_quotes_backslashes_and_control_characters_are_read_back(text: str) -> None:
    check("def f():\n    return 1", text)


@given(st.text(st.one_of(st.sampled_from("\"\\'\n\r \t"), st.characters()), max_size=40))
@example("\x0b")
@example('x\n \\\n"')
def test_any_text_is_read_back(text: str) -> None:
    for content in ("def f(): return 1", "class_ = 1\n\tdef f(a):\n\t\treturn a".partition("\n\t")[2]):
        check(content, text)


def test_a_function_with_a_docstring_is_refused() -> None:
    with pytest.raises(InputError, match="this one has one: 'def f"):
        insert_docstring("def f():\n    r'''Say.'''\n    return 1", "Other.")


@pytest.mark.parametrize("content", ["", "x = 1", "def f(:\n    return", "class A:\n    def f(self):\n        pass"])
def test_other_code_than_a_function_is_refused(content: str) -> None:
    with pytest.raises(InputError, match="source of a function was expected"):
        insert_docstring(content, "Say.")


@pytest.mark.parametrize("name", ["argparse", "asyncio.tasks", "decimal", "dataclasses", "typing", "turtle", "inspect"])
def test_functions_of_the_standard_library_are_otherwise_unchanged(name: str) -> None:
    module = importlib.import_module("_pydecimal" if name == "decimal" else name)
    text = Path(str(module.__file__)).read_bytes()
    unit = extract_unit(text, parse(text))
    seen = 0
    for each in unit.definitions:
        if not hasattr(each, "is_async") or each.docstring is not None:
            continue
        line_start = text.rfind(b"\n", 0, each.span.start) + 1
        indent = text[line_start : each.span.start].decode()
        content = text[each.span.start : each.span.end].decode()
        with silence_warnings():
            check(content, 'Say """it\\.\n\n    More.', indent if not indent.strip() else "")
        seen += 1
    assert seen > 5
