from __future__ import annotations

import json
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pkg.rerank.candidates import Check, Example
from pkg.rerank.example_rating import NEAR, PRINTED, WEAK, passes, rate_step
from pkg.rerank.value_equality import STRICT, equal_values, make_canonical
from pkg.sandbox.protocol import Kind, Verdict
from pkg.sandbox.values import render_value

KEYS = some.integers() | some.text() | some.booleans()
VALUES = some.recursive(
    KEYS | some.floats(allow_nan=False, allow_infinity=False) | some.none(),
    lambda inner: some.lists(inner) | some.tuples(inner) | some.dictionaries(KEYS, inner) | some.sets(KEYS),
    max_leaves=10,
)


def equal(one: object, other: object) -> bool:
    return equal_values(render_value(one), render_value(other))


@given(VALUES)
def test_a_value_equals_itself(value: object) -> None:
    assert equal(value, value)


@given(VALUES, VALUES)
def test_equality_has_no_direction(one: object, other: object) -> None:
    assert equal(one, other) == equal(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Decimal("1.50"), Decimal("1.5")),
        (Decimal("2"), 2),
        (Fraction(2, 4), 0.5),
        (datetime(2024, 1, 1, 1, tzinfo=timezone.utc), datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=1)))),
        (1j * 1j, -1),
        ([2 + 0j, -2], [2, -2.0]),
        (0.1 + 0.2, 0.3),
        (1, 1.0),
        (1e20, 1e20 * (1 + 1e-9)),
        ((1, 2), [1, 2]),
        ([(1, 2)], [[1, 2]]),
        (range(3), [0, 1, 2]),
        ({0.1 + 0.2, 1.0}, {1.0, 0.3}),
        ({"a": 0.1 + 0.2}, {"a": 0.3}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (float("nan"), float("nan")),
        (float("inf"), float("inf")),
        (True, 1),
    ],
)
def test_what_people_take_for_equal_is_equal(one: object, other: object) -> None:
    assert equal(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Decimal("1.1"), 1.1),
        (Decimal("1.1"), Decimal("1.2")),
        (Fraction(1, 3), 1 / 3),
        (date(2024, 2, 29), date(2024, 3, 1)),
        (date(2024, 2, 29), "2024-02-29"),
        (1j, 1),
        (1, 2),
        (1.0, 1.001),
        (10**400, 1.5),
        ("1", 1),
        ([1, 2], [2, 1]),
        ([1], [1, 1]),
        ({1}, [1]),
        ({1, 2}, {1, 3}),
        ({"a": 1}, {"a": 2}),
        (None, False),
        (b"a", "a"),
        ({"tuple": 1}, {"set": 1}),
    ],
)
def test_different_values_are_not_equal(one: object, other: object) -> None:
    assert not equal(one, other)


@pytest.mark.parametrize("forged", ["", "{", "[" * 5000, "null null", '{"set": 3}', '{"dict": [1]}'])
def test_a_text_that_is_no_value_equals_nothing_else(forged: str) -> None:
    assert not equal_values(forged, render_value([1, {2}]))


def test_a_list_for_a_tuple_holds_and_counts_less() -> None:
    example = Example("f(1)", Check.VALUE, (1, 2))
    rates = [rate_step(example, Verdict(Kind.OK, value=render_value(value))).rate for value in ((1, 2), [1, 2], [2, 1])]
    assert rates == [1.0, NEAR, 0.0]
    assert not equal_values(render_value([(1,)]), render_value([[1]]), STRICT)
    assert equal_values(render_value([(0.1 + 0.2,)]), render_value([(0.3,)]), STRICT)


def test_what_the_candidate_judges_itself_counts_less() -> None:
    assert rate_step(Example("assert f(1)", Check.ASSERTION), Verdict(Kind.OK)).rate == WEAK


def test_an_example_holds_by_its_own_tolerance() -> None:
    verdict = Verdict(Kind.OK, value=render_value(0.52))
    assert passes(Example("f(1)", Check.VALUE, 0.5, tolerance=0.1), verdict)
    assert not passes(Example("f(1)", Check.VALUE, 0.5), verdict)


def test_output_is_compared_without_its_layout() -> None:
    example = Example("print(f(1))", Check.OUTPUT, "1  2\n3")
    assert passes(example, Verdict(Kind.OK, output="1 2\n3\n"))
    assert not passes(example, Verdict(Kind.OK, output="123"))


def test_an_expected_exception_holds_by_its_name() -> None:
    example = Example("f(1)", Check.RAISES, "ValueError")
    assert passes(example, Verdict(Kind.OTHER, "ValueError: no"))
    assert passes(example, Verdict(Kind.OTHER, "ValueError (line 3)"))
    assert not passes(example, Verdict(Kind.TYPE, "TypeError: no"))
    assert not passes(example, Verdict(Kind.OK, value="1"))


