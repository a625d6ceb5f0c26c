from __future__ import annotations

import pytest

from pkg.extract.parser import is_python_like
from pkg.extract.syntax import find_indent, is_noop, is_python


@pytest.mark.parametrize(
    ("text", "indent"),
    [
        (b"x = 1\ny = 2\n", b""),
        (b"def f(self):\n        return 1\n", b"    "),
        (b"@cached\n    def f(self):\n        return 1\n", b"    "),
        (b"if a:\n\t\tb\n\telse:\n\t\tc", b"\t"),
        (b"return await x", b"    "),
        ("é = 'ü'".encode(), b""),
        (b"# -*- coding: no-such-codec -*-\nx = 1\n", b""),
    ],
)
def test_a_piece_of_a_file_is_python_at_its_own_indentation(text: bytes, indent: bytes) -> None:
    assert is_python(text, indent)


@pytest.mark.parametrize(
    "text", [b"def f():\n", b"x = (", b'print "old"', b"x = '\0'", b"(" * 5000 + b")" * 5000, b"-" * 50_000 + b"1"]
)
def test_invalid_code_is_not_python_and_does_not_crash(text: bytes) -> None:
    assert not is_python(text)


def test_python_2_is_like_python() -> None:
    assert is_python_like(b'print "old"\n')
    assert is_python_like(b'if a:\n        print "old"\n    else:\n        print "older"', b"    ")
    assert not is_python_like(b"def (:\n")


@pytest.mark.parametrize(
    ("content", "column", "indent"),
    [
        (b"def f():\n    pass", 0, b""),
        (b"def f(self):\n        pass", 4, b"    "),
        (b"def f(self):\n\t\tpass", 1, b"\t"),
        (b'"""doc\nunindented\n"""\n    x = 1', 4, b"    "),
        (b"return 1", 8, b" " * 8),
    ],
)
def test_the_indentation_is_found_from_the_lines_below(content: bytes, column: int, indent: bytes) -> None:
    assert find_indent(content, column) == indent


@pytest.mark.parametrize(
    "text", [b'def f(x):\n    """Sort x."""\n    pass\n', b"for i in x:\n    if i:\n        pass\n", b"pass"]
)
def test_headers_docstrings_and_pass_alone_are_hollow(text: bytes) -> None:
    assert is_noop(text)


@pytest.mark.parametrize("text", [b"def f(x):\n    return x\n", b"with a:\n    x = 1\n", b"if a:\n", b"f()"])
def test_a_statement_or_a_text_that_does_not_parse_is_not_hollow(text: bytes) -> None:
    assert not is_noop(text)
