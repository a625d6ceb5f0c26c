from __future__ import annotations

import math
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pkg.rerank.examples.literals import NotLiteral, find_closing, find_literal_end, parse_literal, write_value

SCALARS = some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False) | some.text() | some.binary()
KEYS = some.integers() | some.text()
VALUES = some.recursive(
    SCALARS,
    lambda inner: (
        some.lists(inner)
        | some.tuples(inner, inner)
        | some.dictionaries(KEYS, inner)
        | some.sets(KEYS)
        | some.frozensets(KEYS)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_what_is_written_is_read_again(value: object) -> None:
    assert parse_literal(write_value(value)) == value


@given(some.lists(KEYS, unique=True))
def test_a_set_is_written_the_same_whatever_the_order_it_was_filled_in(items: list[object]) -> None:
    backwards: set[object] = set()
    for item in reversed(items):
        backwards.add(item)
    assert write_value(set(items)) == write_value(backwards)


@given(some.text(max_size=30), VALUES.map(write_value).filter(lambda text: len(text) < 200))
def test_a_literal_ends_where_it_ends(before: str, literal: str) -> None:
    text = f"{before} {literal}\nmore"
    assert find_literal_end(text, len(before) + 1) in (len(before) + 1 + len(literal), -1)


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("null", None), ("set([1, 2])", {1, 2}), ("19 - 5 - 6", 8), ("2**10", 1024), ("-1", -1)],
)
def test_what_people_write_for_values_is_read(text: str, value: object) -> None:
    assert parse_literal(text) == value


def test_infinity_is_read() -> None:
    assert parse_literal("float('inf')") == math.inf


@pytest.mark.parametrize(
    "text", ["x", "f(2)", "[x]", "'a' * 9", "10**100000", "1/0", "{**{}}", "...", "set(1, 2)", "{[]}", "", "1 2", "a.b"]
)
def test_what_is_no_value_is_refused(text: str) -> None:
    with pytest.raises(NotLiteral):
        parse_literal(text)


def test_brackets_in_strings_close_nothing() -> None:
    text = "f(')', [1])"
    assert find_closing(text, 1) == len(text)
    assert find_closing("f([1)", 1) == -1


@pytest.mark.parametrize(
    "text", ["Decimal('1e99999')", "Fraction('1e9999999999')", "bytes(10**9)", "list(range(10**9))", "Decimal('x')"]
)
def test_a_constructor_that_would_take_long_or_fails_makes_no_value(text: str) -> None:
    with pytest.raises(NotLiteral):
        parse_literal(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Decimal('1.50')", Decimal("1.50")),
        ("datetime.date(2024, 2, 29)", date(2024, 2, 29)),
        ("Counter('aab')", {"a": 2, "b": 1}),
        ("np.array([1, 2])", [1, 2]),
        ("list(range(3))", [0, 1, 2]),
        ("frozenset({1})", frozenset({1})),
        ("-1 + 2j", -1 + 2j),
        ("math.inf", math.inf),
    ],
)
def test_the_value_of_a_constructor_is_made(text: str, value: object) -> None:
    assert parse_literal(text) == value
