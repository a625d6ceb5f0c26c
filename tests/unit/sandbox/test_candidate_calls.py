"""Many calls in one process of a candidate have answers in their order, whatever each does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.sandbox import Limits, Program, Sandbox, Step, open_sandbox, render_value
from pkg.sandbox.values import LongValue, ReprValue, restore_value

LIMITS = Limits(cpu_seconds=1.0, wall_seconds=10.0)
NUMBERS = st.integers() | st.floats(allow_nan=False) | st.complex_numbers(allow_nan=False)
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)  # fmt: skip


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox(jobs=1) as opened:
        yield opened


def ask(sandbox: Sandbox, code: str, *calls: Any, setup: str = "", limits: Limits = LIMITS) -> Any:
    (end,) = sandbox.run(Program(code, (Step(setup, is_expression=True, calls=json.dumps(calls)),)), limits).steps
    return json.loads(end.value or "null")


def call(name: str, *arguments: Any) -> list[Any]:
    return [name, json.loads(render_value(arguments)), {"dict": []}]


@given(PLAIN)
def test_what_is_restored_is_of_the_kind_and_worth_of_what_was_rendered(value: Any) -> None:
    restored = restore_value(json.loads(render_value(value, 1 << 30, keeps_order=True)))
    assert (restored, type(restored), repr(restored)) == (value, type(value), repr(value))


def test_what_is_restored_is_of_a_built_in_kind_whatever_it_was() -> None:
    class Sly(int):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = int.__hash__

    shown = restore_value(json.loads(render_value([Sly(3), {2, 1}, iter("ab"), 1 << 20_000, object])))
    assert (type(shown[0]), shown[0] == 4, shown[1], list(shown[2]), shown[3]) == (
        int,
        False,
        {1, 2},
        ["a", "b"],
        1 << 20_000,
    )
    assert isinstance(shown[4], ReprValue)
    assert shown[4] == ReprValue("type", "<class 'object'>")
    assert shown[4] != "<class 'object'>"


CONSTRUCTED_TYPES = (
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9)
    | st.fractions()
    | st.dates()
    | st.datetimes()
    | st.times()
    | st.timedeltas()
    | st.builds(PurePosixPath, st.text("abc/", min_size=1))
)


@given(
    CONSTRUCTED_TYPES
    | st.frozensets(CONSTRUCTED_TYPES | st.frozensets(CONSTRUCTED_TYPES)).map(set)
    | st.dictionaries(st.frozensets(CONSTRUCTED_TYPES), CONSTRUCTED_TYPES)
)
def test_values_of_the_standard_library_come_back_as_what_they_were(value: Any) -> None:
    restored = restore_value(json.loads(render_value(value, 1 << 30)))
    assert (restored, type(restored)) == (value, type(value))


def test_a_value_too_long_to_be_sent_equals_what_is_rendered_alike_alone() -> None:
    digest = restore_value(json.loads(render_value(list(range(999)), 100)))
    assert isinstance(digest, LongValue)
    assert list(range(999)) == digest
    assert list(range(998)) != digest


def test_calls_are_done_in_order_in_one_process_and_keep_what_each_came_to(sandbox: Sandbox) -> None:
    code = "seen = []\ndef f(x):\n    seen.append(x)\n    return seen"
    assert ask(sandbox, code, call("f", 1), "f(two)", setup="two = 2") == [[True, [1]], [True, [1, 2]]]


def test_a_call_that_fails_ends_itself_alone_and_says_where(sandbox: Sandbox) -> None:
    code = "def f(x):\n    return 1 // x"
    failed, right, missing = ask(sandbox, code, call("f", 0), call("f", 1), call("g"))
    assert failed == [False, "ZeroDivisionError", "integer division or modulo by zero", 2]
    assert right == [True, 1]
    assert missing == [False, "NameError", "name 'g' is not defined", 0]


def test_answers_before_a_call_that_hangs_are_kept(sandbox: Sandbox) -> None:
    code = "def f(x):\n    while x: pass\n    return x"
    assert ask(sandbox, code, call("f", 0), call("f", 1), call("f", 0)) == [[True, 0], "hung"]


def test_answers_without_room_become_digests(sandbox: Sandbox) -> None:
    limits = Limits(cpu_seconds=1.0, wall_seconds=10.0, output_bytes=20_000)
    short, long = ask(sandbox, "def f(n): return 'x' * n", call("f", 3), call("f", 50_000), limits=limits)
    assert short == [True, "xxx"]
    assert list(long[1]) == ["long"]


def test_an_answer_of_many_quotes_that_fits_the_limit_arrives(sandbox: Sandbox) -> None:
    wide = Limits(output_bytes=1 << 20)
    (answer,) = ask(sandbox, "def f(x): return ['a'] * x", call("f", 250_000), limits=wide)
    assert answer == [True, ["a"] * 250_000]
