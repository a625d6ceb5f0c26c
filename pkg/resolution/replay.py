"""Solve only the modules that an edit affects (A-12).

The rounds of the previous resolution are replayed. A module is live if it is solved again: from the first round if it
was edited, else as soon as the values that it receives or sees differ from those of its record. All other modules
would repeat their previous rounds; the values that they show and send are read from their records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pkg.resolution.module_records import ModuleRecord, Names, SetNames, begin_record
from pkg.resolution.program import ModuleInfo
from pkg.resolution.recorded_names import RecordedNames, find_container, group_by_container
from pkg.resolution.value_sets import EMPTY, Container, Value, Values
from pkg.resolution.variables import Home, Schedule, Variable

Written = dict[Variable, set[Value]]
_TURN = ("home", "node", "consulted", "_now", "_here", "_after", "_position", "_sending")
"""State of a schedule for the evaluated module, saved while another module is evaluated."""


@dataclass(slots=True)
class _Live:
    """State of a module that is solved again."""

    record: ModuleRecord  # of the previous resolution
    evaluated: int = -1  # last round in which it was evaluated
    published: int = -1  # last round whose changes it received and showed
    sent: dict[int, dict[Home, Written]] = field(default_factory=dict)  # by round and receiving module
    reads: set[Variable] = field(default_factory=set)  # variables of other modules
    due: dict[int, set[Variable]] = field(default_factory=dict)  # changing ones among `reads`, by round
    shown: dict[Variable, list[tuple[int, Values]]] = field(default_factory=dict)  # shown values, by variable
    changes: dict[int, dict[str, Names]] = field(default_factory=dict)  # shown values, by round and name
    before: dict[int, dict[str, Names]] = field(default_factory=dict)  # `changes` of the previous resolution

    def __post_init__(self) -> None:
        for name in self.record.readers:
            for at, values in self.record.shown[name]:
                self.before.setdefault(at, {})[name] = values


class ReplaySchedule(Schedule):
    """Schedule of live modules against the records of all others."""

    def __init__(
        self, homes: Mapping[str, Home], find_record: Callable[[str], ModuleRecord], gone: Mapping[str, ModuleRecord]
    ) -> None:
        """Create a schedule; homes: modules by path; gone: records of removed modules by path."""
        super().__init__()
        self._gone = gone
        self.live: dict[Home, _Live] = {}
        self._homes = homes
        self._find_record = find_record
        self._now = 0  # round being evaluated
        self._opened: set[Container] = set()  # containers whose items were loaded from a record
        self._items: dict[str, dict[str, list[str]]] = {}  # names of variables, by path and container
        self._kept: dict[Variable, list[tuple[int, Names]]] = {}  # shown values of modules that are not live

    def prepare(self, names: RecordedNames, run: Callable[[Home], None]) -> None:
        """Set the names of records, and the function that evaluates a module."""
        self.names = names
        self.sets = SetNames(names)
        self._run = run

    # Reads of live modules.

    def read(self, variable: Variable) -> Values:
        """Read a variable, and evaluate the current operation again when it grows."""
        shown, home = super().read(variable), self.home
        if variable.home is home or home is None:
            return shown
        live = self.live[home]
        if variable not in live.reads:
            live.reads.add(variable)
            owner = self._find_live(variable)
            for at, _ in self._kept[variable] if owner is None else owner.shown.get(variable, ()):
                if at >= self._now:
                    live.due.setdefault(at, set()).add(variable)
        return self._view(variable)

    def open_items(self, container: Container) -> dict[object, Variable]:
        """Return the variables of the constant keys of a container, from a record if its module is not live."""
        home = container.code.module
        if home not in self.live and container not in self._opened:
            self._opened.add(container)
            if home.path not in self._items:
                self._items[home.path] = group_by_container(self._find_record(home.path).shown)
            for name in self._items[home.path].get(self.names.spell_container(container), ()):
                self.names.find_variable(home, name)
        return container.keyed

    def see(self, variable: Variable) -> Values:
        """Return the values of a variable as the current module sees them, without subscribing to it."""
        return variable.values if variable.home is self.home or self.home is None else self._view(variable)

    def _view(self, variable: Variable) -> Values:
        """Return the values of a variable of another module in the current round."""
        live = self._find_live(variable)
        if live is not None:
            shown = live.shown.get(variable)
            if shown is None:
                return variable.shown
            return next((values for at, values in reversed(shown) if at < self._now), EMPTY)
        kept = [names for at, names in self._kept[variable] if at < self._now]
        return frozenset(map(self.names.find_value, kept[-1])) if kept else variable.shown

    def _find_live(self, variable: Variable) -> _Live | None:
        """Return the live module of a variable, made live unless its record has the variable; None where it has."""
        home = variable.home
        live = self.live.get(home)
        if live is None:
            if variable in self._kept or self._is_recorded(variable):
                return None
            live = self._make_live(home)
        self._advance(home, self._now - 1)
        return live

    def _is_recorded(self, variable: Variable) -> bool:
        """Return whether a record has the shown values of a variable: it has if another module read it."""
        record = self._find_record(variable.home.path)
        history = record.shown.get(self.names.name_variable(variable))
        if history is None and isinstance(variable.owner, Container):
            each = variable.owner
            held = (each.everything, each.rest, each.keys, *each.keyed.values())
            if any(self.names.name_variable(other) in record.shown for other in held if other is not None):
                history = []  # a record has all variables of a container, or none
        if history is not None:
            self._kept[variable] = history
        return history is not None

    # Rounds.

    def list_touched(self) -> list[Home]:
        """List the modules that read or received values from removed modules."""
        paths: set[str] = set()
        for record in self._gone.values():
            paths.update(record.writes, *record.readers.values())
        return [home for path, home in sorted(self._homes.items()) if path in paths]

    def replay(self, edited: Iterable[Home]) -> None:
        """Solve edited modules and all modules that they affect."""
        for home in edited:
            self._make_live(home)
        while self._has_work():
            at = self.rounds
            self._evaluate_all(at)
            while changed := self._list_receivers(at):
                for home in changed:
                    self._make_live(home)
                self._evaluate_all(at)
            for home in self._list_live():
                self._publish(home, self.live[home])
            while changed := self._list_readers(at):
                for home in changed:
                    self._make_live(home)
                self._advance_all(at)
            self.rounds += 1
            self._now = self.rounds

    def _has_work(self) -> bool:
        at = self.rounds
        return any(
            home.waiting or home.due or live.record.last >= at or any(each >= at - 1 for each in live.due)
            for home, live in self.live.items()
        )

    def _list_live(self) -> list[Home]:
        return sorted(self.live, key=lambda home: home.path)

    def _make_live(self, home: Home) -> _Live:
        """Make a module live."""
        found = self.live.get(home)
        if found is None:
            found = self.live[home] = _Live(self._find_record(home.path))
            for live in self.live.values():  # now woken by what it shows
                for at, variables in live.due.items():
                    live.due[at] = {each for each in variables if each.home is not home}
            for code in getattr(home, "codes", ()):
                code.is_waiting = True
                home.waiting.append(code)
        return found

    def _evaluate_all(self, at: int) -> None:
        """Evaluate all live modules in a round, those that become live in it included."""
        self._advance_all(at - 1)
        while late := [home for home in self._list_live() if self.live[home].evaluated < at]:
            for home in late:
                self._advance(home, at - 1)
                self._evaluate(home, self.live[home])

    def _advance_all(self, at: int) -> None:
        while late := [home for home in self._list_live() if self.live[home].published < at]:
            first = min(late, key=lambda home: self.live[home].published)
            self._advance(first, self.live[first].published + 1)

    def _advance(self, home: Home, at: int) -> None:
        """Evaluate a module until it has shown its changes of a round."""
        live = self.live[home]
        while live.published < at:
            if live.evaluated == live.published:
                self._evaluate(home, live)
            self._publish(home, live)

    def _evaluate(self, home: Home, live: _Live) -> None:
        at = live.evaluated + 1
        for other in {each.home for each in live.reads}:
            if other in self.live:
                self._advance(other, at - 1)
        before = {name: vars(self)[name] for name in _TURN}
        self.home, self._here, self._after, self._sending, self._now = None, [], [], {}, at
        for each in [each for each in live.due if each < at]:
            for variable in live.due.pop(each):
                self._wake(node for node in variable.others or () if self.owners[node].module is home)
        if home.waiting or home.due:
            self._run(home)
            for _, written in self._sent:
                for variable, values in written.items():
                    live.sent.setdefault(at, {}).setdefault(variable.home, {})[variable] = values
            self._sent.clear()
        vars(self).update(before)
        live.evaluated = at

    def _publish(self, home: Home, live: _Live) -> None:
        """Add the values that a module received in a round, and show its changes."""
        at = live.published + 1
        before, self.home = self.home, None
        presets = {variable: variable.shown for variable in home.changed}
        received = list(self._list_received(home, live, at))
        for written in received:
            presets.update((variable, variable.shown) for variable in written)
        self._add_all(received)
        self._changed.clear()
        for variable, values in self._show(home):
            shown = live.shown.setdefault(variable, [(-1, presets[variable])])
            shown.append((at, values))
            live.changes.setdefault(at, {})[self.names.name_variable(variable)] = self.sets.name(values)
            for reader in {self.owners[node].module for node in variable.others or ()}:
                if self.live[reader].evaluated <= at:
                    self.live[reader].due.setdefault(at, set()).add(variable)
        live.published = at
        self.home = before

    def _list_received(self, home: Home, live: _Live, at: int) -> Iterator[Written]:
        """Iterate over the values received in a round, from the record where the sender is not live."""
        for path, rounds in live.record.received.items():
            state = self.live.get(self._homes[path]) if path not in self._gone else None
            if path not in self._gone and at in rounds and (state is None or state.evaluated < at):
                yield {
                    self.names.find_variable(home, name): set(map(self.names.find_value, values))
                    for name, values in rounds[at].items()
                }
        for state in self.live.values():
            if home in state.sent.get(at, ()):
                yield state.sent[at][home]

    # Differences to the previous resolution.

    def _list_receivers(self, at: int) -> list[Home]:
        """List modules, not live, whose received values of a round differ from their records."""
        found: list[Home] = []
        for home, live in self.live.items():
            sent = live.sent.get(at, {})
            for owner in {*sent, *self._find_homes(live.record.writes)} - self.live.keys():
                before = self._find_record(owner.path).received.get(home.path, {}).get(at, {})
                if self._name_written(sent.get(owner, {})) != before:
                    found.append(owner)
        return found

    def _find_homes(self, paths: Iterable[str]) -> list[Home]:
        """Return the modules of paths that were not removed."""
        return [self._homes[path] for path in paths if path not in self._gone]

    def _name_written(self, written: Written) -> dict[str, Names]:
        return {self.names.name_variable(each): self.sets.name(frozenset(values)) for each, values in written.items()}

    def _list_readers(self, at: int) -> list[Home]:
        """List modules, not live, that read a variable whose shown values of a round differ."""
        found: set[Home] = set()
        for live in self.live.values():
            now, before = live.changes.get(at, {}), live.before.get(at, {})
            for name in now.keys() | before.keys():
                if now.get(name) != before.get(name):
                    found.update(self._find_homes(live.record.readers.get(name, ())))
        return [home for home in found if home not in self.live]

    # Results.

    def look_from(self, module: ModuleInfo) -> None:
        """See variables as a live module does after solving."""
        super().look_from(module)
        self._now = self.rounds

    def record(self) -> dict[str, ModuleRecord]:
        """Return the new records of live modules, and of others whose readers changed."""
        paths = {home.path for home in self.live}
        past = paths | self._gone.keys()
        readers: dict[Variable, set[str]] = {}
        for home, live in self.live.items():
            for variable in live.reads:
                readers.setdefault(variable, set()).add(home.path)
        records = {home.path: self._record_live(home, live, past) for home, live in self.live.items()}
        for variable, found in readers.items():
            if variable.home in self.live:
                record = records[variable.home.path]
            else:
                record = self._copy_record(variable.home.path, past, records)
            name = self.names.name_variable(variable)
            record.readers[name] = sorted({*record.readers.get(name, ()), *found})
        for before in (*(live.record for live in self.live.values()), *self._gone.values()):
            for path in {*before.reads} - past:
                self._copy_record(path, past, records)
        for path, record in records.items():
            self._complete(self._homes[path], record)
        return {path: each for path, each in records.items() if path in paths or each != self._find_record(path)}

    def _record_live(self, home: Home, live: _Live, paths: set[str]) -> ModuleRecord:
        record = begin_record(home, self.names)
        record.readers = _leave_out(live.record.readers, paths)
        record.received = {path: each for path, each in live.record.received.items() if path not in paths}
        record.reads = sorted({each.home.path for each in live.reads})
        record.writes = sorted({each.path for sent in live.sent.values() for each in sent if each is not home})
        for writer, state in self.live.items():
            for at, sent in state.sent.items() if writer is not home else ():
                if home in sent:
                    record.received.setdefault(writer.path, {})[at] = self._name_written(sent[home])
        times = [at for rounds in record.received.values() for at in rounds]
        record.last = max((*times, *live.sent, *live.changes), default=-1)
        return record

    def _copy_record(self, path: str, paths: set[str], records: dict[str, ModuleRecord]) -> ModuleRecord:
        """Copy the record of a module that is not live, without live readers."""
        found = records.get(path)
        if found is None:
            before = self._find_record(path)
            found = records[path] = replace(before, readers=_leave_out(before.readers, paths))
        return found

    def _complete(self, home: Home, record: ModuleRecord) -> None:
        """Fill in the shown values of a module: variables that others read, with all of a container."""
        live = self.live.get(home)
        if live is None:
            histories = self._find_record(home.path).shown
        else:
            histories = {}
            for at in sorted(live.changes):
                for name, values in live.changes[at].items():
                    histories.setdefault(name, []).append((at, values))
        owners = {find_container(name) for name in record.readers} - {None}
        record.shown = {name: histories.get(name, []) for name in record.readers}
        if owners:
            record.shown.update((name, each) for name, each in histories.items() if find_container(name) in owners)


def _leave_out(readers: Mapping[str, list[str]], paths: set[str]) -> dict[str, list[str]]:
    found = {name: [each for each in known if each not in paths] for name, known in readers.items()}
    return {name: known for name, known in found.items() if known}
