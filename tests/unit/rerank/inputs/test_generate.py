from __future__ import annotations

import ast
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from pkg.rerank.examples.literals import parse_literal
from pkg.rerank.inputs.generate import guess_inputs, mutate_value, relate_arguments, vary_inputs
from pkg.rerank.inputs.input_values import LiteralPool
from pkg.rerank.parsed_question import Parameter


def read_arguments(text: str) -> tuple[Any, ...]:
    value = parse_literal(f"({text},)")
    assert isinstance(value, tuple)
    return value


def test_inputs_are_the_same_for_the_same_seed_and_differ_from_what_was_seen() -> None:
    seen = [([1, 2, 3], "abc"), ([5], "x")]
    made = vary_inputs("seed", seen, 20)
    assert made == vary_inputs("seed", seen, 20)
    assert made != vary_inputs("other", seen, 20)
    assert len(set(made)) == len(made) == 20
    assert not {read_arguments(each) == call for each in made for call in seen} & {True}


def test_an_argument_that_is_the_length_of_another_stays_so() -> None:
    for each in vary_inputs("seed", [([4, 5, 6], 3), ([1], 1)], 20):
        items, count = read_arguments(each)
        assert len(items) == count


def guess(parameters: list[Parameter], profile: tuple[str, ...], count: int) -> list[tuple[Any, ...]]:
    return [read_arguments(each) for each in guess_inputs("a query", parameters, profile, LiteralPool(), count)]


def test_a_parameter_that_is_named_like_a_length_is_one_in_many_calls_and_not_in_all() -> None:
    made = guess([Parameter("arr"), Parameter("n")], ("list[int]", "int"), 48)
    lengths = [count == len(items) for items, count in made]
    assert len(made) == 48
    assert 12 <= sum(lengths) <= 36


def test_guessed_arguments_are_of_the_kinds_of_the_profile() -> None:
    for words, k in guess([Parameter("words"), Parameter("k")], ("List[str]", "int"), 10):
        assert isinstance(k, int)
        assert all(isinstance(word, str) for word in words)


def test_small_calls_come_first() -> None:
    made = guess_inputs("a query", [Parameter("xs")], ("list[int]",), LiteralPool(), 20)
    assert list(made) == sorted(made, key=len)


def test_where_most_calls_are_made_before_there_are_fewer() -> None:
    assert sorted(guess([Parameter("flag")], ("bool",), 24)) == [(False,), (True,)]


def test_without_anything_to_go_by_there_are_no_inputs() -> None:
    assert vary_inputs("seed", [], 10) == vary_inputs("seed", [()], 10) == ()
    assert guess([], (), 10) == []


VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=8),
    lambda inner: (
        some.lists(inner, max_size=4)
        | some.tuples(inner, inner)
        | some.dictionaries(some.text(max_size=3), inner, max_size=3)
        | some.sets(some.integers(), max_size=4)
    ),
    max_leaves=6,
)


@given(VALUES, some.integers())
def test_a_changed_value_is_of_the_same_kind(value: Any, seed: int) -> None:
    assert type(mutate_value(value, Random(seed))) is type(value)


@given(some.lists(some.integers(0), min_size=1), some.integers())
def test_numbers_that_are_never_negative_stay_so(value: list[int], seed: int) -> None:
    assert min(mutate_value(value, Random(seed)), default=0) >= 0


def test_inputs_are_arguments_that_python_reads() -> None:
    for each in vary_inputs("seed", [({"a": {1, 2}}, (1, "b"), None, 2.5)], 30):
        ast.parse(f"f({each})")


SEEDS = range(200)


def relate(names: str, values: list[Any]) -> list[list[Any]]:
    parameters = [Parameter(name) for name in names.split()]
    return [relate_arguments(parameters, values, Random(seed)) for seed in SEEDS]


def test_the_first_argument_is_unchanged() -> None:
    assert all(made[0] == [7, 8, 9] for made in relate("items target", [[7, 8, 9], 50]))


def test_a_number_after_a_list_is_often_an_item_of_it() -> None:
    found = [number in items for items, number in relate("items target", [[7, 8, 9], 50])]
    assert True in found
    assert False in found


def test_a_number_that_is_named_like_a_place_is_one_that_every_row_has() -> None:
    numbers = {number for _, number in relate("rows index", [[[1, 2], [3, 4, 5]], 50])}
    assert numbers == {0, 1, 50}


def test_a_text_after_a_text_is_often_a_part_of_it() -> None:
    assert any(len(part) > 1 and part in text for text, part in relate("text sub", ["abcdef", "xyz"]))
    assert {sign for _, sign in relate("text char", ["ab", "xyz"])} == {"a", "b", "xyz"}


def test_a_list_after_a_list_often_shares_its_items() -> None:
    assert any({*one} & {*other} for one, other in relate("one other", [[1, 2, 3], [70, 80]]))


def test_an_empty_list_has_nothing_to_relate_to() -> None:
    assert {number for _, number in relate("items target", [[], 50])} == {50}
