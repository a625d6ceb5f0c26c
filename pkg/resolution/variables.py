"""Variables: what holds values across functions, and who reads them (A-12)."""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING

from pkg.resolution.value_sets import EMPTY, MANY, MOST_VALUES, Value, Values, merge_constants

if TYPE_CHECKING:
    from pkg.resolution.program import Code

_MOST_AT_ONCE = 32  # values of a variable to which more are added one by one
_MOST_MERGED = 64  # values of a set whose constants are still looked at


class Variable:
    """A parameter, result, field, name of a module or the like: a set of values that only grows."""

    __slots__ = ("copies", "is_merged", "pending", "readers", "values")

    def __init__(self) -> None:
        self.values: Values = EMPTY
        self.readers: list[int] | None = None  # operations, by their numbers in the whole program; some twice
        self.is_merged = False  # whether constants of one type are one value
        self.pending: set[Value] | None = None  # what a large variable gets with the next round
        self.copies: list[Variable] | None = None  # variables that get all that is written to this one


class Schedule:
    """Evaluate the code of functions until nothing changes, in rounds of a fixed order.

    What is evaluated in a round sees what was written before in it. So the outcome depends on the order of the code
    alone, and not on what was evaluated before the round began.
    """

    def __init__(self) -> None:
        self._now: list[tuple[int, Code]] = []
        self._next: list[Code] = []
        self._position: float = -1
        self._pending: list[Variable] = []
        self.owners: list[Code] = []  # the code that each operation of the program is of
        self.node = 0  # the operation that is evaluated, by its number in the whole program
        self.evaluations = 0  # of the code of a function, or of what changed in it
        self.rounds = 0

    def add(self, code: Code) -> None:
        """Have code evaluated again: in this round if its turn has not come."""
        if code.is_waiting:
            return
        code.is_waiting = True
        if code.position > self._position:
            heappush(self._now, (code.position, code))
        else:
            self._next.append(code)

    def take(self) -> Code | None:
        """Take what is to be evaluated next; None where nothing is."""
        if not self._now:
            self._add_pending()
            if not self._next:
                self._position = -1
                return None
            self.rounds += 1
            self._now = sorted((code.position, code) for code in self._next)
            self._next = []
        self._position, code = heappop(self._now)
        code.is_waiting = False
        self.evaluations += 1
        return code

    def read(self, variable: Variable) -> Values:
        """Read a variable: the operation that is evaluated is evaluated again when it grows."""
        readers = variable.readers
        if readers is None:
            variable.readers = [self.node]
        elif readers[-1] != self.node:
            readers.append(self.node)
        return variable.values

    def write(self, variable: Variable, values: Values) -> None:
        """Add values to a variable; more than MOST_VALUES together are written as too many."""
        before = variable.values
        if values is before or values <= before:
            return
        if len(values) > MOST_VALUES:
            values = merge_constants(values) if len(values) < _MOST_MERGED else MANY
            if len(values) > MOST_VALUES:
                values = MANY
        elif variable.is_merged:
            values = merge_constants(values)
        after = before | values
        if len(after) > MOST_VALUES and not variable.is_merged:
            variable.is_merged = True
            after = merge_constants(after)
        if after == before:
            return
        if len(before) > _MOST_AT_ONCE:
            if variable.pending is None:
                variable.pending = set()
                self._pending.append(variable)
            variable.pending |= values
            return
        self._grow(variable, after if before else values, values)

    def _add_pending(self) -> None:
        """Add to large variables what was written to them in a round: one by one, each value would be a set of all."""
        self._position = inf  # what reads them comes with the next round
        waiting, self._pending = self._pending, []
        for variable in waiting:
            pending, variable.pending = variable.pending or set(), None
            after = variable.values | pending
            if len(after) > len(variable.values):
                self._grow(variable, after, frozenset(pending))

    def _grow(self, variable: Variable, after: Values, added: Values) -> None:
        variable.values = after
        for other in variable.copies or ():
            self.write(other, added)
        owners = self.owners
        for node in variable.readers or ():
            code = owners[node]
            code.dirty.add(node - code.base)
            if not code.is_waiting:
                self.add(code)

    def copy(self, variable: Variable, other: Variable) -> None:
        """Have all that is written to a variable written to another as well."""
        if variable.copies is None:
            variable.copies = []
        variable.copies.append(other)
        if variable.values:
            self.write(other, variable.values)
