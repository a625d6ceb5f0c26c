"""Walk a graph breadth first: the steps to each new node level by level, or only the nodes that can be reached."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def walk_levels(
    starts: Iterable[str], known: Iterable[str], list_steps: Callable[[str], Iterable[T]], get_end: Callable[[T], str]
) -> Iterator[dict[str, list[T]]]:
    """Yield for each distance, from 1, the nodes that are not known yet, each with all steps to it from the last level.

    list_steps: the steps from a node; get_end: the node that a step leads to.
    """
    seen, level = set(known), sorted(starts)
    while level:
        found: dict[str, list[T]] = defaultdict(list)
        for step in (step for node_id in level for step in list_steps(node_id)):
            if get_end(step) not in seen:
                found[get_end(step)].append(step)
        if found:
            yield found
        seen |= found.keys()
        level = sorted(found)


def find_reachable(starts: Iterable[str], list_next: Callable[[str], Iterable[str]]) -> list[str]:
    """Return the starts and all nodes that can be reached from them, nearest first."""
    found = sorted(starts)
    for level in walk_levels(found, found, list_next, str):
        found += sorted(level)
    return found
