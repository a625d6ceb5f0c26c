"""Resolve a repository with edited files from the records of the previous resolution (A-12)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from pkg.local_errors import LocalErrors
from pkg.resolution.machine import Machine
from pkg.resolution.module_outlines import ModuleOutline, unpack_outline
from pkg.resolution.module_records import ModuleRecord, cut_outline, record_all, unpack_facts
from pkg.resolution.program import OutdatedNameError, Program
from pkg.resolution.recorded_names import RecordedNames
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
from pkg.resolution.types import Types
from pkg.resolution.variables import Home
from pkg.units import UnitText

_INIT = "__init__.py"


@dataclass(frozen=True, slots=True)
class Update:
    """Result of resolving edited files and the files that they affect."""

    machine: Machine
    schedule: ReplaySchedule
    paths: list[str]  # of files whose links may have changed


def record_resolution(machine: Machine) -> dict[str, ModuleRecord]:
    """Return the records of all modules of a complete resolution, after their links were listed."""
    program, schedule = machine.program, machine.schedule
    names = RecordedNames(program, machine.attributes)
    return record_all([program.shared, *program.modules.values()], schedule, names)


class Records(Mapping[str, ModuleRecord]):
    """Records of all modules, unpacked on first use."""

    def __init__(self, packed: Mapping[str, tuple[bytes, bytes]]) -> None:
        """Create from packed facts and flows by path."""
        self._packed = packed
        self._read: dict[str, ModuleRecord] = {}
        self._facts: dict[str, tuple[list[str], dict[str, int]]] = {}

    def __getitem__(self, path: str) -> ModuleRecord:
        """Unpack the record of a path."""
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

    def read_outline(self, path: str) -> ModuleOutline:
        """Return the outline of a module."""
        return unpack_outline(cut_outline(self._packed[path][0])[0])

    def read_facts(self, path: str) -> tuple[list[str], dict[str, int]]:
        """Return the lookups and heads of classes of a module."""
        found = self._facts.get(path)
        if found is None:
            found = self._facts[path] = unpack_facts(self._packed[path][0])
        return found


def resolve_edited(
    units: Mapping[str, UnitText], package: str, errors: LocalErrors, records: Records, before: Mapping[str, UnitText]
) -> Update | None:
    """Resolve edited, added and removed files; None where everything has to be resolved, as for new packages.

    records: previous ones by path, and under "" of what belongs to no file. before: previous versions of edited or
    removed files.
    """
    moved = units.keys() ^ (records.keys() - {""})
    if "" not in records or any(path.rpartition("/")[2] == _INIT for path in moved):
        return None
    edit = _Edit(units, records, before, moved)
    read = edit.list_affected(edit.changed)
    while EVERYTHING not in edit.changed:
        try:
            found = _solve(edit, package, errors, read)
        except OutdatedNameError:
            return None
        if not isinstance(found, set):
            return found
        read |= found
    return None


def _solve(edit: _Edit, package: str, errors: LocalErrors, read: Set[str]) -> Update | set[str] | None:
    """Resolve edited files with the code of some files and the outlines of others.

    Returns instead the files whose code is needed in addition.
    """
    units, records = edit.units, edit.records
    homes: dict[str, Home] = {}
    gone = {path: records[path] for path in edit.moved if path not in units}
    schedule = ReplaySchedule(homes, lambda path: records[path] if path in records else ModuleRecord(), gone)
    outlines = {path: found for path in units.keys() - read if not (found := records.read_outline(path)).is_always_read}
    program = Program(units, package, errors, schedule, outlines)
    machine = Machine(program)
    if program.modules.keys() != units.keys():
        return None
    homes.update(program.modules)
    homes[""] = program.shared
    machine.prepare()
    names = RecordedNames(program, machine.attributes)
    paths = edit.find_affected(program, names)
    if paths is not None and paths <= units.keys() - outlines.keys():
        schedule.prepare(names, machine.evaluate_again)
        schedule.replay([*(program.modules[path] for path in sorted(paths)), *schedule.list_touched()])
        return Update(machine, schedule, sorted(home.path for home in schedule.live if home.path))
    machine.release()
    return paths


class _Edit:
    """Edited files, and the keys of changed facts."""

    def __init__(
        self, units: Mapping[str, UnitText], records: Records, before: Mapping[str, UnitText], moved: Set[str]
    ) -> None:
        """Compare edited files with their previous versions; moved: paths of added and removed files."""
        self.units, self.records, self.moved = units, records, moved
        self._before = before
        self._paths = (before.keys() | moved) & units.keys()  # of files to resolve again
        self._old = {path: _list_facts_alone(unit) for path, unit in before.items()}
        self._new = {path: _list_facts_alone(units[path]) for path in self._paths}
        compared = (find_changed(self._old.get(path, {}), self._new.get(path, {})) for path in {*before, *self._paths})
        self.changed = _list_parts(units, moved).union(*compared)

    def list_affected(self, changed: Set[str]) -> set[str]:
        """Return the edited files, and those that looked up changed facts."""
        found = set(self._paths)
        if self.moved:
            found |= {path for path, unit in self.units.items() if not self.changed.isdisjoint(_list_imported(unit))}
        if changed:
            known = self.units.keys() & self.records.keys()
            found |= {path for path in known if not changed.isdisjoint(self.records.read_facts(path)[0])}
        return found

    def find_affected(self, program: Program, names: RecordedNames) -> set[str] | None:
        """Return the edited files and those affected by changed facts; None where these are nearly all."""
        moved, records = self.moved, self.records
        if any(EVERYTHING in self._old.get(path, ()) or not _is_known(program, records, path) for path in moved):
            return None
        came, gone = (
            list_special(name for each in facts.values() for name in each) for facts in (self._new, self._old)
        )
        if came != gone and not came ^ gone <= _list_special_elsewhere(program, self._before):
            return None
        found = self.list_affected(frozenset())
        waiting, new = found | moved, self.changed
        while waiting:
            for path in waiting:
                heads = list_heads(program.modules[path], program, names.name_value) if path in program.modules else {}
                kept = records.read_facts(path)[1] if path in records else {EVERYTHING: heads[EVERYTHING]}
                new = new | find_changed(kept, heads or {EVERYTHING: kept[EVERYTHING]})
            if EVERYTHING in new:
                return None
            waiting = self.list_affected(spread_changed(new, program)) - found
            found |= waiting
        return found


def _is_known(program: Program, records: Records, path: str) -> bool:
    """Return whether an added or removed file leaves the known packages of its package unchanged."""
    known = program.known_packages
    package = known.find(path)
    others = [each for each in program.units if each != path and known.find(each) == package]
    if path not in program.units:
        return not others or records.read_facts(path)[1].get(EVERYTHING) == hash_imported(set())
    return not others or known.list_imported(path) <= {package}.union(*map(known.list_imported, others))


def _list_parts(units: Iterable[str], moved: Set[str]) -> set[str]:
    """Return the names of added and removed modules and folders."""
    found: set[str] = set()
    for path in moved:
        *folders, name = path.split("/")
        found.add(name.removesuffix(".py"))
        for depth, folder in enumerate(folders, 1):
            above = "/".join(folders[:depth]) + "/"
            if not any(each.startswith(above) for each in units if each not in moved):
                found.add(folder)
    return found


def _list_imported(unit: UnitText) -> Iterator[str]:
    """Return the parts of the names that a file imports."""
    for record in unit.imports:
        yield from record.module.split(".")
        yield record.name or ""


def _list_facts_alone(unit: UnitText) -> dict[str, int]:
    """Return the facts of a file alone."""
    program = Program({unit.path: unit}, "", LocalErrors())
    Types(program).find_bases()
    program.outline_modules()
    return list_facts(program.modules[unit.path])


def _list_special_elsewhere(program: Program, edited: Collection[str]) -> set[str]:
    """Return the special names that classes define in unchanged files."""
    infos = (info for info in program.hierarchy.classes if info.module.path not in edited)
    return {name for info in infos for name in info.outline.members if name.startswith("__")}
