"""Remember what was read of a graph for as long as its generation is the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

Found = TypeVar("Found")


class GenerationCache:
    """What was read of graphs, by keys, with the stamp of the generation; any number of threads may ask it."""

    def __init__(self, most: int) -> None:
        self._most = most  # keys; with more, all is forgotten
        self._known: dict[Hashable, tuple[str, object]] = {}

    def get(self, store: GraphStore, key: Hashable, read: Callable[[], Found]) -> Found:
        """Give what was read of the same generation before, else read it: for what takes long.

        A generation without a name, which only an old server has, is read each time.
        """
        stamp = store.stamp()
        known = self._known.get(key)
        if stamp and known is not None and known[0] == stamp:
            return cast(Found, known[1])
        found = read()
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[key] = stamp, found
        return found
