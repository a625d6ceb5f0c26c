"""Solve again the modules for which an edit changes anything, and only those (A-12).

The rounds of the resolution before are replayed. A module is live where it is solved again: from the first round on if
it was edited, and as soon as what it receives, or sees of others, is no longer what it was. All other modules did in
the resolution before what they would do now; what they show and send stands in their records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pkg.resolution.module_records import ModuleRecord, Names, SetNames, begin_record
from pkg.resolution.program import ModuleInfo
from pkg.resolution.recorded_names import RecordedNames, find_container
from pkg.resolution.value_sets import EMPTY, Container, Value, Values
from pkg.resolution.variables import Home, Schedule, Variable

Written = dict[Variable, set[Value]]
_TURN = ("home", "node", "consulted", "_now", "_here", "_after", "_position", "_sending")
"""What a schedule has of the module that is evaluated, while another one may have its turn in between."""


@dataclass(slots=True)
class _Live:
    """A module that is solved again."""

    record: ModuleRecord  # of the resolution before
    evaluated: int = -1  # the last round in which it was evaluated
    published: int = -1  # the last round whose changes it has got and shown
    sent: dict[int, dict[Home, Written]] = field(default_factory=dict)  # by round, and the module it is for
    reads: set[Variable] = field(default_factory=set)  # variables of others
    due: dict[int, set[Variable]] = field(default_factory=dict)  # by round, those of these that change in it
    shown: dict[Variable, list[tuple[int, Values]]] = field(default_factory=dict)  # what it showed, by variable
    changes: dict[int, dict[str, Names]] = field(default_factory=dict)  # and by round and name
    before: dict[int, dict[str, Names]] = field(default_factory=dict)  # the same in the resolution before

    def __post_init__(self) -> None:
        for name in self.record.readers:
            for at, values in self.record.shown[name]:
                self.before.setdefault(at, {})[name] = values


class ReplaySchedule(Schedule):
    """Evaluate the code of live modules, round by round, against the records of all others."""

    def __init__(
        self, homes: Mapping[str, Home], find_record: Callable[[str], ModuleRecord], gone: Mapping[str, ModuleRecord]
    ) -> None:
        """Take modules by path, what finds the records of these, and the records of modules that are gone."""
        super().__init__()
        self._gone = gone
        self.live: dict[Home, _Live] = {}
        self._homes = homes
        self._find_record = find_record
        self._now = 0  # the round in which a module is evaluated
        self._opened: set[Container] = set()  # those whose items are known by a record
        self._items: dict[str, dict[str, list[str]]] = {}  # by path and container, the names of its variables
        self._kept: dict[Variable, list[tuple[int, Names]]] = {}  # what modules that are not live showed, where asked

    def prepare(self, names: RecordedNames, run: Callable[[Home], None]) -> None:
        """Take names for what is in records, and what evaluates a module."""
        self.names = names
        self.sets = SetNames(names)
        self._run = run

    # What live modules see.

    def read(self, variable: Variable) -> Values:
        """Read a variable: the operation that is evaluated is evaluated again when it grows."""
        shown, home = super().read(variable), self.home
        if variable.home is home or home is None:
            return shown
        live = self.live[home]
        if variable not in live.reads:
            live.reads.add(variable)
            for at in self._list_times(variable):
                if at >= self._now:
                    live.due.setdefault(at, set()).add(variable)
        return self._view(variable)

    def open_items(self, container: Container) -> dict[object, Variable]:
        """Return the variables of the constant keys of a container; where its module is not live, by its record."""
        home = container.code.module
        if home not in self.live and container not in self._opened:
            self._opened.add(container)
            items = self._items.get(home.path)
            if items is None:
                items = self._items[home.path] = {}
                for name in self._find_record(home.path).shown:
                    owner = find_container(name)
                    if owner is not None:
                        items.setdefault(owner, []).append(name)
            for name in items.get(self.names.spell_container(container), ()):
                self.names.find_variable(home, name)
        return container.keyed

    def see(self, variable: Variable) -> Values:
        """Return what the module that is evaluated sees of a variable, without being told when it grows."""
        return variable.values if variable.home is self.home or self.home is None else self._view(variable)

    def _view(self, variable: Variable) -> Values:
        """Return what others see of a variable in the round in which the module is evaluated."""
        live = self._find_live(variable)
        if live is not None:
            shown = live.shown.get(variable)
            if shown is None:
                return variable.shown
            return next((values for at, values in reversed(shown) if at < self._now), EMPTY)
        kept = [names for at, names in self._kept[variable] if at < self._now]
        return frozenset(map(self.names.find_value, kept[-1])) if kept else variable.shown

    def _list_times(self, variable: Variable) -> list[int]:
        """List the rounds in which a variable changes, as far as they are known."""
        live = self._find_live(variable)
        return [at for at, _ in (self._kept[variable] if live is None else live.shown.get(variable, ()))]

    def _find_live(self, variable: Variable) -> _Live | None:
        """Find the module of a variable, if it is live or becomes so; None where its record tells what it shows."""
        home = variable.home
        live = self.live.get(home)
        if live is None:
            if variable in self._kept or self._is_told(variable):
                return None
            live = self._enliven(home)
        self._advance(home, self._now - 1)
        return live

    def _is_told(self, variable: Variable) -> bool:
        """Return whether the record of its module says what a variable showed: it does where anyone else read it."""
        record = self._find_record(variable.home.path)
        history = record.shown.get(self.names.name_variable(variable))
        if history is None and isinstance(variable.owner, Container):
            each = variable.owner
            held = (each.everything, each.rest, each.keys, *each.keyed.values())
            if any(self.names.name_variable(other) in record.shown for other in held if other is not None):
                history = []  # of a container all are told, or none
        if history is not None:
            self._kept[variable] = history
        return history is not None

    # Rounds.

    def list_touched(self) -> list[Home]:
        """List the modules that read variables of modules that are gone, or received anything from them."""
        paths: set[str] = set()
        for record in self._gone.values():
            paths.update(record.writes, *record.readers.values())
        return [home for path, home in sorted(self._homes.items()) if path in paths]

    def replay(self, edited: Iterable[Home]) -> None:
        """Solve edited modules again, and all others for which that changes anything."""
        for home in edited:
            self._enliven(home)
        while self._has_work():
            at = self.rounds
            self._evaluate_all(at)
            while changed := self._list_receivers(at):
                for home in changed:
                    self._enliven(home)
                self._evaluate_all(at)
            for home in self._list_live():
                self._publish(home, self.live[home])
            while changed := self._list_readers(at):
                for home in changed:
                    self._enliven(home)
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

    def _enliven(self, home: Home) -> _Live:
        """Have a module solved again."""
        found = self.live.get(home)
        if found is None:
            found = self.live[home] = _Live(self._find_record(home.path))
            for live in self.live.values():  # they are told when it shows anything
                for at, variables in live.due.items():
                    live.due[at] = {each for each in variables if each.home is not home}
            for code in getattr(home, "codes", ()):
                code.is_waiting = True
                home.waiting.append(code)
        return found

    def _evaluate_all(self, at: int) -> None:
        """Evaluate all live modules in a round, and what others become live by that."""
        self._advance_all(at - 1)
        while behind := [home for home in self._list_live() if self.live[home].evaluated < at]:
            for home in behind:
                self._advance(home, at - 1)
                self._evaluate(home, self.live[home])

    def _advance_all(self, at: int) -> None:
        while behind := [home for home in self._list_live() if self.live[home].published < at]:
            first = min(behind, key=lambda home: self.live[home].published)
            self._advance(first, self.live[first].published + 1)

    def _advance(self, home: Home, at: int) -> None:
        """Go on with a module until it has shown what changes in a round."""
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
        """Add what a module received in a round, and show what has changed."""
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
        """List what a module received in a round, by its record from those that are not live."""
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

    # What is no longer as it was.

    def _list_receivers(self, at: int) -> list[Home]:
        """List modules that are not live, and receive in a round something else than they did."""
        found: list[Home] = []
        for home, live in self.live.items():
            sent = live.sent.get(at, {})
            for owner in {*sent, *self._find_homes(live.record.writes)} - self.live.keys():
                before = self._find_record(owner.path).received.get(home.path, {}).get(at, {})
                if self._name_written(sent.get(owner, {})) != before:
                    found.append(owner)
        return found

    def _find_homes(self, paths: Iterable[str]) -> list[Home]:
        """Find the modules of some paths that are not gone."""
        return [self._homes[path] for path in paths if path not in self._gone]

    def _name_written(self, written: Written) -> dict[str, Names]:
        return {self.names.name_variable(each): self.sets.name(frozenset(values)) for each, values in written.items()}

    def _list_readers(self, at: int) -> list[Home]:
        """List modules that are not live, and read a variable that shows in a round something else than it did."""
        found: set[Home] = set()
        for live in self.live.values():
            now, before = live.changes.get(at, {}), live.before.get(at, {})
            for name in now.keys() | before.keys():
                if now.get(name) != before.get(name):
                    found.update(self._find_homes(live.record.readers.get(name, ())))
        return [home for home in found if home not in self.live]

    # Afterwards.

    def look_from(self, module: ModuleInfo) -> None:
        """See variables as the code of a live module does when everything is done."""
        super().look_from(module)
        self._now = self.rounds

    def record(self) -> dict[str, ModuleRecord]:
        """Return the records of live modules, and those of others that have changed: of which other modules read."""
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
        """Copy the record of a module that is not live, without the readers that are."""
        found = records.get(path)
        if found is None:
            before = self._find_record(path)
            found = records[path] = replace(before, readers=_leave_out(before.readers, paths))
        return found

    def _complete(self, home: Home, record: ModuleRecord) -> None:
        """Fill in what a module shows: the variables that others read, and all of a container of which one is read."""
        live = self.live.get(home)
        if live is None:
            told = self._find_record(home.path).shown
        else:
            told = {}
            for at in sorted(live.changes):
                for name, values in live.changes[at].items():
                    told.setdefault(name, []).append((at, values))
        owners = {find_container(name) for name in record.readers} - {None}
        record.shown = {name: told.get(name, []) for name in record.readers}
        if owners:
            record.shown.update((name, each) for name, each in told.items() if find_container(name) in owners)


def _leave_out(readers: Mapping[str, list[str]], paths: set[str]) -> dict[str, list[str]]:
    found = {name: [each for each in known if each not in paths] for name, known in readers.items()}
    return {name: known for name, known in found.items() if known}
