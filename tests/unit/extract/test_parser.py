from __future__ import annotations

import pytest

from pkg.extract.parser import parse
from pkg.extract.python import extract_unit

DOUBLE = b"def double(x):\n    return 2 * x"


@pytest.mark.parametrize("line", [b"\\\n", b"  \\\r\n", b"# don't\n", b"#a\n  #b\n", b"    # a\r\n", b"# a\n\n"])
def test_a_hundred_thousand_lines_of_nothing_end_soon(line: bytes) -> None:
    text = DOUBLE + b"\n" + line * 100_000 + DOUBLE
    first, second = extract_unit(text).definitions
    assert text[first.span.start : first.span.end] == text[second.span.start : second.span.end] == DOUBLE
    assert second.span.start_line == text.count(b"\n")


@pytest.mark.parametrize("end", [b'# """\n', b'# a \\\n# """\n', b'#"""  # b\n'])
def test_a_string_of_lines_that_look_like_comments_keeps_its_end(end: bytes) -> None:
    text = b'NOTES = """\n' + b"# a line\n" * 1_000 + end + DOUBLE
    unit = extract_unit(text)
    assert ([each.name for each in unit.definitions], unit.reason) == (["double"], None)


def test_a_few_backslashes_go_on_with_the_line() -> None:
    assert not parse(b"x = 1 + \\\n" + b"\\\n" * 50 + b"2\n" + b"y = x + \\\n1\n" * 500).root_node.has_error
