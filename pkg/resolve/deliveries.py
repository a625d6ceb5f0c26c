"""What sites hand to places that they do not read: arguments to functions, items to containers (A-12).

A set that is made of deliveries depends on the sites that deliver. Where only some sites of a repository are resolved
again, those are resolved as well that are known, from the last time, to deliver to what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from pkg.resolve.solver import Cell, Key, Solver

Finder = Callable[[Hashable], Iterator[Key]]
"""Give the sets whose rules are known to deliver to a place."""


class Deliveries:
    """Who delivers to each place, and which sets are made of what is delivered there."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._known: Finder | None = None
        self.origins: dict[Hashable, set[Cell]] = {}  # by place: the sets whose rules deliver
        self.readers: dict[Hashable, set[Cell]] = {}  # by place: the sets that are computed again after a delivery

    def forget(self) -> None:
        """Forget all deliveries."""
        self.origins.clear()
        self.readers.clear()

    def know(self, finder: Finder | None) -> None:
        """Take what is known of deliveries by sites that nobody asked for yet."""
        self._known = finder

    def read(self, place: Hashable) -> None:
        """Note that the set that is being computed is made of what is delivered to a place."""
        reader = self._solver.current
        if reader is None:
            return
        readers = self.readers.get(place)
        if readers is None:
            readers = self.readers[place] = set()
            for key in self._known(place) if self._known is not None else ():
                self._solver.get(key)
        readers.add(reader)

    def deliver(self, place: Hashable) -> None:
        """Note that the set that is being computed delivers to a place."""
        origin = self._solver.current
        if origin is not None:
            self.origins.setdefault(place, set()).add(origin)

    def renew(self, place: Hashable) -> None:
        """Compute again what is made of deliveries to a place, after a new one."""
        for reader in self.readers.get(place, ()):
            self._solver.queue(reader)
