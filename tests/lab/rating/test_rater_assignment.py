"""Items are assigned evenly, with the given overlap, and reproducibly."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.errors import UsageError
from pkg.lab.rating.rater_assignment import assign_items, draw_order


@given(st.integers(0, 40), st.integers(1, 6), st.data(), st.integers())
def test_each_item_has_overlap_raters_and_loads_differ_by_at_most_one(
    items: int, raters: int, data: st.DataObject, seed: int
) -> None:
    overlap = data.draw(st.integers(1, raters))
    names, ids = [f"r{n}" for n in range(raters)], [f"i{n}" for n in range(items)]
    dealt = assign_items(ids, names, overlap, seed)
    assert Counter(each for theirs in dealt.values() for each in theirs) == dict.fromkeys(ids, overlap)
    assert all(len(set(theirs)) == len(theirs) for theirs in dealt.values())
    loads = [len(theirs) for theirs in dealt.values()]
    assert max(loads) - min(loads) <= 1
    assert dealt == assign_items(ids, names, overlap, seed)


def test_every_two_raters_share_items() -> None:
    dealt = assign_items([f"i{n}" for n in range(60)], ["a", "b", "c", "d"], 2)
    shared = [len(set(dealt[one]) & set(dealt[other])) for one, other in combinations(dealt, 2)]
    assert min(shared) >= 8  # 10 if all are equal


def test_appended_items_do_not_change_earlier_assignments() -> None:
    few, more = [f"i{n}" for n in range(9)], [f"i{n}" for n in range(20)]
    before, after = assign_items(few, ["a", "b", "c"], 2), assign_items(more, ["a", "b", "c"], 2)
    assert {name: theirs[: len(before[name])] for name, theirs in after.items()} == before


@pytest.mark.parametrize("overlap", [0, 3])
def test_an_impossible_overlap_is_refused(overlap: int) -> None:
    with pytest.raises(UsageError, match="expected from 1 to 2"):
        assign_items(["i"], ["a", "b"], overlap)


def test_sides_are_drawn_for_each_occasion_and_reproducible() -> None:
    orders = [draw_order(["x", "y"], 0, f"item {n}", "ana") for n in range(200)]
    assert orders == [draw_order(["x", "y"], 0, f"item {n}", "ana") for n in range(200)]
    assert 70 < sum(order[0] == "x" for order in orders) < 130
    assert orders != [draw_order(["x", "y"], 1, f"item {n}", "ana") for n in range(200)]
