"""What is reached in a graph, as numbers of one bit for each thing: found once for each node, in circles as well."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def join_reached(
    start: Node, list_next: Callable[[Node], Iterable[Node]], own: Callable[[Node], int], known: dict[Node, int]
) -> int:
    """Give the bits of a node and of all that it reaches; `known` takes those of every node on the way.

    Each node is gone through once. Those of a circle reach the same, so they share what they have (after Tarjan).
    """
    bits: dict[Node, int] = {}
    places: dict[Node, int] = {}  # on the path, of nodes whose circle is not closed
    lowest: dict[Node, int] = {}  # place on the path that is reached from a node
    path: list[Node] = []
    waiting: list[tuple[Node, Iterator[Node]]] = []

    def enter(node: Node) -> None:
        bits[node] = own(node)
        places[node] = lowest[node] = len(path)
        path.append(node)
        waiting.append((node, iter(list_next(node))))

    if start not in known:
        enter(start)
    while waiting:
        node, following = waiting[-1]
        for each in following:
            if each in known:
                bits[node] |= known[each]
            elif each in places:
                lowest[node] = min(lowest[node], places[each])
            else:
                enter(each)
                break
        else:
            waiting.pop()
            place = places[node]
            if lowest[node] == place:
                circle = path[place:]
                del path[place:]
                joined = 0
                for each in circle:
                    joined |= bits.pop(each)
                    del places[each]
                known.update(dict.fromkeys(circle, joined))
            if waiting:
                before = waiting[-1][0]
                if node in known:
                    bits[before] |= known[node]
                else:
                    lowest[before] = min(lowest[before], lowest[node])
    return known[start]


def list_bits(bits: int) -> Iterator[int]:
    """Give the places of the bits that are set, the lowest first."""
    place = 0
    for byte in bits.to_bytes((bits.bit_length() + 7) // 8, "little"):
        if byte:
            yield from (place + each for each in _BITS_OF_BYTES[byte])
        place += 8


_BITS_OF_BYTES = [[place for place in range(8) if byte >> place & 1] for byte in range(256)]
