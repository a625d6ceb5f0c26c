"""What is reached in a graph, as numbers of one bit for each thing: found once for each node, in circles as well."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def list_circles(
    starts: Iterable[Node], list_next: Callable[[Node], Iterable[Node]], known: Container[Node] = ()
) -> Iterator[list[Node]]:
    """Give the nodes that are reached from some, each once: those that reach each other together (after Tarjan).

    All that a circle reaches comes before it. Nodes that are known are not gone through.
    """
    places: dict[Node, int] = {}  # on the path, of nodes whose circle is not closed
    lowest: dict[Node, int] = {}  # place on the path that is reached from a node
    done: set[Node] = set()
    path: list[Node] = []
    waiting: list[tuple[Node, Iterator[Node]]] = []
    for start in starts:
        following: Iterator[Node] = iter((start,))
        while True:
            for each in following:
                if each in places:
                    node = waiting[-1][0]
                    lowest[node] = min(lowest[node], places[each])
                elif each not in done and each not in known:
                    places[each] = lowest[each] = len(path)
                    path.append(each)
                    waiting.append((each, iter(list_next(each))))
                    break
            else:
                if not waiting:
                    break
                node, _ = waiting.pop()
                low = lowest.pop(node)
                if low == places[node]:
                    circle = path[low:]
                    del path[low:]
                    for each in circle:
                        del places[each]
                    done.update(circle)
                    yield circle
                else:
                    before = waiting[-1][0]
                    lowest[before] = min(lowest[before], low)
            if not waiting:
                break
            following = waiting[-1][1]


def join_reached(
    start: Node, list_next: Callable[[Node], Iterable[Node]], own: Callable[[Node], int], known: dict[Node, int]
) -> int:
    """Give the bits of a node and of all that it reaches; `known` takes those of every node on the way."""
    for circle in list_circles([start], list_next, known):
        joined = 0
        for node in circle:
            joined |= own(node)
            for each in list_next(node):
                joined |= known.get(each, 0)
        known.update(dict.fromkeys(circle, joined))
    return known[start]


def list_bits(bits: int) -> Iterator[int]:
    """Give the places of the bits that are set, the lowest first."""
    place = 0
    for byte in bits.to_bytes((bits.bit_length() + 7) // 8, "little"):
        if byte:
            yield from (place + each for each in _BITS_OF_BYTES[byte])
        place += 8


_BITS_OF_BYTES = [[place for place in range(8) if byte >> place & 1] for byte in range(256)]
