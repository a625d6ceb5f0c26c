"""Results of a solved part, by which the parts that import it are solved (A-12).

Of each file these are its outline, and the final values of the variables that other code may read. They are read
when code of another part first uses them. Nothing that another part does changes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from pkg.local_errors import LocalErrors
from pkg.resolution.machine import Machine
from pkg.resolution.module_outlines import ModuleOutline, unpack_outline
from pkg.resolution.module_records import cut_outline, join_outline, pack_json, unpack_json
from pkg.resolution.program import Code, ModuleInfo, Program
from pkg.resolution.recorded_names import RecordedNames, group_by_container
from pkg.resolution.static_facts import list_facts, list_heads
from pkg.resolution.value_sets import Container, Values
from pkg.resolution.variables import SUBSTITUTES, Home, Schedule, Sent, Variable
from pkg.units import UnitText

SHARED = ""
"""Path of the results that belong to no file."""


@dataclass(slots=True)
class FileResults:
    """Results of one file of a solved part."""

    outline: bytes = b""  # packed
    values: dict[str, list[str]] = field(default_factory=dict)  # names of values by name of variable
    facts: tuple[object, ...] = ()  # that others may look up; not packed

    def digest(self) -> bytes:
        """Return a digest of all that other parts may see."""
        seen = repr((self.facts, sorted(self.values.items())))
        return blake2b(seen.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def pack(self) -> bytes:
        """Pack the results; each text is stored once."""
        texts: dict[str, int] = {}
        listed = [
            [texts.setdefault(each, len(texts)) for each in (name, *values)]
            for name, values in sorted(self.values.items())
        ]
        return join_outline(self.outline, pack_json([list(texts), listed]))


def read_outline(packed: bytes) -> ModuleOutline:
    """Return the outline of packed results."""
    return unpack_outline(cut_outline(packed)[0])


def read_values(packed: bytes) -> dict[str, list[str]]:
    """Return the values of packed results."""
    texts, listed = unpack_json(cut_outline(packed)[1])
    return {texts[name]: [texts[each] for each in values] for name, *values in listed}


class PartSchedule(Schedule):
    """Schedule of a part; the files of solved parts keep their results."""

    def __init__(self, find_values: Callable[[str], Mapping[str, list[str]]]) -> None:
        """Create a schedule; find_values returns the values of a file of a solved part."""
        super().__init__()
        self._find_values = find_values
        self.grown: dict[Variable, None] = {}  # variables of this part with values
        self._solved: dict[Home, Mapping[str, list[str]] | None] = {}  # with its values, once they are read
        self._known: set[Variable] = set()  # variables of solved parts with their values
        self._items: dict[Home, dict[str, list[str]]] = {}  # names of variables by container
        self._opened: set[Container] = set()

    def prepare(self, names: RecordedNames, solved: Iterable[Home]) -> None:
        """Set the names of values, and the files of solved parts."""
        self.names = names
        self._solved = dict.fromkeys(solved)

    def read(self, variable: Variable) -> Values:
        """Read a variable; those of solved parts do not change."""
        return self._find(variable) if variable.home in self._solved else super().read(variable)

    def see(self, variable: Variable) -> Values:
        """Return the values of a variable as the current module sees them, without subscribing to it."""
        return self._find(variable) if variable.home in self._solved else super().see(variable)

    def write(self, variable: Variable, values: Values) -> None:
        """Add values to a variable of this part."""
        if variable.home not in self._solved:
            super().write(variable, values)

    def add(self, code: Code) -> None:
        """Schedule code of this part to be evaluated again."""
        if code.module not in self._solved:
            super().add(code)

    def _keep(self, sent: list[Sent], shown: list[tuple[Variable, Values]]) -> None:
        """Keep which variables have changed; the results of a part are their last values."""
        self.grown.update(dict.fromkeys(variable for variable, _ in shown))

    def open_items(self, container: Container) -> dict[object, Variable]:
        """Return the variables of the constant keys of a container."""
        home = container.code.module
        if home in self._solved and container not in self._opened:
            self._opened.add(container)
            if home not in self._items:
                self._items[home] = group_by_container(self._list_values(home))
            for name in self._items[home].get(self.names.spell_container(container), ()):
                self.names.find_variable(home, name)
        return container.keyed

    def _find(self, variable: Variable) -> Values:
        if variable not in self._known:
            self._known.add(variable)
            values = self._list_values(variable.home).get(self.names.name_variable(variable))
            if values is not None:
                variable.preset(frozenset(map(self.names.find_value, values)))
        return variable.shown

    def _list_values(self, home: Home) -> Mapping[str, list[str]]:
        found = self._solved[home]
        if found is None:
            found = self._solved[home] = self._find_values(home.path)
        return found


@dataclass(frozen=True, slots=True)
class SolvedFiles:
    """The results of imported parts."""

    outlines: Mapping[str, ModuleOutline]  # by path
    shared: Iterable[Mapping[str, list[str]]]  # values that belong to no file, of each part
    find_values: Callable[[str], Mapping[str, list[str]]]  # of a file by its path


class Solution(NamedTuple):
    """A solved part."""

    machine: Machine
    grown: Iterable[Variable]  # of this part, with values


def solve_part(units: Mapping[str, UnitText], package: str, errors: LocalErrors, solved: SolvedFiles) -> Solution:
    """Solve a part; units: its files and those of the solved parts that it imports."""
    schedule = PartSchedule(solved.find_values)
    outlines = {path: each for path, each in solved.outlines.items() if not each.is_always_read}
    program = Program(units, package, errors, schedule, outlines)
    machine = Machine(program)
    machine.prepare()
    names = RecordedNames(program, machine.attributes)
    schedule.prepare(names, [program.modules[path] for path in solved.outlines if path in program.modules])
    for values in solved.shared:
        _share(program, names, values)
    machine.run()
    return Solution(machine, schedule.grown)


def _share(program: Program, names: RecordedNames, values: Mapping[str, list[str]]) -> None:
    """Add the values of a solved part that belong to no file."""
    for name, found in values.items():
        variable = names.find_variable(program.shared, name)
        variable.preset(variable.values.union(map(names.find_value, found)))


def list_results(solution: Solution, paths: Iterable[str]) -> Iterator[tuple[str, FileResults]]:
    """Yield the results of the files of a part, by path, and of what belongs to no file."""
    machine, grown = solution
    program = machine.program
    names = RecordedNames(program, machine.attributes)
    owned: dict[str, list[Variable]] = {}
    for variable in grown:
        if variable.kind != SUBSTITUTES and variable.shown:
            owned.setdefault(variable.home.path, []).append(variable)
    for path in sorted((SHARED, *paths)):
        values = {names.name_variable(each): sorted(map(names.name_value, each.shown)) for each in owned.get(path, ())}
        module = program.modules.get(path)
        if module is not None:
            yield path, FileResults(module.outline.pack(), values, _list_facts(module, program, names))
            for code in module.codes:  # whose operations the facts have read
                code.summary.pack()
        elif path == SHARED:
            yield path, FileResults(values=values)


def _list_facts(module: ModuleInfo, program: Program, names: RecordedNames) -> tuple[object, ...]:
    """Return the facts of a file that others may look up; the sizes of its code are none."""
    heads = list_heads(module, program, names.name_value)
    return module.outline._replace(codes=0, operations=0), sorted(list_facts(module).items()), sorted(heads.items())
