"""Find the tasks of the benchmark whose solution is in the code that a prompt shows (A-16)."""

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
"""Place of a piece of code, as written by helper_text.format_place; other places are whole rows."""


class ShownLeaks:
    """Finds the leaks of shown code by its place; the marks of the graph are read when first needed."""

    def __init__(self, store: GraphStore | None, read_marks: Callable[[], Mapping[str, Collection[Leak]]]) -> None:
        """Take a graph, or None, and the function that reads the leaks of its nodes."""
        self._store, self._read_marks = store, read_marks

    def tell(self, item: str, places: Sequence[str]) -> tuple[str, ...]:
        """Return the leaks of the code at some places, shown for an item, with their kinds: `same_code MBPP/2`."""
        found = {f"{leak.kind} {leak.task}" for place in places for leak in self._find(place)}
        return tuple(sorted(found | ({f"same_code {item}"} if REFERENCE in places else set())))

    def _find(self, place: str) -> Sequence[Leak]:
        if place == REFERENCE or self._store is None:
            return ()
        piece = _PLACE.match(place)
        return self._marked[(piece["path"], int(piece["first"]), int(piece["last"])) if piece else place]

    @cached_property
    def _marked(self) -> dict[tuple[str, int, int] | str, list[Leak]]:
        """Return the leaks by path and lines, and by path."""
        marks = self._read_marks()
        found: dict[tuple[str, int, int] | str, list[Leak]] = defaultdict(list)
        for node in self._store.get(sorted(marks)) if self._store else ():
            found[node.path, node.start_line, node.end_line] += marks[node.id]
            found[node.path] += marks[node.id]
        return found
