"""The interface of what runs tasks: this process, worker processes, or the workers of a cluster.

Tasks read and write files of a shared folder (pkg.cluster.outcomes) and return their names, never their data. So an
exchange by key and the collection of results need no engine: both are names grouped and read by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")

ATTEMPTS = 3
"""Times that a task is run whose worker dies; it may have been killed for memory that another process took."""


class Engine(Protocol):
    """Something that runs tasks; what they are given and return is pickled, and they may run more than once."""

    def map(self, task: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield the result of a task for each item, in order; items are drawn a few ahead of the results.

        An exception of the task is raised here. Raises InputError where the worker of one item dies again and again.
        """

    def close(self) -> None:
        """End the workers."""


class ThisProcess:
    """Runs tasks in this process, when their results are asked for."""

    def map(self, task: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield the result of a task for each item."""
        return map(task, items)

    def close(self) -> None:
        """Do nothing."""
