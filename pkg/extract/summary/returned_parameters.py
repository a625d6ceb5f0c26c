"""The results of a function by arguments: parameters returned unchanged, and values guarded by tests (A-12).

So each call gets its own arguments back, and no values that are returned only for other arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pkg.extract.summary import operations as o
from pkg.extract.summary.operations import Operation

Guards = tuple[tuple[int, str, bool], ...]
"""Tests that hold where a function returns: index of the parameter, test, whether it passed."""


class Passed(NamedTuple):
    """A parameter that is returned unchanged if it passes some tests."""

    place: int
    tests: tuple[tuple[Sequence[Any], bool], ...] = ()
    guards: Guards = ()


def extract_returned(
    nodes: list[Operation], follow: Callable[[int], int], places: frozenset[int]
) -> tuple[list[Guards], list[Passed]]:
    """Return the tests of some parameters before each return, and which of these parameters are returned.

    The returns keep only these tests, and the operations that are no such parameters. `follow` returns the equivalent
    of an operation.
    """
    guards, passed = dict[Guards, None](), dict[Passed, None]()
    for number, node in enumerate(nodes):
        if node[0] == o.RETURN:
            tested = tuple((place, test, bool(holds)) for place, test, holds in node[2] if place in places)
            found, rest = _trace(nodes, follow, node[1], places)
            guards[tested] = None
            passed.update(dict.fromkeys(each._replace(guards=tested) for each in found))
            nodes[number] = (o.RETURN, rest if found else node[1], tested)
    return list(guards), list(passed)


def _trace(
    nodes: list[Operation], follow: Callable[[int], int], values: Sequence[int], places: frozenset[int]
) -> tuple[list[Passed], list[int]]:
    """Trace returned values back to parameters through joins; other values are kept."""
    found, rest = list[Passed](), list[int]()
    waiting = [number for each in values if (number := follow(each)) >= 0]
    seen = set(waiting)
    while waiting:
        number = waiting.pop()
        node = nodes[number]
        passed = _read_parameter(nodes, follow, number, places)
        if passed is not None:
            found.append(passed)
        elif node[0] == o.PHI:
            joined = dict.fromkeys(map(follow, node[1:]))
            new = [each for each in joined if each >= 0 and each not in seen]
            seen.update(new)
            waiting += new
        else:
            rest.append(number)
    return found, rest


def _read_parameter(
    nodes: list[Operation], follow: Callable[[int], int], number: int, places: frozenset[int]
) -> Passed | None:
    """Return a parameter and its tests that call nothing; None for any other operation."""
    tests: list[tuple[Sequence[Any], bool]] = []
    node = nodes[number]
    while node[0] == o.NARROW and len(node[2]) == 1 and (before := follow(node[1])) >= 0:
        tests.append((tuple(node[2]), bool(node[3])))
        node = nodes[before]
    return Passed(node[1], tuple(reversed(tests))) if node[0] == o.PARAM and node[1] in places else None
