"""Tell of the code that a prompt shows which tasks of the benchmark it gives away (A-16)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from pkg.lab.evaluation.code.contexts import REFERENCE

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.model import Leak

_PLACE = re.compile(r"(?P<path>.*):(?P<first>\d+)-(?P<last>\d+) ", re.DOTALL)
"""A piece of code in the records, as helper_text.format_place writes it; else it is a whole row."""


class ShownLeaks:
    """Finds the leaks of shown code by its place; the graph is asked when the first such code comes."""

    def __init__(self, store: GraphStore | None, read_marks: Callable[[], Mapping[str, Collection[Leak]]]) -> None:
        """Take a graph, and what reads which of its nodes give solutions away; without a graph nothing does."""
        self._store, self._read_marks = store, read_marks

    def tell(self, item: str, places: Sequence[str]) -> tuple[str, ...]:
        """List which tasks the code at some places, shown for an item, gives away, with how: `same_code MBPP/2`."""
        found = {f"{leak.kind} {leak.task}" for place in places for leak in self._find(place)}
        return tuple(sorted(found | ({f"same_code {item}"} if REFERENCE in places else set())))

    def _find(self, place: str) -> Sequence[Leak]:
        if place == REFERENCE or self._store is None:
            return ()
        piece = _PLACE.match(place)
        return self._marked[(piece["path"], int(piece["first"]), int(piece["last"])) if piece else place]

    @cached_property
    def _marked(self) -> dict[tuple[str, int, int] | str, list[Leak]]:
        """Give the leaks by path and lines, and those of all that stands at a path."""
        marks = self._read_marks()
        found: dict[tuple[str, int, int] | str, list[Leak]] = defaultdict(list)
        for node in self._store.get(sorted(marks)) if self._store else ():
            found[node.path, node.start_line, node.end_line] += marks[node.id]
            found[node.path] += marks[node.id]
        return found
