"""The least solution of mutually dependent sets: each is computed on demand, and again when what it read has grown.

Sets only grow, so the solution is the same in whatever order they are asked for. That holds as long as every rule is
monotone: what it gives may only grow when what it reads grows. A bound on the work ends what would go on too long; the
answer then says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pkg.local_errors import Unwinding
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import MANY, Key, Many, merge_constants
from pkg.resolve.closure import list_circles
from pkg.resolve.queries import Given, Kept

if TYPE_CHECKING:
    from pkg.resolve.facts.scope_model import Scope

Values = frozenset[Any]

EMPTY: Values = frozenset()
FEW = 8  # values of a set that are handed on one by one; a larger one is handed on by its name
MANY_NEWS = 100  # after which large sets are looked for that hold one another
MAX_DEPTH = 40  # of sets and expressions inside one another, behind which a set is computed later
MAX_VALUES = 20_000  # in one set; more say nothing
UNLIMITED = 1 << 62
MAX_ROUNDS = 3000  # times that one set is computed again


def _find_delay(query: Kept[...]) -> int:
    """Say how long a set waits for others before it is computed again: what it reads may grow many times before."""
    return 2 << 40 if query is q.SITE else 1 << 40 if query.is_about_many else 0


def _take_name(key: Key) -> Key:
    """Give the name of the large set that a set is made of."""
    return cast(Key, key[1])


class WorkExceeded(Unwinding):  # who asks goes on in a simpler way
    """Say that more sets were asked for than the limit allows."""


class Cell:
    """One set: what is known of it by now, and who asked for it."""

    __slots__ = ("holders", "is_queued", "key", "mask", "place", "readers", "rounds", "top", "values")

    mask: int | None  # of the files behind it, and where it stands: noted for changes once all is computed
    top: Scope | None

    def __init__(self, key: Key, place: int) -> None:
        self.key = key
        self.place = place  # among all: those that were asked for later come first
        self.values: Values = EMPTY
        self.readers: Cell | set[Cell] | None = None  # of half of all sets there is but one
        self.holders: set[Cell] | None = None  # those that were handed its name, and need not know when it grows
        self.rounds = 0  # times that it has grown
        self.is_queued = False

    def list_readers(self) -> Iterable[Cell]:
        """Give the sets that asked for it."""
        readers = self.readers
        return () if readers is None else readers if isinstance(readers, set) else (readers,)

    def list_dependants(self) -> Iterable[Cell]:
        """Give the sets that asked for it, and those that hold its name."""
        readers = self.list_readers()
        return readers if self.holders is None else (*readers, *self.holders)


class Circle(NamedTuple):
    """Large sets that hold one another, and are the same in the end."""

    name: Key  # of one of them, for all
    keys: frozenset[Key]


class Solver:
    """Sets by key, each with the rule that computes it."""

    def __init__(
        self, overflow: Values, few: int = FEW, on_fault: Callable[[Key, Exception], Values] | None = None
    ) -> None:
        """Begin without sets; `on_fault` gives what a set holds whose rule failed unexpectedly, or raises again."""
        self._on_fault = on_fault
        self._few = few  # values up to which a set is handed on one by one
        self.depth = 0  # of what is being computed; who goes deep between two sets counts it here
        self.floor = 0  # depth at which the set began that is being computed
        self.exhausted = 0  # sets that were given up
        self._asked = 0  # how often a set was asked for
        self._limit = UNLIMITED  # of that
        self._overflow = overflow
        self.cells: dict[Key, Cell] = {}
        self._rules: dict[Kept[...], Callable[..., Values]] = {}
        self._waiting: list[tuple[int, Cell]] = []
        self._shared: dict[Values, Values] = {}  # of equal sets one is kept, for there are few others
        self.current: Cell | None = None  # the set that is being computed
        self._rules[q.SPREAD] = self._derive_spread
        self._rules[q.GATHERED] = self._derive_gathered
        self._large: set[Key] = set()  # that were handed on by their names
        self._circles: dict[Key, Circle] = {}  # by large set, those that hold one another and it
        self._news = 0  # large sets, and names that they got, since circles were looked for

    @contextmanager
    def limit_work(self, most: int) -> Iterator[None]:
        """Let no more sets be asked for inside the block; WorkExceeded says that they were."""
        self._limit = self._asked + most
        try:
            yield
        finally:
            self._limit = UNLIMITED

    def add_rule(self, query: Kept[Given], rule: Callable[Given, Values]) -> None:
        """Let a rule compute the sets that answer a query."""
        self._rules[query] = rule

    def release(self) -> None:
        """Let go of the rules, which know what asks the solver; nothing can be computed afterwards."""
        self._rules.clear()

    if TYPE_CHECKING:  # what runs takes the parts of a key as they come: a tuple less for each question

        def get(self, query: Kept[Given], *given: Given.args, **_: Given.kwargs) -> Values:
            """Give the set as it is known now; the reader is computed again should it grow.

            WorkExceeded says that more sets were asked for than limit_work allows.
            """

        def hand(self, query: Kept[Given], *given: Given.args, **_: Given.kwargs) -> Values:
            """Give a set to be handed on: a large one as one value that stands for all, which need not follow it."""

    else:

        def get(self, *key):
            """Find the set or begin it, and note who reads it."""
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

        def hand(self, *key):
            """Find the set; of those that are made of one circle, there is one."""
            if key[0].is_of_many:
                key = (key[0], self.name(_take_name(key)), *key[2:])
            values = self.get(*key)
            return values if len(values) <= self._few else self._hand_large(key, values)

    def read(self, key: Key) -> Values:
        """Give a set by its key."""
        return self.get(*key)

    def _hand_large(self, key: Key, values: Values) -> Values:
        if key[0].is_of_many and _take_name(key)[0].is_of_many:  # or the names of loops would have no end
            return values
        cell, current = self.cells[key], self.current
        if cell.holders is None:
            cell.holders = set()
            self._large.add(key)
            self._news += 1
        if current is not None:
            if cell.readers is current:
                cell.readers = None
            elif isinstance(cell.readers, set):
                cell.readers.discard(current)
            cell.holders.add(current)
        return self.share(frozenset({Many(MANY, self.name(key))}))

    def name(self, key: Key) -> Key:
        """Give the name by which a large set is known: of those that hold one another, there is one."""
        circle = self._circles.get(key)
        return key if circle is None else circle.name

    def gather(self, key: Key) -> Values:
        """Give the values of a large set, those of other large ones still by their names; of texts, one for all."""
        return self.get(q.GATHERED, self.name(key))

    def _derive_gathered(self, key: Key) -> Values:
        return merge_constants(self._join_held(key))

    def _join_held(self, key: Key) -> Values:
        """Give the values of a large set, or of all of its circle."""
        circle = self._circles.get(key)
        if circle is None:
            return self.read(key)
        found = EMPTY.union(*map(self.read, circle.keys))
        return frozenset(value for value in found if type(value) is not Many or value.name not in circle.keys)

    def spread(self, values: Values) -> Values:
        """Give values one by one, those of sets that were handed on by their names included."""
        many = [value for value in values if type(value) is Many]
        if not many:
            return values
        return values.difference(many).union(*(self.get(q.SPREAD, self.name(value.name)) for value in many))

    def _derive_spread(self, key: Key) -> Values:
        """Give the values of a large set one by one."""
        return self.spread(self._join_held(key))

    def flatten(self, key: Key) -> set[Any]:
        """Give what `spread` does once all is computed, without a set that would count as asked for."""
        seen, waiting, found = {key}, [key], set()
        while waiting:
            for each in self._list_together(waiting.pop()):
                for value in self.cells[each].values:
                    if type(value) is not Many:
                        found.add(value)
                    elif (name := self.name(value.name)) not in seen:
                        seen.add(name)
                        waiting.append(name)
        return found

    def _find_circles(self) -> None:
        """Find large sets that hold one another, and are the same in the end: all have one name from then on."""
        self._news = 0
        for circle in list(list_circles(set(map(self.name, self._large)), self._list_held)):
            if len(circle) > 1:
                self._join_circle(frozenset(each for key in circle for each in self._list_together(key)))

    def _list_together(self, key: Key) -> Iterable[Key]:
        circle = self._circles.get(key)
        return (key,) if circle is None else circle.keys

    def _list_held(self, key: Key) -> set[Key]:
        cells = (self.cells[each] for each in self._list_together(key))
        held = {self.name(value.name) for cell in cells for value in cell.values if type(value) is Many}
        return held - {key}

    def _join_circle(self, keys: frozenset[Key]) -> None:
        """Let large sets have one name: the sets that are made of one of them are made of all from then on."""
        readers = {reader for key in keys for reader in self.cells[key].list_readers()}
        for name in set(map(self.name, keys)):
            gathered = self.cells.get((q.GATHERED, name))
            readers |= set(gathered.list_readers()) if gathered is not None else set()
            self.renew(q.GATHERED, name)
        name = min(keys, key=lambda key: (key[0].is_of_many, repr(key)))
        self._circles.update(dict.fromkeys(keys, Circle(name, keys)))
        for reader in readers:
            if reader.key[0].is_about_many and reader.key[1] in keys:
                self.queue(reader)

    def _begin(self, key: Key) -> Cell:
        """Compute a set for the first time. Its reader is noted afterwards: it need not be told of what it gets now."""
        cell = self.cells[key] = Cell(key, _find_delay(key[0]) - len(self.cells))
        if self.depth >= MAX_DEPTH:
            self.queue(cell)
        else:
            self._update(cell)
        return cell

    def share(self, values: Values) -> Values:
        """Give the one of equal sets that is kept."""
        return self._shared.setdefault(values, values)

    def renew(self, query: Kept[Given], *given: Given.args, **_: Given.kwargs) -> None:
        """Note that a set has to be computed again; one that nobody asked for need not."""
        cell = self.cells.get((query, *given))
        if cell is not None:
            self.queue(cell)

    def queue(self, cell: Cell) -> None:
        """Let a set be computed again."""
        if not cell.is_queued:
            cell.is_queued = True
            heappush(self._waiting, ((cell.rounds << 32) + cell.place, cell))

    def forget(self) -> None:
        """Forget all sets: something is known now that they were computed without."""
        for cell in self.cells.values():
            cell.readers = cell.holders = None  # which may go in circles
        for held in (self.cells, self._waiting, self._shared, self._large, self._circles):
            held.clear()

    def solve(self) -> None:
        """Compute until nothing grows.

        What has grown most often waits longest, for it may grow again. Of others, what was asked for last is mostly
        read by what was asked for before, and comes first: so a set is computed when those that it reads are known, not
        again for each thing that is found at the end of a long chain.
        """
        while self._waiting:
            cell = heappop(self._waiting)[1]
            cell.is_queued = False
            self._update(cell)
            if self._news > max(MANY_NEWS, len(self._large) // 5) or (self._news and not self._waiting):
                self._find_circles()

    def _update(self, cell: Cell) -> None:
        before = self.current, self.floor
        self.depth += 1
        self.current, self.floor = cell, self.depth
        key = cell.key
        circle = self._circles.get(_take_name(key)) if key[0].is_about_many else None
        try:
            if circle is not None and circle.name != key[1]:
                found = self.read((key[0], circle.name, *key[2:]))
            else:
                found = self._rules[key[0]](*key[1:])
        except RecursionError:  # of expressions inside one another that no rule has counted
            self.exhausted += 1
            found = self._overflow
        except Exception as fault:
            if self._on_fault is None:
                raise
            found = self._on_fault(key, fault)
        finally:
            self.current, self.floor = before
            self.depth -= 1
        old = cell.values
        if not found <= old and old is not self._overflow:
            is_handed = any(type(value) is Many for value in found - old)  # what stood there one by one is in there
            self._news += is_handed and cell.holders is not None
            self._grow(cell, old | found if old and not is_handed else found)

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
