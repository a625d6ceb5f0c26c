"""Cache values read from a graph until its generation changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

Value = TypeVar("Value")


class GenerationCache:
    """Values read from graphs, by key, each with the stamp of its generation; safe to share between threads."""

    def __init__(self, max_keys: int) -> None:
        self._max_keys = max_keys  # the cache is cleared when it is full
        self._values: dict[Hashable, tuple[str, object]] = {}

    def get(self, store: GraphStore, key: Hashable, read: Callable[[], Value]) -> Value:
        """Return the cached value of this generation, else read it.

        A generation without a stamp, which only graphs of an older PKG have, is read each time.
        """
        stamp = store.stamp()
        cached = self._values.get(key)
        if stamp and cached is not None and cached[0] == stamp:
            return cast(Value, cached[1])
        value = read()
        if len(self._values) >= self._max_keys:
            self._values.clear()
        self._values[key] = stamp, value
        return value
