"""Equal values have equal text in any order of their items."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from datetime import timezone
from decimal import Decimal
from enum import IntEnum
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.sandbox import render_value
from pkg.sandbox.claims import parse_value

SIMPLE = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(max_size=20)
HASHABLE = SIMPLE | st.tuples(st.integers(), st.text())
VALUES = st.recursive(
    SIMPLE | st.sets(HASHABLE),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(HASHABLE, inner),
    max_leaves=20,
)


class Colour(IntEnum):
    RED = 1


Point = namedtuple("Point", "x y")


@given(VALUES)
def test_every_text_is_json_of_ascii(value: object) -> None:
    text = render_value(value, most=1 << 20)
    assert text.isascii()
    json.loads(text)


@given(st.dictionaries(HASHABLE, st.integers()))
def test_the_order_of_a_dict_does_not_matter(value: dict[Any, int]) -> None:
    assert render_value(dict(reversed(value.items()))) == render_value(value)


@given(st.lists(HASHABLE, unique=True))
def test_the_order_of_a_set_does_not_matter(items: list[Any]) -> None:
    assert render_value(set(items)) == render_value(frozenset(reversed(items)))


@given(st.lists(st.integers() | st.text() | st.lists(st.integers())), st.lists(st.integers() | st.text()))
def test_lists_of_different_values_give_different_text(one: list[Any], other: list[Any]) -> None:
    assert (render_value(one) == render_value(other)) == (one == other)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1, "1"),
        (1.0, "1.0"),
        (float("inf"), "Infinity"),
        ("ü\ud800", '"\\u00fc\\ud800"'),
        ([1, [2]], "[1,[2]]"),
        ((1, 2), '{"tuple":[1,2]}'),
        ({2, 1}, '{"set":[1,2]}'),
        ({"b": 1, "a": 2}, '{"dict":[["a",2],["b",1]]}'),
        (b"\xff", '{"bytes":"\\u00ff"}'),
        (1j, '{"complex":[0.0,1.0]}'),
        (range(3), '{"iterator":[0,1,2]}'),
        ((n * n for n in range(3)), '{"iterator":[0,1,4]}'),
        (Counter("aab"), '{"dict":[["a",2],["b",1]]}'),
        (OrderedDict(b=1, a=2), '{"dict":[["a",2],["b",1]]}'),
        (defaultdict(int, a=1), '{"dict":[["a",1]]}'),
        (Point(1, 2), '{"tuple":[1,2]}'),
        (Colour.RED, "1"),
        ({"a": 1}.keys(), '{"set":["a"]}'),
    ],
)
def test_a_value_has_one_text(value: object, text: str) -> None:
    assert render_value(value) == text


def test_a_number_of_more_digits_than_json_readers_take_is_a_text() -> None:
    assert json.loads(render_value(1 << 20_000)) == {"int": hex(1 << 20_000)}


def test_arrays_are_rendered_as_their_numbers() -> None:
    assert render_value([numpy.int64(3), numpy.float64(0.5), numpy.array([[1, 2]])]) == "[3,0.5,[[1,2]]]"


def test_other_objects_are_rendered_by_what_they_say_without_addresses() -> None:
    assert render_value(object()) == '{"repr":["object","<object object at 0x>"]}'


def test_a_value_that_contains_itself_has_a_text() -> None:
    value: list[Any] = []
    value.append(value)
    assert "deep" in render_value(value)


def test_an_endless_iterator_is_cut() -> None:
    assert len(json.loads(render_value(iter(int, 1)))["iterator"]) == 1000


def test_texts_too_long_to_send_can_still_be_compared() -> None:
    one, same, other = (render_value(list(range(n, n + 5000)), most=2000) for n in (0, 0, 1))
    assert len(one) <= 2000
    assert one == same != other


CONSTRUCTED_TYPES = (
    st.decimals()
    | st.fractions()
    | st.dates()
    | st.datetimes(timezones=st.none() | st.just(timezone.utc))
    | st.times()
    | st.timedeltas()
)


@given(CONSTRUCTED_TYPES)
def test_values_of_the_standard_library_are_values_that_can_be_read(value: object) -> None:
    assert parse_value(render_value(value)) is not None


def test_a_value_that_its_text_does_not_tell_is_rendered_as_what_it_says_of_itself() -> None:
    assert "repr" in render_value(Decimal("1E+5000"))
    assert "repr" in render_value(type("Decimal", (Decimal,), {})("1"))


def test_a_deque_is_the_list_of_its_items() -> None:
    assert render_value(deque([1, 2])) == render_value([1, 2])
