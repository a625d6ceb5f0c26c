from __future__ import annotations

import ast
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pkg.rerank.examples.literals import read_value
from pkg.rerank.inputs.generate import make_inputs
from pkg.rerank.inputs.kinds import guess_kind, make_value
from pkg.rerank.inputs.mutate import mutate_value
from pkg.rerank.question import Parameter


def read_arguments(text: str) -> tuple[Any, ...]:
    value = read_value(f"({text},)")
    assert isinstance(value, tuple)
    return value


def test_inputs_are_the_same_for_the_same_seed_and_differ_from_what_was_seen() -> None:
    seen = [([1, 2, 3], "abc"), ([5], "x")]
    made = make_inputs("seed", seen, None, 20)
    assert made == make_inputs("seed", seen, None, 20)
    assert made != make_inputs("other", seen, None, 20)
    assert len(set(made)) == len(made) == 20
    assert not {read_arguments(each) == call for each in made for call in seen} & {True}


def test_an_argument_that_is_the_length_of_another_stays_so() -> None:
    for each in make_inputs("seed", [([4, 5, 6], 3), ([1], 1)], None, 20):
        items, count = read_arguments(each)
        assert len(items) == count


def test_a_parameter_that_is_named_like_a_length_is_one_in_many_calls_and_not_in_all() -> None:
    made = make_inputs("a query", [], [Parameter("arr"), Parameter("n")], 24)
    lengths = [count == len(items) for items, count in map(ast.literal_eval, made)]
    assert len(made) == 24
    assert 8 <= sum(lengths) <= 20


def test_parameters_are_enough_where_no_call_was_seen() -> None:
    parameters = (Parameter("words", "List[str]"), Parameter("k"), Parameter("deep", "bool", is_optional=True))
    for each in make_inputs("seed", [], parameters, 10):
        words, k = read_arguments(each)
        assert isinstance(k, int)
        assert all(isinstance(word, str) for word in words)


@pytest.mark.parametrize("seen", [[], [()]])
def test_without_anything_to_go_by_there_are_no_inputs(seen: list[tuple[Any, ...]]) -> None:
    assert make_inputs("seed", seen, None, 10) == ()


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


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        ("int", int),
        ("str", str),
        ("float", float),
        ("bool", bool),
        ("List[int]", list),
        ("list[list[str]]", list),
        ("typing.Dict[str, int]", dict),
        ("Optional[str]", str),
        ("int | None", int),
        ("Tuple[int, ...]", tuple),
        ("set[int]", set),
        ("Sequence[int]", list),
        ("dict", dict),
    ],
)
def test_a_value_is_made_of_the_annotated_kind(annotation: str, kind: type) -> None:
    assert isinstance(make_value(annotation, Random(1)), kind)


@pytest.mark.parametrize("annotation", ["Callable[[int], int]", "MyClass", "1 +", "set[list[int]]", ""])
def test_of_an_unknown_kind_there_is_no_value(annotation: str) -> None:
    values = [make_value(annotation, Random(seed)) for seed in range(5)]
    assert all(value is None or value == set() for value in values)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("n", "int"), ("test_list", "list[int]"), ("s1", "str"), ("test_tup1", "tuple[int, ...]"), ("words", "list[str]")],
)
def test_the_name_of_a_parameter_suggests_its_kind(name: str, kind: str) -> None:
    assert guess_kind(Parameter(name)) == kind


def test_inputs_are_arguments_that_python_reads() -> None:
    for each in make_inputs("seed", [({"a": {1, 2}}, (1, "b"), None, 2.5)], None, 30):
        ast.parse(f"f({each})")
