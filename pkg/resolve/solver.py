"""The least solution of mutually dependent sets: each is computed on demand, and again when what it read has grown.

Sets only grow, so the solution is the same in whatever order they are asked for. That holds as long as every rule is
monotone: what it gives may only grow when what it reads grows. A bound on the work ends what would go on too long; the
answer then says so.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pkg.resolve.scope_model import Scope

Values = frozenset[Any]
Key = tuple[Hashable, ...]
"""The kind of a set, which names its rule, and what the rule is given."""

EMPTY: Values = frozenset()
MAX_DEPTH = 40  # of sets and expressions inside one another, behind which a set is computed later
MAX_VALUES = 2000  # in one set; more say nothing
_UNLIMITED = 1 << 62
MAX_ROUNDS = 300  # times that one set is computed again


class WorkExceeded(Exception):  # noqa: N818  # no error: who asks goes on in a simpler way
    """Say that more sets were asked for than the limit allows."""


class Cell:
    """One set: what is known of it by now, and who asked for it."""

    __slots__ = ("is_queued", "key", "mask", "place", "readers", "rounds", "top", "values")

    mask: int | None  # of the files behind it, and where it stands: noted by reach.py once all is computed
    top: Scope | None

    def __init__(self, key: Key, place: int) -> None:
        self.key = key
        self.place = place  # among all: those that were asked for later come first
        self.values: Values = EMPTY
        self.readers: Cell | set[Cell] | None = None  # of half of all sets there is but one
        self.rounds = 0  # times that it has grown
        self.is_queued = False

    def list_readers(self) -> Iterable[Cell]:
        """Give the sets that asked for it."""
        readers = self.readers
        return () if readers is None else readers if isinstance(readers, set) else (readers,)


class Solver:
    """Sets by key, each with the rule that computes it."""

    def __init__(self, overflow: Values) -> None:
        self.depth = 0  # of what is being computed; who goes deep between two sets counts it here
        self.floor = 0  # depth at which the set began that is being computed
        self.exhausted = 0  # sets that were given up
        self._asked = 0  # how often a set was asked for
        self._limit = _UNLIMITED  # of that
        self._overflow = overflow
        self.cells: dict[Key, Cell] = {}
        self._rules: dict[Hashable, Callable[..., Values]] = {}
        self._waiting: list[tuple[int, Cell]] = []
        self._shared: dict[Values, Values] = {}  # of equal sets one is kept, for there are few others
        self.current: Cell | None = None  # the set that is being computed

    @contextmanager
    def limit_work(self, most: int) -> Iterator[None]:
        """Let no more sets be asked for inside the block; WorkExceeded says that they were."""
        self._limit = self._asked + most
        try:
            yield
        finally:
            self._limit = _UNLIMITED

    def add_rule(self, kind: str, rule: Callable[..., Values]) -> None:
        """Let a rule compute the sets of a kind."""
        self._rules[kind] = rule

    def release(self) -> None:
        """Let go of the rules, which know what asks the solver; nothing can be computed afterwards."""
        self._rules.clear()

    def get(self, key: Key) -> Values:
        """Give the set as it is known now; the reader is computed again should it grow.

        WorkExceeded says that more sets were asked for than limit_work allows.
        """
        self._asked += 1
        if self._asked > self._limit:
            raise WorkExceeded
        cell = self.cells.get(key)
        if cell is None:
            cell = self._begin(key)
        current, readers = self.current, cell.readers
        if readers is not current and current is not None:
            if readers is None:
                cell.readers = current
            elif isinstance(readers, set):
                readers.add(current)
            else:
                cell.readers = {readers, current}
        return cell.values

    def _begin(self, key: Key) -> Cell:
        """Compute a set for the first time. Its reader is noted afterwards: it need not be told of what it gets now."""
        cell = self.cells[key] = Cell(key, -len(self.cells))
        if self.depth >= MAX_DEPTH:
            self.queue(cell)
        else:
            self._update(cell)
        return cell

    def share(self, values: Values) -> Values:
        """Give the one of equal sets that is kept."""
        return self._shared.setdefault(values, values)

    def renew(self, key: Key) -> None:
        """Note that a set has to be computed again; one that nobody asked for need not."""
        cell = self.cells.get(key)
        if cell is not None:
            self.queue(cell)

    def queue(self, cell: Cell) -> None:
        """Let a set be computed again."""
        if not cell.is_queued:
            cell.is_queued = True
            heappush(self._waiting, (cell.place, cell))

    def forget(self) -> None:
        """Forget all sets: something is known now that they were computed without."""
        for cell in self.cells.values():
            cell.readers = None  # which may go in circles
        for held in (self.cells, self._waiting, self._shared):
            held.clear()

    def solve(self) -> None:
        """Compute until nothing grows.

        What was asked for last is mostly read by what was asked for before, and comes first: so a set is computed when
        those that it reads are known, not again for each thing that is found at the end of a long chain.
        """
        while self._waiting:
            cell = heappop(self._waiting)[1]
            cell.is_queued = False
            self._update(cell)

    def _update(self, cell: Cell) -> None:
        before = self.current, self.floor
        self.depth += 1
        self.current, self.floor = cell, self.depth
        key = cell.key
        try:
            found = self._rules[key[0]](*key[1:])
        except RecursionError:  # of expressions inside one another that no rule has counted
            self.exhausted += 1
            found = self._overflow
        finally:
            self.current, self.floor = before
            self.depth -= 1
        old = cell.values
        if not found <= old and old is not self._overflow:
            self._grow(cell, old | found if old else found)

    def _grow(self, cell: Cell, values: Values) -> None:
        cell.rounds += 1
        if cell.rounds > MAX_ROUNDS:
            self.exhausted += cell.rounds == MAX_ROUNDS + 1
            return
        if len(values) > MAX_VALUES:
            values = self._overflow
            self.exhausted += 1
        cell.values = self.share(values)
        for reader in cell.list_readers():
            self.queue(reader)
