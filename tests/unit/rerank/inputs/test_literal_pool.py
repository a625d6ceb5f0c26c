from __future__ import annotations

import ast

import pytest

from pkg.rerank.inputs.input_values import collect_literals

CODE = """
def translate(text, deep=False):
    '''Find zero.'''
    names = {"zero": 0, "one": 1}
    if text == "  " or len(text) > 1_000_000:
        raise ValueError(f"not {text} but more")
    return names.get(text, "nothing at all of it")
"""


def test_the_short_literals_of_the_code_are_gathered() -> None:
    pool = collect_literals("", [ast.parse(CODE)])
    assert pool.texts == ("one", "zero")
    assert pool.numbers == (0, 1)


def test_the_order_of_candidates_does_not_matter() -> None:
    trees = [ast.parse("a = 'x'"), ast.parse("b = 3"), ast.parse("c = 'w', 3")]
    assert collect_literals("", trees) == collect_literals("", trees[::-1])


@pytest.mark.parametrize(
    ("query", "is_sorted"),
    [
        ("Find the element that appears only once in a sorted array.", True),
        ("Find the median of two sorted lists of same size.", True),
        ("Check for majority element in the given sorted array.", True),
        ("Sort the list and return it sorted.", False),
        ("Return the list sorted by length.", False),
    ],
)
def test_only_lists_that_are_given_sorted_are_sorted(query: str, is_sorted: bool) -> None:
    assert collect_literals(query, []).is_sorted is is_sorted
