"""The least solution of mutually dependent sets: each is computed on demand, and again when what it read has grown.

Sets only grow, so the solution is the same in whatever order they are asked for. That holds as long as every rule is
monotone: what it gives may only grow when what it reads grows. A bound on the work ends what would go on too long; the
answer then says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from typing import Any

Values = frozenset[Any]
Key = tuple[Hashable, ...]
"""The kind of a set, which names its rule, and what the rule is given."""

EMPTY: Values = frozenset()
MAX_DEPTH = 40  # of sets and expressions inside one another, behind which a set is computed later
MAX_VALUES = 2000  # in one set; more say nothing
MAX_ROUNDS = 300  # times that one set is computed again


class WorkExceeded(Exception):  # noqa: N818  # no error: who asks goes on in a simpler way
    """Say that more sets were asked for than the limit allows."""


class Solver:
    """Sets by key, each with the rule that computes it."""

    def __init__(self, overflow: Values) -> None:
        self.depth = 0  # of what is being computed; who goes deep between two sets counts it here
        self.floor = 0  # depth at which the set began that is being computed
        self.exhausted = 0  # sets that were given up
        self.asked = 0  # how often a set was asked for
        self.limit = 1 << 62  # of that
        self._overflow = overflow
        self.values: dict[Key, Values] = {}
        self.readers: dict[Key, set[Key]] = {}  # by set, those that asked for it
        self._rules: dict[Hashable, Callable[..., Values]] = {}
        self._rounds: dict[Key, int] = {}
        self._waiting: deque[Key] = deque()
        self._queued: set[Key] = set()
        self.current: Key | None = None  # the set that is being computed

    def add_rule(self, kind: str, rule: Callable[..., Values]) -> None:
        """Let a rule compute the sets of a kind."""
        self._rules[kind] = rule

    def release(self) -> None:
        """Let go of the rules, which know what asks the solver; nothing can be computed afterwards."""
        self._rules.clear()

    def get(self, key: Key) -> Values:
        """Give the set as it is known now; the reader is computed again should it grow."""
        self.asked += 1
        if self.asked > self.limit:
            raise WorkExceeded
        values = self.values.get(key)
        if values is None:
            values = self._begin(key)
        current = self.current
        if current is not None:
            readers = self.readers.get(key)
            if readers is None:
                self.readers[key] = {current}
            else:
                readers.add(current)
        return values

    def _begin(self, key: Key) -> Values:
        """Compute a set for the first time. Its reader is noted afterwards: it need not be told of what it gets now."""
        self.values[key] = EMPTY
        if self.depth >= MAX_DEPTH:
            self.renew(key)
        else:
            self._update(key)
        return self.values[key]

    def renew(self, key: Key) -> None:
        """Note that a set has to be computed again; one that nobody asked for need not."""
        if key in self.values and key not in self._queued:
            self._queued.add(key)
            self._waiting.append(key)

    def forget(self) -> None:
        """Forget all sets: something is known now that they were computed without."""
        for held in (self.values, self.readers, self._rounds, self._waiting, self._queued):
            held.clear()

    def solve(self) -> None:
        """Compute until nothing grows."""
        while self._waiting:
            key = self._waiting.popleft()
            self._queued.discard(key)
            self._update(key)

    def _update(self, key: Key) -> None:
        before = self.current, self.floor
        self.depth += 1
        self.current, self.floor = key, self.depth
        try:
            found = self._rules[key[0]](*key[1:])
        finally:
            self.current, self.floor = before
            self.depth -= 1
        old = self.values[key]
        if not found <= old and old is not self._overflow:
            self._grow(key, old | found if old else found)

    def _grow(self, key: Key, values: Values) -> None:
        rounds = self._rounds[key] = self._rounds.get(key, 0) + 1
        if rounds > MAX_ROUNDS:
            self.exhausted += rounds == MAX_ROUNDS + 1
            return
        if len(values) > MAX_VALUES:
            values = self._overflow
            self.exhausted += 1
        self.values[key] = values
        for reader in self.readers.get(key, ()):
            self.renew(reader)
