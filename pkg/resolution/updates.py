"""Resolve a repository of which some files were edited, by the records of the resolution before (A-12)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import dataclass

from pkg.local_errors import LocalErrors
from pkg.resolution.machine import Machine
from pkg.resolution.module_records import ModuleRecord, record_all, unpack_facts
from pkg.resolution.program import Program
from pkg.resolution.recorded_names import CodeNames, OutdatedNameError, RecordedNames
from pkg.resolution.replay import ReplaySchedule
from pkg.resolution.static_facts import (
    EVERYTHING,
    find_changed,
    hash_imported,
    list_facts,
    list_heads,
    list_special,
    spread_changed,
)
from pkg.resolution.variables import Home
from pkg.units import UnitText

_INIT = "__init__.py"


@dataclass(frozen=True, slots=True)
class Update:
    """Edited files that were resolved, with the others for which that changed anything."""

    machine: Machine
    schedule: ReplaySchedule
    paths: list[str]  # of the files whose links may have changed


def record_resolution(machine: Machine) -> dict[str, ModuleRecord]:
    """Return the records of all modules that were resolved from nothing, when their links were listed."""
    program, schedule = machine.program, machine.schedule
    names = RecordedNames(program, machine.attributes)
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
        """Return what a module looked up, and what its classes are derived from."""
        found = self._facts.get(path)
        if found is None:
            found = self._facts[path] = unpack_facts(self._packed[path][0])
        return found


def resolve_edited(
    units: Mapping[str, UnitText], package: str, errors: LocalErrors, records: Records,
    before: Mapping[str, UnitText],
) -> Update | None:  # fmt: skip
    """Resolve files that were edited, came or went; None where everything is to be resolved again, as for new packages.

    records: by path, of all files as they were, and under "" of what belongs to none. before: files that were edited or
    went, as they were.
    """
    moved = units.keys() ^ (records.keys() - {""})
    if "" not in records or any(path.rpartition("/")[2] == _INIT for path in moved):
        return None
    homes: dict[str, Home] = {}
    gone = {path: records[path] for path in moved if path not in units}
    schedule = ReplaySchedule(homes, lambda path: records[path] if path in records else ModuleRecord(), gone)
    program = Program(units, package, errors, schedule)
    if program.modules.keys() != units.keys():
        return None
    homes.update(program.modules)
    homes[""] = program.shared
    machine = Machine(program)
    machine.prepare()
    names = RecordedNames(program, machine.attributes)
    paths = _find_affected(program, names, records, before, moved)
    if paths is None:
        machine.release()
        return None
    schedule.prepare(names, machine.evaluate_again)
    try:
        schedule.replay([*(program.modules[path] for path in sorted(paths)), *schedule.list_touched()])
    except OutdatedNameError:
        machine.release()
        return None
    return Update(machine, schedule, sorted(home.path for home in schedule.live if home.path))


def _find_affected(
    program: Program, names: RecordedNames, records: Records, before: Mapping[str, UnitText], moved: Set[str]
) -> set[str] | None:
    """Find the edited files, and those that looked up what these no longer say; None where that is nearly all.

    moved: the paths of files that came or went.
    """
    old = {path: _list_facts_before(unit) for path, unit in before.items()}
    if any(EVERYTHING in old.get(path, ()) or not _is_known(program, records, path) for path in moved):
        return None
    new_paths = {path for path in before if path in program.modules} | (moved & program.units.keys())
    facts = {path: list_facts(program.modules[path], names.codes) for path in new_paths}
    came, gone = (list_special(name for each in found.values() for name in each) for found in (facts, old))
    if came != gone and not came ^ gone <= _list_special_elsewhere(program, before):
        return None
    changed = _list_parts(program, moved)
    changed |= set[str]().union(*(find_changed(old.get(path, {}), facts.get(path, {})) for path in {*old, *facts}))
    found, waiting, new = set(new_paths), new_paths | moved, changed
    waiting |= {path for path, unit in program.units.items() if moved and not changed.isdisjoint(_list_asked(unit))}
    found |= waiting & program.units.keys()
    while waiting:
        for path in waiting:
            heads = list_heads(program.modules[path], names) if path in program.modules else {}
            kept = records.read_facts(path)[1] if path in records else {EVERYTHING: heads[EVERYTHING]}
            new = new | find_changed(kept, heads or {EVERYTHING: kept[EVERYTHING]})
        if EVERYTHING in new:
            return None
        looked_up = spread_changed(new, program, names.codes)
        waiting = {
            path for path in program.units.keys() & records.keys()
            if path not in found and looked_up and not looked_up.isdisjoint(records.read_facts(path)[0])
        }  # fmt: skip
        found |= waiting
        changed |= new
    return found


def _is_known(program: Program, records: Records, path: str) -> bool:
    """Return whether a file that came or went makes no package known, or unknown, to the package that it is of."""
    known = program.known_packages
    package = known.find(path)
    others = [each for each in program.units if each != path and known.find(each) == package]
    if path not in program.units:
        return not others or records.read_facts(path)[1].get(EVERYTHING) == hash_imported(set())
    return not others or known.list_imported(path) <= {package}.union(*map(known.list_imported, others))


def _list_parts(program: Program, moved: Collection[str]) -> set[str]:
    """List the names of modules and folders that came or went."""
    found: set[str] = set()
    for path in moved:
        *folders, name = path.split("/")
        found.add(name.removesuffix(".py"))
        for depth, folder in enumerate(folders, 1):
            above = "/".join(folders[:depth]) + "/"
            if not any(each.startswith(above) for each in program.units if each not in moved):
                found.add(folder)
    return found


def _list_asked(unit: UnitText) -> Iterator[str]:
    """List the parts of the names that a file imports."""
    for record in unit.imports:
        yield from record.module.split(".")
        yield record.name or ""


def _list_facts_before(unit: UnitText) -> dict[str, int]:
    """List what a file said by itself before it was edited."""
    program = Program({unit.path: unit}, "", LocalErrors())
    return list_facts(program.modules[unit.path], CodeNames(program))


def _list_special_elsewhere(program: Program, edited: Collection[str]) -> set[str]:
    """List the special names that classes define in files that were not edited."""
    infos = (info for info in program.hierarchy.classes if info.code.module.path not in edited)
    return {name for info in infos for name in info.members if name.startswith("__")}
