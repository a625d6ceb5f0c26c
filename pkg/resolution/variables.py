"""Variables hold values across functions; a schedule evaluates their readers in rounds (A-12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pkg.resolution.value_sets import (
    EMPTY,
    MANY,
    MOST_VALUES,
    Container,
    Value,
    Values,
    bound,
    is_large,
    make_sort_key,
    merge_alike,
)

if TYPE_CHECKING:
    from pkg.resolution.program import Code, ModuleInfo

PARAMETER, RESULT, YIELDED, CELL, CASE, DEFAULT, SUBSTITUTES = "p", "r", "y", "c", "k", "d", "s"  # of code
MEMBER, FIELD, FACTORIES, FOREIGN = "m", "f", "o", "a"  # of classes
EVERYTHING, REST, KEYS, ITEM = "e", "q", "w", "i"  # of containers
NAME, CHANGED = "n", "x"  # of modules, and of names of attributes

_MOST_AT_ONCE = 32  # largest set that is extended value by value

Key = TypeVar("Key")
Made = TypeVar("Made")


def _ignore(code: Code, values: Values) -> None:
    pass


class Home:
    """A module as owner of variables: its code sees writes to them at once, other code a round later."""

    __slots__ = ("changed", "consulted", "due", "path", "waiting", "written")

    def __init__(self, path: str) -> None:
        self.path = path
        self.waiting: list[Code] = []  # code to be evaluated with the next round
        self.due: dict[Variable, Values] = {}  # pending values of the copies of variables
        self.written: dict[Variable, Values] = {}  # values written to variables of other modules
        self.changed: list[Variable] = []  # since the last round
        self.consulted: set[object] = set()  # keys of the lookups of its code


class Variable:
    """A parameter, result, field, module name or similar: a set of values that only grows."""

    __slots__ = (
        "copies", "home", "is_changed", "is_merged", "kind", "others", "owner", "part", "readers", "shown", "values",
    )  # fmt: skip

    def __init__(self, home: Home, owner: object, kind: str, part: object = "") -> None:
        self.home = home
        self.owner = owner  # code, class, module or container
        self.kind = kind  # a letter of those above, by owner
        self.part = part  # position, name or key among variables of this kind
        self.values: Values = EMPTY
        self.shown: Values = EMPTY  # values seen by other modules
        self.readers: list[int] | None = None  # operations of its module, by number in the program; may repeat
        self.others: list[int] | None = None  # operations of other modules
        self.is_merged = False  # whether constants of one type are one value
        self.is_changed = False  # since the last round
        self.copies: list[Variable] | None = None  # variables that receive all values of this one

    def preset(self, values: Values) -> None:
        """Set the initial values of the variable."""
        self.values = self.shown = values


Sent = tuple[Home, dict[Variable, set[Value]]]
"""A module, and the values that it wrote to variables of others."""
Kept = tuple[Home, dict[Variable, tuple[Value, ...]]]
"""`Sent` with tuples, which take a third of the memory of sets."""


class Round(NamedTuple):
    """Changes of a round."""

    sent: list[Kept]
    shown: list[tuple[Variable, Values]]  # changed variables


def open_container(container: Container) -> Container:
    """Create the variables of a container, once."""
    if container.everything is None:
        home = container.code.module
        container.everything = Variable(home, container, EVERYTHING)
        container.rest = Variable(home, container, REST)
        container.keys = Variable(home, container, KEYS)
    return container


def find_key(container: Container, key: object) -> Variable:
    """Return the variable of a constant key of a container, created on first use."""
    found = container.keyed.get(key)
    if found is None:
        found = container.keyed[key] = Variable(container.code.module, container, ITEM, key)
    return found


class Substitutes(Variable):
    """Receiver classes of calls of a method, whose subclasses may override it."""

    __slots__ = ("code",)

    def __init__(self, code: Code) -> None:
        super().__init__(code.module, code, SUBSTITUTES)
        self.code = code
        self.copies = []


class Schedule:
    """Order of evaluation, in rounds until nothing changes.

    In a round each module is evaluated by itself, in source order, until nothing changes inside it. Values that
    it writes to variables of other modules are added between rounds, and it sees their variables as they were
    before the round. So a round of a module depends only on its own code and on the values that it was shown,
    and not on the order of modules.
    """

    def __init__(self) -> None:
        self.home: Home | None = None  # being evaluated
        self.consulted: set[object] = set()  # keys of its lookups: names, or classes and names
        self.owners: list[Code] = []  # code of each operation of the program
        self.node = 0  # operation being evaluated, by number in the program
        self.cut: dict[Variable, int] = {}  # first operation of its module that made a variable large
        self.evaluations = 0  # of frames, complete or of changed operations
        self.rounds = 0
        self._here: list[tuple[int, Code]] = []  # worklist of the current module, by position
        self._after: list[Code] = []  # worklist after that one
        self._sets: dict[Values, Values] = {}  # shown sets, equal ones as one object
        self._bounded: dict[Values, Values] = {}  # bounded forms of the large sets of this round
        self._position = -1
        self._waiting: set[Home] = set()
        self._changed: list[Home] = []  # modules with changed variables since the last round
        self._sent: list[Sent] = []  # of this round
        self._sending: dict[Variable, set[Value]] = {}
        self.read_by_others: list[Variable] = []  # variables with readers in other modules
        self.history: list[Round] = []  # of all rounds
        self.substitute: Callable[[Code, Values], None] = _ignore  # called with a method and its receiver classes

    # Worklist.

    def take_round(self) -> list[Home]:
        """Begin a round, and return the modules to evaluate; none after the last one."""
        found, self._waiting = sorted(self._waiting, key=lambda home: home.path), set()
        self.rounds += bool(found)
        return found

    def enter(self, home: Home) -> None:
        """Begin the evaluation of a module."""
        self.home = home
        self.consulted = home.consulted
        waiting, home.waiting = home.waiting, []
        self._here = sorted((code.position, code) for code in waiting)
        self._position = -1
        due, home.due = home.due, {}
        for variable, values in due.items():
            self._hand_on(variable, values)

    def leave(self) -> None:
        """End the evaluation of a module."""
        home, self.home, self.consulted = self.home, None, set()
        sending, self._sending = self._sending, {}
        if sending and home is not None:
            self._sent.append((home, sending))

    def add(self, code: Code) -> None:
        """Schedule code to be evaluated again: in this round if it is of the current module."""
        if code.is_waiting:
            return
        code.is_waiting = True
        home = code.module
        if home is not self.home:
            home.waiting.append(code)
            self._waiting.add(home)
        elif code.position > self._position:
            heappush(self._here, (code.position, code))
        else:
            self._after.append(code)

    def take(self) -> Code | None:
        """Return the next code to evaluate in the module; None where there is none."""
        if not self._here:
            if not self._after:
                return None
            self._here = sorted((code.position, code) for code in self._after)
            self._after = []
        self._position, code = heappop(self._here)
        code.is_waiting = False
        self.evaluations += 1
        return code

    def remember(self, cache: dict[Key, tuple[Made, set[object]]], key: Key, make: Callable[[], Made]) -> Made:
        """Return a cached result, computed on first use, and repeat its recorded lookups."""
        found = cache.get(key)
        if found is None:
            before, self.consulted = self.consulted, set()
            made = make()
            found = cache[key] = made, self.consulted
            self.consulted = before
        self.consulted |= found[1]
        return found[0]

    # Reading and writing.

    def read(self, variable: Variable) -> Values:
        """Read a variable, and evaluate the current operation again when it grows."""
        if variable.home is self.home:
            readers = variable.readers
            if readers is None:
                variable.readers = [self.node]
            elif readers[-1] != self.node:
                readers.append(self.node)
            return variable.values
        others = variable.others
        if others is None:
            variable.others = [self.node]
            self.read_by_others.append(variable)
        elif others[-1] != self.node:
            others.append(self.node)
        return variable.shown

    def open_items(self, container: Container) -> dict[object, Variable]:
        """Return the variables of the constant keys of a container."""
        return container.keyed

    def see(self, variable: Variable) -> Values:
        """Return the values of a variable as the current module sees them, without subscribing to it."""
        return variable.values if variable.home is self.home else variable.shown

    def write(self, variable: Variable, values: Values) -> None:
        """Add values to a variable; a large set is bounded."""
        home = self.home
        is_own = variable.home is home
        before = variable.values if is_own else home.written.get(variable, EMPTY)  # type: ignore[union-attr]
        if values is before or values <= before:
            return
        if is_large(values):
            bounded = self._bounded.get(values)
            if bounded is None:
                bounded = self._bounded[values] = bound(values)
            values = bounded
            if is_own and values >= MANY:
                self.cut.setdefault(variable, self.node)
        if not is_own:
            home.written[variable] = before | values if before else values  # type: ignore[union-attr]
            self._sending.setdefault(variable, set()).update(values - before)
        elif len(before) <= _MOST_AT_ONCE:
            self._grow(variable, values)
        else:  # one by one, a large variable would be copied for each value
            self._sending.setdefault(variable, set()).update(values)

    def _grow(self, variable: Variable, values: Values) -> None:
        before = variable.values
        if variable.is_merged:
            values = merge_alike(values)
        after = before | values if before else values
        if len(after) > MOST_VALUES and not variable.is_merged:
            variable.is_merged = True
            after = merge_alike(after)
        if after == before:
            return
        variable.values = after
        if not variable.is_changed:
            variable.is_changed = True
            if not variable.home.changed:
                self._changed.append(variable.home)
            variable.home.changed.append(variable)
        if variable.copies is not None:
            self._hand_on(variable, after - before)
        self._wake(variable.readers or ())

    def _wake(self, readers: Iterable[int]) -> None:
        owners = self.owners
        for node in readers:
            code = owners[node]
            code.dirty.add(node - code.base)
            if not code.is_waiting:
                self.add(code)

    def end_round(self) -> None:
        """Add the values that modules sent in a round, and show the changes to all."""
        self._bounded.clear()
        sent, self._sent = self._sent, []
        self._add_all(written for _, written in sent)
        shown: list[tuple[Variable, Values]] = []
        changed, self._changed = self._changed, []
        for home in changed:
            shown += self._show(home)
        for variable, _ in shown:
            if variable.others is not None:
                self._wake(variable.others)
        self._keep(sent, shown)

    def _keep(self, sent: list[Sent], shown: list[tuple[Variable, Values]]) -> None:
        """Keep the changes of a round, for the records of modules."""
        kept = [(home, {variable: tuple(values) for variable, values in written.items()}) for home, written in sent]
        self.history.append(Round(kept, shown))

    def _add_all(self, sent: Iterable[dict[Variable, set[Value]]]) -> None:
        """Add the values of all writers to each variable at once."""
        together: dict[Variable, set[Value]] = {}
        for written in sent:
            for variable, values in written.items():
                if variable in together:
                    together[variable] = together[variable] | values
                else:
                    together[variable] = values
        for variable, values in together.items():
            self._grow(variable, frozenset(values))

    def _show(self, home: Home) -> list[tuple[Variable, Values]]:
        """Show the changed variables of a module to others."""
        changed, home.changed = home.changed, []
        sets = self._sets
        for variable in changed:
            variable.is_changed = False
            variable.values = variable.shown = sets.setdefault(variable.values, variable.values)
        return [(variable, variable.values) for variable in changed]

    def look_from(self, module: ModuleInfo) -> None:
        """Read variables on behalf of a module from now on, for its links."""
        self.home = module
        self.consulted = module.consulted
        self.node = module.codes[0].base if module.codes else 0

    # Copies.

    def copy(self, variable: Variable, other: Variable) -> None:
        """Copy all present and later values of a variable of the current module to another one."""
        if variable.copies is None:
            variable.copies = []
        variable.copies.append(other)
        self._write_all(other, variable.values)

    def _write_all(self, variable: Variable, values: Values) -> None:
        """Add any number of values to a variable."""
        if len(values) <= MOST_VALUES:
            self.write(variable, values)
        else:
            for value in sorted(values, key=make_sort_key):
                self.write(variable, frozenset((value,)))

    def _hand_on(self, variable: Variable, added: Values) -> None:
        """Write new values of a variable to its copies; between rounds, schedule that for its module."""
        if variable.home is self.home:
            if isinstance(variable, Substitutes):
                self.substitute(variable.code, added)
            for other in variable.copies or ():
                self._write_all(other, added)
            return
        home = variable.home
        home.due[variable] = home.due.get(variable, EMPTY) | added
        self._waiting.add(home)
