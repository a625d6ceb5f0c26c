"""Resolve a repository of which some files were edited, by the records of the resolution before (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pkg.local_errors import LocalErrors
from pkg.resolution.machine import Machine
from pkg.resolution.module_records import ModuleRecord, record_all
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


def resolve_edited(
    units: Mapping[str, UnitText], package: str, errors: LocalErrors, records: Mapping[str, ModuleRecord],
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


def _find_affected(
    program: Program, names: RecordedNames, records: Mapping[str, ModuleRecord], edited: set[str]
) -> set[str] | None:
    """Find the edited files, and those that looked up what these no longer say; None where that is nearly all."""
    facts = {path: list_facts(program.modules[path], names.codes) for path in edited}
    found, waiting, changed = set(edited), set(edited), set[str]()
    while waiting:
        new = set[str]().union(*(find_changed(records[path].facts, facts[path]) for path in waiting)) - changed
        if EVERYTHING in new:
            return None
        changed |= new
        looked_up = spread_changed(new, program, names.codes)
        waiting = {
            path for path, record in records.items()
            if path and path not in found and not looked_up.isdisjoint(record.consulted)
        }  # fmt: skip
        facts.update((path, list_facts(program.modules[path], names.codes)) for path in waiting)
        found |= waiting
    special = list_special(name for path, record in records.items() for name in facts.get(path, record.facts))
    before = list_special(name for record in records.values() for name in record.facts)
    return found if special == before else None
