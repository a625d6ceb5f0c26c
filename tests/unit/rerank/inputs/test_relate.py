from __future__ import annotations

from random import Random
from typing import Any

from pkg.rerank.inputs.mutate import relate_arguments
from pkg.rerank.parsed_question import Parameter

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
