"""What a function returns for which arguments: parameters as they are, and values behind tests of parameters (A-12).

So each call gets back what it has given, and nothing that is returned for other arguments alone.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableSequence, Sequence
from typing import Any, NamedTuple

from pkg.extract.summary import operations as o

Operations = MutableSequence[Any]
Guards = tuple[tuple[int, str, bool], ...]
"""Tests that arguments have passed where a function returns: the place of the parameter, the test, whether it holds."""


class Passed(NamedTuple):
    """A parameter that is given back, where it passes some tests."""

    place: int
    tests: tuple[tuple[Sequence[Any], bool], ...] = ()
    guards: Guards = ()


def take_guards(nodes: Operations, places: frozenset[int]) -> set[Guards]:
    """Read the tests of some parameters that stand before the returns of a function; the returns keep these alone."""
    found: set[Guards] = set()
    for number, values, written in _list_returns(nodes):
        guards = tuple((place, test, bool(holds)) for place, test, holds in written if place in places)
        nodes[number] = (o.RETURN, values, guards)
        found.add(guards)
    return found


def take_passed(nodes: Operations, places: frozenset[int]) -> tuple[Passed, ...]:
    """Find which of some parameters a function returns; its returns keep the other operations that they are of."""
    parameters: dict[Passed, None] = {}
    for number, values, guards in _list_returns(nodes):
        found, rest = _trace(nodes, values, places)
        if found:
            parameters.update(dict.fromkeys(each._replace(guards=guards) for each in found))
            nodes[number] = (o.RETURN, rest, guards)
    return tuple(parameters)


def _list_returns(nodes: Operations) -> Iterator[tuple[int, list[int], Any]]:
    return ((number, node[1], node[2]) for number, node in enumerate(nodes) if node[0] == o.RETURN)


def _trace(nodes: Operations, values: list[int], places: frozenset[int]) -> tuple[list[Passed], list[int]]:
    """Trace what is returned back to parameters, through joins; the rest is not of these."""
    found, rest = list[Passed](), list[int]()
    waiting = [each for each in values if each >= 0]
    seen = set(waiting)
    while waiting:
        number = waiting.pop()
        node = nodes[number]
        passed = _read_parameter(nodes, number, places)
        if passed is not None:
            found.append(passed)
        elif node[0] == o.PHI:
            new = [each for each in node[1:] if each >= 0 and each not in seen]
            seen.update(new)
            waiting += new
        else:
            rest.append(number)
    return found, rest


def _read_parameter(nodes: Operations, number: int, places: frozenset[int]) -> Passed | None:
    """Read a parameter, and the tests of it that ask nothing else; None for any other operation."""
    tests: list[tuple[Sequence[Any], bool]] = []
    node = nodes[number]
    while node[0] == o.NARROW and len(node[2]) == 1 and node[1] >= 0:
        tests.append((tuple(node[2]), bool(node[3])))
        node = nodes[node[1]]
    return Passed(node[1], tuple(reversed(tests))) if node[0] == o.PARAM and node[1] in places else None
