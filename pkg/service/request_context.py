"""The resources of one request: the graph, the text model, and the cache of the graph's generation."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from pkg.api import Graph, open_graph
from pkg.errors import UsageError

if TYPE_CHECKING:
    from pkg.graph.generation_cache import GenerationCache
    from pkg.graph.store import StoreStats
    from pkg.models.text_model import TextModel

Found = TypeVar("Found")


class RequestContext:
    """The graph, model and cache of one request; used by one thread.

    Each request opens the graph: that takes a millisecond, and a store that was rebuilt, moved or restarted since the
    last request needs no special handling.
    """

    def __init__(
        self,
        store: str,
        source: str | None,
        open_model: Callable[[], TextModel | None],
        cache: GenerationCache,
    ) -> None:
        self.store = store
        self._source = source
        self._open_model = open_model
        self._cache = cache

    def __enter__(self) -> RequestContext:
        return self

    def __exit__(self, *_: object) -> None:
        if "graph" in self.__dict__:
            self.graph.close()

    @cached_property
    def graph(self) -> Graph:
        """The graph; raises StoreMissingError if there is none."""
        return open_graph(self.store)

    @cached_property
    def model(self) -> TextModel | None:
        """The text model that the service was started with."""
        return self._open_model()

    @property
    def stats(self) -> StoreStats:
        """Statistics of the served sources, counted once per generation; raises StoreMissingError without a graph."""
        return self.get_cached("stats", lambda: self.graph.stats(self._source))

    def choose_source(self, requested: str | None) -> str | None:
        """Return the source to search; raises UsageError for a source that the service does not serve."""
        if self._source is None:
            return requested
        if requested not in (None, self._source):
            raise UsageError(f"source '{requested}' is not served here; expected '{self._source}', or none")
        return self._source

    def get_cached(self, key: Hashable, read: Callable[[], Found]) -> Found:
        """Return the cached result of a slow read for this generation of the graph, or read it."""
        return self._cache.get(self.graph.store, key, read)
