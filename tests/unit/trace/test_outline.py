"""Lines are brought to their statements and functions as Python runs them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pkg.trace.subject import outline_text

TEXT = b"""\
import os
value = call(
    one(),
    two(),
)
if (value
        and other):
    done()
else:
    undone()
try:
    work()
except Fault:
    mend()

@first
@second(
    1)
def outer(x=lambda: 1,
          y=2):
    z = [each for each in
         x]
    async def inner():
        return 1
    def give():
        yield 1
    return inner

class Case:
    match = 1
    def method(self):
        return [give() for give in self]
"""


def statements(*lines: int) -> list[int]:
    outline = outline_text(TEXT)
    return [outline.statement(line) for line in lines]


def owners(*lines: int) -> list[tuple[int, str] | None]:
    outline = outline_text(TEXT)
    return [outline.owner(line) for line in lines]


def test_each_line_of_a_simple_statement_belongs_to_its_first() -> None:
    assert statements(1, 2, 3, 4, 5, 21, 22) == [1, 2, 2, 2, 2, 21, 21]


def test_the_head_of_a_compound_statement_is_apart_from_its_body() -> None:
    assert statements(6, 7, 8, 10, 11, 12, 14) == [6, 6, 8, 10, 11, 12, 14]


def test_decorators_and_defaults_belong_to_the_first_decorator_and_to_what_is_around() -> None:
    assert statements(16, 17, 18, 19, 20) == [16] * 5
    assert owners(16, 18, 20) == [None] * 3


def test_the_body_of_a_function_belongs_to_it() -> None:
    assert owners(21, 22, 23, 24, 27) == [(16, "outer"), (16, "outer"), (16, "outer"), (23, "inner"), (16, "outer")]


def test_the_body_of_a_class_belongs_to_what_is_around() -> None:
    assert owners(30, 31, 32) == [None, None, (31, "method")]


def test_generators_coroutines_and_decorated_definitions_are_known() -> None:
    outline = outline_text(TEXT)
    assert outline.suspending == {(23, "inner"), (25, "give")}
    assert outline.decorated == {16}


@given(st.binary(max_size=80) | st.text(max_size=80).map(lambda text: text.encode("utf-8", "replace")))
def test_whatever_the_text_a_line_has_a_statement_no_later_than_itself(text: bytes) -> None:
    outline = outline_text(text)
    assert all(0 <= outline.statement(line) <= line for line in range(text.count(b"\n") + 3))


def test_a_text_that_does_not_parse_lets_each_line_stand_for_itself() -> None:
    outline = outline_text(b"def broken(:\n    call()\n")
    assert (outline.statement(2), outline.owner(2)) == (2, None)
