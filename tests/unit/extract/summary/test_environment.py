"""What branches have bound is told without a look at all names, so that long functions cost no square."""

from __future__ import annotations

from pkg.extract.summary.environment import Environment, find_changes


def test_only_what_was_bound_since_environments_parted_has_changed() -> None:
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


def test_environments_of_different_origin_differ_in_all_that_they_have_bound() -> None:
    one, other = Environment(), Environment().copy()
    one.bind("a", 0)
    other.bind("b", 1)
    common, changed = find_changes([one, other])
    assert common is None
    assert sorted(changed) == ["a", "b"]
