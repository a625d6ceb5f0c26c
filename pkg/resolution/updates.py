"""Resolve a repository of which some files were edited, by the records of the resolution before (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pkg.local_errors import LocalErrors
from pkg.resolution.machine import Machine
from pkg.resolution.module_records import ModuleRecord, record_all, unpack_facts
from pkg.resolution.program import Program
from pkg.resolution.recorded_names import OutdatedNameError, RecordedNames
from pkg.resolution.replay import ReplaySchedule
from pkg.resolution.static_facts import EVERYTHING, find_changed, list_facts, list_special, spread_changed
from pkg.resolution.variables import Home
from pkg.units import UnitText


@dataclass(frozen=True, slots=True)
class Update:
    """Edited files that were resolved, with the others for which that changed anything."""

    machine: Machine
    schedule: ReplaySchedule
    paths: list[str]  # of the files whose links may have changed


def record_resolution(machine: Machine) -> dict[str, ModuleRecord]:
    """Return the records of all modules that were resolved from nothing, when their links were listed."""
    program, schedule = machine.program, machine.schedule
    names = RecordedNames(program, machine.attributes, machine.library)
    return record_all([program.shared, *program.modules.values()], schedule, names)


class Records(Mapping[str, ModuleRecord]):
    """The records of all modules, read when they are wanted."""

    def __init__(self, packed: Mapping[str, tuple[bytes, bytes]]) -> None:
        """Take by path what a record packs: facts and flows."""
        self._packed = packed
        self._read: dict[str, ModuleRecord] = {}
        self._facts: dict[str, tuple[list[str], dict[str, int]]] = {}

    def __getitem__(self, path: str) -> ModuleRecord:
        """Return the record of a path."""
        found = self._read.get(path)
        if found is None:
            found = self._read[path] = ModuleRecord.unpack(*self._packed[path])
        return found

    def __iter__(self) -> Iterator[str]:
        """Yield the paths."""
        return iter(self._packed)

    def __len__(self) -> int:
        """Count the records."""
        return len(self._packed)

    def read_facts(self, path: str) -> tuple[list[str], dict[str, int]]:
        """Return what a module looked up, and what others may look up of it."""
        found = self._facts.get(path)
        if found is None:
            found = self._facts[path] = unpack_facts(self._packed[path][0])
        return found


def resolve_edited(
    units: Mapping[str, UnitText], package: str, errors: LocalErrors, records: Records,
    edited: Iterable[str],
) -> Update | None:  # fmt: skip
    """Resolve edited files; None where everything is to be resolved again, for files came or went, or classes moved.

    records: by path, of all files, and under "" of what belongs to none.
    """
    if records.keys() - {""} != units.keys() or "" not in records:
        return None
    homes: dict[str, Home] = {}
    schedule = ReplaySchedule(homes, records.__getitem__)
    program = Program(units, package, errors, schedule)
    if program.modules.keys() != units.keys():
        return None
    homes.update(program.modules)
    homes[""] = program.shared
    machine = Machine(program)
    machine.prepare()
    names = RecordedNames(program, machine.attributes, machine.library)
    paths = _find_affected(program, names, records, set(edited))
    if paths is None:
        machine.release()
        return None
    schedule.prepare(names, machine.evaluate_again)
    try:
        schedule.replay(program.modules[path] for path in sorted(paths))
    except OutdatedNameError:
        machine.release()
        return None
    return Update(machine, schedule, sorted(home.path for home in schedule.live if home.path))


def _find_affected(program: Program, names: RecordedNames, records: Records, edited: set[str]) -> set[str] | None:
    """Find the edited files, and those that looked up what these no longer say; None where that is nearly all."""
    facts = {path: list_facts(program.modules[path], names.codes) for path in edited}
    found, waiting, changed = set(edited), set(edited), set[str]()
    while waiting:
        new = set[str]().union(*(find_changed(records.read_facts(path)[1], facts[path]) for path in waiting)) - changed
        if EVERYTHING in new:
            return None
        changed |= new
        looked_up = spread_changed(new, program, names.codes)
        waiting = {
            path for path in records
            if path and path not in found and looked_up and not looked_up.isdisjoint(records.read_facts(path)[0])
        }  # fmt: skip
        facts.update((path, list_facts(program.modules[path], names.codes)) for path in waiting)
        found |= waiting
    edited_facts = [records.read_facts(path)[1] for path in facts]
    gone = list_special(name for each in edited_facts for name in each)
    came = list_special(name for each in facts.values() for name in each)
    if gone == came:
        return found
    others = list_special(name for path in records if path not in facts for name in records.read_facts(path)[1])
    return found if gone ^ came <= others else None
