"""Which parameters a function gives back as they are, so that each call gets back what it has given (A-12)."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import Any, NamedTuple

from pkg.summary import operations as o

Operations = MutableSequence[tuple[Any, ...]]


class Passed(NamedTuple):
    """A parameter that is given back, where it passes some tests."""

    place: int
    tests: tuple[tuple[Sequence[Any], bool], ...] = ()


def take_passed(nodes: Operations, places: frozenset[int]) -> tuple[Passed, ...]:
    """Find which of some parameters a function returns; its returns keep the other operations that they are of."""
    parameters: dict[Passed, None] = {}
    for number, node in enumerate(nodes):
        if node[0] == o.RETURN and node[1] >= 0:
            found, rest = _trace(nodes, node[1], places)
            if found:
                parameters.update(dict.fromkeys(found))
                nodes[number] = (o.RETURN, *rest)
    return tuple(parameters)


def _trace(nodes: Operations, start: int, places: frozenset[int]) -> tuple[list[Passed], list[int]]:
    """Trace what is returned back to parameters, through joins; the rest is not of these."""
    found, rest = list[Passed](), list[int]()
    waiting, seen = [start], {start}
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
