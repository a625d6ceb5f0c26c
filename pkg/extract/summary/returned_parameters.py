"""What a function returns for which arguments: parameters as they are, and values behind tests of parameters (A-12).

So each call gets back what it has given, and nothing that is returned for other arguments alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pkg.extract.summary import operations as o
from pkg.extract.summary.operations import Operation

Guards = tuple[tuple[int, str, bool], ...]
"""Tests that arguments have passed where a function returns: the place of the parameter, the test, whether it holds."""


class Passed(NamedTuple):
    """A parameter that is given back, where it passes some tests."""

    place: int
    tests: tuple[tuple[Sequence[Any], bool], ...] = ()
    guards: Guards = ()


def extract_returned(
    nodes: list[Operation], follow: Callable[[int], int], places: frozenset[int]
) -> tuple[list[Guards], list[Passed]]:
    """Find the tests of some parameters that stand before returns, and which of these parameters are returned.

    The returns keep these tests alone, and the operations that are of no such parameter. `follow` returns the operation
    that one is equal to.
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
    """Trace what is returned back to parameters, through joins; the rest is not of these."""
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
    """Read a parameter, and the tests of it that ask nothing else; None for any other operation."""
    tests: list[tuple[Sequence[Any], bool]] = []
    node = nodes[number]
    while node[0] == o.NARROW and len(node[2]) == 1 and (before := follow(node[1])) >= 0:
        tests.append((tuple(node[2]), bool(node[3])))
        node = nodes[before]
    return Passed(node[1], tuple(reversed(tests))) if node[0] == o.PARAM and node[1] in places else None