def turn(width: int, step: int) -> str:
    """Write a set of sets that share all but one item, forwards or backwards: each finds its partner last."""
    rows = [{"set": [*map(float, range(width)), 1000.0 + row][::step]} for row in range(width)]
    return json.dumps({"set": rows[::step]})


def nest(depth: int, width: int, shift: float) -> str:
    """Render sets in sets, the innermost of floats that differ a little from one shift to the other."""
    value: object = frozenset(index + shift for index in range(width))
    for level in range(depth):
        value = frozenset({value, level + shift})
    return render_value(value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (turn(45, 1), turn(45, -1)),
        (nest(55, 1500, 1e-9), nest(55, 1500, 0.0)),
        (nest(0, 2500, 1e-9), nest(0, 2500, 0.0)),
        *(
            (render_value(make(1e-9)), render_value(make(0.0)))
            for make in (
                lambda shift: {frozenset({index + shift, index + 0.5 + shift}) for index in range(400)},
                lambda shift: {index * (2**61 - 1): index + shift for index in range(1500)},
                lambda shift: {("x" * 400 + str(index), index + shift) for index in range(100)},
                lambda shift: {frozenset({(side, index, depth + shift) for depth in range(9)})
                               for index in range(40) for side in "ab"},
            )
        ),
    ],
)  # fmt: skip
def test_large_nested_sets_are_compared_in_no_time(one: str, other: str) -> None:
    assert one != other
    assert equal_values(one, other)
    assert equal_values(other, one, STRICT)


def test_nested_sets_that_differ_in_one_number_are_compared_fast() -> None:
    rows = [frozenset({(index, frozenset({index + 0.25, inner})) for inner in range(20)}) for index in range(40)]
    assert not equal({*rows}, {*rows[:-1], frozenset({(39, frozenset({39.25, 99}))})})


def test_close_numbers_do_not_hide_later_differences() -> None:
    assert equal({(0.1 + 0.2, 1), (0.3, 2)}, {(0.3, 1), (0.1 + 0.2, 2)})
    assert not equal({(0.1 + 0.2, 1), (0.3, 2)}, {(0.3, 1), (0.1 + 0.2, 3)})
    assert equal({(1234567, 5), (1234568, 1)}, {(1234567.0, 5), (1234568.0, 1)})
    assert equal({0.3, 0.1 + 0.2}, {0.3, 0.3 + 1e-12})
    assert equal({10**400, 1.5}, {1.5, 10**400})


@pytest.mark.parametrize(
    ("value", "output", "rate"),
    [("null", "3\n", 1.0), ("3", "", NEAR), ("4", "", 0.0), ("null", "4\n", 0.0), ('"3"', "", PRINTED)],
)
def test_what_a_session_shows_is_printed_or_else_a_value(value: str, output: str, rate: float) -> None:
    example = Example("f()", Check.OUTPUT, "3", "transcript")
    assert rate_step(example, Verdict(Kind.OK, value=value, output=output)).rate == rate


@pytest.mark.parametrize(
    ("output", "rate"), [("5\n", 1.0), (" 5", 1.0), ("5.0\n", NEAR), ("n? 5", PRINTED), ("15", 0.0), ("5 6", 0.0)]
)
def test_the_output_of_a_program_is_compared_word_by_word(output: str, rate: float) -> None:
    example = Example("2 3\n", Check.PROGRAM, "5")
    assert rate_step(example, Verdict(Kind.OK, value="null", output=output)).rate == rate


@pytest.mark.parametrize(
    ("expected", "match", "holds"),
    [
        ("KeyError", "", True),
        ("LookupError", "", True),
        ("TypeError or KeyError", "", True),
        ("ValueError", "", False),
        ("KeyError", "is .* there", True),
        ("KeyError", "elsewhere", False),
        ("KeyError", "(a+)+$", True),
    ],
)
def test_an_exception_is_one_of_the_wanted_classes_with_the_wanted_message(
    expected: str, match: str, holds: bool
) -> None:
    verdict = Verdict(Kind.OTHER, "KeyError: 'x is not there' (line 2)", bases=("LookupError", "Exception"))
    assert passes(Example("f()", Check.RAISES, expected, match=match), verdict) is holds


@pytest.mark.parametrize(
    "text",
    [
        '{"made":["datetime","0001-01-01 00:00:00+23:00"]}',
        '{"made":["datetime","9999-12-31 23:00:00-23:00"]}',
        f'{{"made":["Decimal","{"9" * 200}.5{"0" * 198}1E+150"]}}',
    ],
)
def test_values_at_the_end_of_their_range_have_a_form(text: str) -> None:
    assert make_canonical(text).numbers == ()
