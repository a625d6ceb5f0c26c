"""Changes of branches are found without a comparison of all names, so that long functions take linear time."""

from __future__ import annotations

import random

import pytest

from pkg.extract.summary.frame_operations import Environment, find_changes, list_different


def test_only_names_bound_since_the_branch_have_changed() -> None:
    one = Environment(names={"a": 0, "b": 1})
    one.bind("c", 2)
    other = one.copy()
    one.bind("d", 3)
    third = other.copy()
    third.bind("a", 4)
    other.bind("e", 5)
    assert list(find_changes([one, other])[1]) == ["e", "d"]
    assert sorted(find_changes([one, third, other])[1]) == ["a", "d", "e"]
    assert sorted(find_changes([other, third])[1]) == ["a", "e"]


def test_environments_of_different_origin_differ_in_all_their_names() -> None:
    one, other = Environment(), Environment().copy()
    one.bind("a", 0)
    other.bind("b", 1)
    common, changed = find_changes([one, other])
    assert common is None
    assert sorted(changed) == ["a", "b"]


def make_chain(length: int) -> list[Environment]:
    """Make the environments after the branches of a chain, each of which tests one name and binds another."""
    before, ends = Environment(names={"tested": 0}), list[Environment]()
    for number in range(1, length + 1):
        holds, before = before, before.copy()
        holds.bind("tested", number)
        before.bind("tested", -number)
        holds.bind(f"bound{number}", number)
        ends.append(holds)
    return [*ends, before]


def test_a_long_chain_is_not_searched_for_each_name_of_a_branch() -> None:
    length = 400
    ends = make_chain(length)
    common, changed = find_changes(ends)
    different = list_different(ends, common, changed)
    assert len(different["tested"]) == length + 1
    assert max(len(found) for name, found in different.items() if name != "tested") <= 3


@pytest.mark.parametrize("seed", range(40))
def test_environments_that_differ_have_all_values_of_a_name_in_their_order(seed: int) -> None:
    source = random.Random(seed)
    leaves = [Environment(names={"a": 0, "b": 1, "c": 2})]
    for number in range(3, source.randrange(10, 60)):
        leaf = source.choice(leaves)
        if source.random() < 0.5:
            leaf.bind(source.choice("abcde"), number)
        else:
            leaves.append(leaf.copy())
    source.shuffle(leaves)
    ends = leaves[: source.randrange(2, len(leaves) + 2)]
    common, changed = find_changes(ends)
    different = list_different(ends, common, changed)
    for name in changed:
        every, listed = ([each.names.get(name) for each in environments] for environments in (ends, different[name]))
        assert list(dict.fromkeys(every)) == list(dict.fromkeys(listed))
