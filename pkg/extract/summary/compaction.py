"""Select and renumber the operations of a frame after its code has been summarised (A-12)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple

from pkg.extract.summary import operations as o
from pkg.extract.summary.operations import PHI, PURE, UNBOUND, Operation

_PLACES: dict[int, tuple[int, ...]] = {
    o.CONST: (), o.PARAM: (), o.GLOBAL: (), o.CELL: (), o.ATTR: (1,), o.ITEM: (1, 2), o.ITER: (1,), o.UNPACK: (1,),
    o.BINARY: (2, 3), o.INPLACE: (2, 3), o.UNARY: (2,), o.COMPARE: (2, 3), o.AWAIT: (1,), o.YIELD: (1,),
    o.YIELD_FROM: (1,), o.PROTOCOL: (2,), o.ENTER: (1,), o.IMPORT: (), o.DECLARE: (2,), o.UNKNOWN: (),
    o.SET_ATTR: (1, 3), o.SET_ITEM: (1, 2, 3), o.DEL_ATTR: (1,), o.DEL_ITEM: (1, 2), o.SET_GLOBAL: (2,),
    o.SET_CELL: (3,), o.MEMBER: (2,), o.RAISE: (1,), o.STAR: (), o.CAUGHT: (1,), o.STAR_BOUND: (2,),
}  # fmt: skip
OPERANDS: list[tuple[int, ...] | None] = [_PLACES.get(code) for code in range(o.STAR_BOUND + 1)]
"""By code, the positions of operands in an operation; None for operations with lists of operands."""
_IS_PURE = [code in PURE for code in range(o.STAR_BOUND + 1)]


def list_operands(node: Sequence[Any]) -> list[int]:
    """List the operands of an operation."""
    code = node[0]
    places = OPERANDS[code]
    if places is not None:
        return [node[place] for place in places]
    if code == o.CALL_ATTR:
        return [node[1], *[each[0] for each in node[3]], *[each[1] for each in node[4]]]
    if code == o.CALL:
        return [node[1], *[each[0] for each in node[2]], *[each[1] for each in node[3]]]
    if code == o.PHI:
        return list(node[1:])
    if code in (o.RETURN, o.TEXT):
        return list(node[1])
    if code == o.COLLECT:
        return [number for element in node[2] for number in element[1:]]
    if code == o.NARROW:
        return [node[1], *node[2][1:]]
    if code == o.CLASS:
        return [*node[2], *[each[1] for each in node[3]]]
    if code == o.DECORATE:
        return [node[1], *[each[0] for each in node[2]]]
    return [each[1] for each in node[2]]  # defaults of a function


class Numbering(NamedTuple):
    """The operations of a frame that are kept.

    `numbers` maps old numbers to new ones, of the operation itself or of its equivalent; -1 if none is kept, also as
    the last item, so that -1 maps to itself. `kept` maps new numbers to old ones.
    """

    numbers: list[int]
    kept: list[int]


def compact(nodes: list[Operation]) -> Numbering:
    """Number the operations without trivial joins, and without values that are never used."""
    joins = [number for number, node in enumerate(nodes) if node[0] == PHI]
    alias = _find_aliases(nodes, joins)
    used = _find_used(nodes, alias)
    used.pop()
    kept = list(compress(range(len(nodes)), used))
    numbers = [UNBOUND] * (len(nodes) + 1)
    for new, number in enumerate(kept):
        numbers[number] = new
    for number in joins:
        numbers[number] = numbers[alias[number]]
    return Numbering(numbers, kept)


def _find_used(nodes: list[Operation], alias: list[int]) -> list[bool]:
    """Return which operations have an effect or are used by one; the last item is for -1."""
    used = [not _IS_PURE[node[0]] or (node[0] == o.UNPACK and node[5] >= 0) for node in nodes]
    used.append(True)
    is_changed = True
    while is_changed:  # again if a loop refers to later operations
        is_changed = False
        for number in range(len(nodes) - 1, -1, -1):
            if used[number]:
                node = nodes[number]
                places = OPERANDS[node[0]]
                if places is None:
                    for operand in list_operands(node):
                        each = alias[operand]
                        if not used[each]:
                            used[each] = True
                            is_changed |= each > number
                else:
                    for place in places:
                        each = alias[node[place]]
                        if not used[each]:
                            used[each] = True
                            is_changed |= each > number
    return used


def _find_aliases(nodes: list[Operation], joins: list[int]) -> list[int]:
    """Return the equivalent of each operation: a join of itself and one other is that other.

    The last item is for -1.
    """
    alias = [*range(len(nodes)), UNBOUND]
    is_changed = bool(joins)
    while is_changed:
        is_changed = False
        for number in joins:
            if alias[number] == number:
                others = {_follow(alias, each) for each in nodes[number][1:]} - {number}
                if len(others) == 1:
                    alias[number] = others.pop()
                    is_changed = True
    for number in joins:
        alias[number] = _follow(alias, number)
    return alias


def _follow(alias: list[int], number: int) -> int:
    while number >= 0 and alias[number] != number:
        number = alias[number]
    return number
