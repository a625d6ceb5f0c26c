"""What one request works with: the graph, opened when it is needed and closed when all is answered."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from pkg.api import Graph, open_graph
from pkg.errors import UsageError

if TYPE_CHECKING:
    from pkg.graph.generation_memory import GenerationMemory
    from pkg.graph.store import StoreStats
    from pkg.models.text_model import TextModel

Found = TypeVar("Found")


class Desk:
    """One request's way to the graph; one thread uses it.

    A graph is opened anew for each request: that takes a millisecond, and a store that was built anew, moved or
    restarted meanwhile needs no care.
    """

    def __init__(
        self,
        store: str,
        source: str | None,
        open_model: Callable[[], TextModel | None],
        remembered: GenerationMemory,
    ) -> None:
        self.store = store
        self._source = source
        self._open_model = open_model
        self._remembered = remembered

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        if "graph" in self.__dict__:
            self.graph.close()

    @cached_property
    def graph(self) -> Graph:
        """The graph; StoreMissingError where there is none."""
        return open_graph(self.store)

    @cached_property
    def model(self) -> TextModel | None:
        """The text model that was named at the start."""
        return self._open_model()

    @property
    def stats(self) -> StoreStats:
        """What the graph holds of what is served; counted once for each generation. StoreMissingError without one."""
        return self.remember("stats", lambda: self.graph.stats(self._source))

    def choose_source(self, asked: str | None) -> str | None:
        """Choose the source to ask about; a UsageError for another one than the service is for."""
        if self._source is None:
            return asked
        if asked not in (None, self._source):
            raise UsageError(f"source '{asked}' is not served here; expected '{self._source}', or none")
        return self._source

    def remember(self, key: Hashable, read: Callable[[], Found]) -> Found:
        """Give what was read of the same generation of the graph before, else read it: for what takes long."""
        return self._remembered.get(self.graph.store, key, read)
