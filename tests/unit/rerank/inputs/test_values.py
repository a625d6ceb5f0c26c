from __future__ import annotations

from random import Random

import pytest

from pkg.rerank.inputs.input_values import LiteralPool, make_value


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


def make_some(kind: str, pool: LiteralPool) -> list[object]:
    return [make_value(kind, Random(seed), pool) for seed in range(60)]


def test_texts_are_made_of_what_the_code_looks_for_too() -> None:
    made = make_some("str", LiteralPool(texts=("0", "1", "zero", "one")))
    assert any(isinstance(each, str) and len(each) > 1 and {*each} == {"0", "1"} for each in made)
    assert any(isinstance(each, str) and {*each.split()} == {"zero", "one"} for each in made)
    assert "hello" in made


def test_numbers_are_those_that_the_code_compares_with_too() -> None:
    assert 777 in make_some("int", LiteralPool(numbers=(777,)))


def test_a_single_number_is_never_negative_because_code_may_not_end() -> None:
    assert all(isinstance(each, int) and each >= 0 for each in make_some("int", LiteralPool(numbers=(-777,))))


def test_lists_are_sorted_where_the_query_speaks_of_sorted_ones() -> None:
    made = make_some("list[int]", LiteralPool(is_sorted=True))
    assert all(isinstance(each, list) and each == sorted(each) for each in made)
    assert not all(isinstance(each, list) and each == sorted(each) for each in make_some("list[int]", LiteralPool()))


def test_lists_hold_equal_items_and_numbers_that_cancel_each_other() -> None:
    made = [each for each in make_some("list[int]", LiteralPool()) if isinstance(each, list)]
    assert any(len({*each}) < len(each) for each in made)
    assert any(item and -item in each for each in made for item in each)


def test_most_tables_have_rows_of_one_width() -> None:
    made = [each for each in make_some("list[list[int]]", LiteralPool()) if isinstance(each, list) and len(each) > 1]
    assert sum(len({len(row) for row in each}) == 1 for each in made) > len(made) / 2
