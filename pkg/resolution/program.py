"""A repository as it is solved: modules, the code of functions and classes, and what their names are variables of."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from pkg.extract.summary import operations as o
from pkg.extract.summary.file_summary import FrameSummary, read_summary
from pkg.extract.summary.operations import IS_ASYNC
from pkg.local_errors import LocalErrors
from pkg.model import Import
from pkg.resolution.classes import ClassInfo, Hierarchy
from pkg.resolution.known_packages import Neighbours
from pkg.resolution.module_map import Found, ModuleMap
from pkg.resolution.passing import Guards, Passed, take_guards, take_passed
from pkg.resolution.value_sets import Interner, Signature
from pkg.resolution.variables import (
    CASE,
    CELL,
    DEFAULT,
    FIELD,
    MEMBER,
    NAME,
    PARAMETER,
    RESULT,
    YIELDED,
    Home,
    Schedule,
    Substitutes,
    Variable,
)
from pkg.units import UnitText

BUILTINS = frozenset(dir(builtins)) | {"reveal_type", "unicode", "basestring", "xrange", "raw_input", "long"}
MODULE_TEXTS = frozenset(("__name__", "__file__", "__doc__", "__package__", "__qualname__", "__module__"))

FORWARDED = ".forwarded"
"""The name under which a __getattr__ keeps that of which it reads the attribute that it is asked for."""
_METHOD_KINDS = ("classmethod", "staticmethod")


class Code:
    """The code of one module, class, function or lambda."""

    __slots__ = (
        "base", "cases", "cells", "class_info", "decorated_by", "decorators", "defaults", "dirty", "is_async",
        "is_generator", "is_waiting", "merged", "module", "number", "outcomes", "owner_class", "parameters", "parent",
        "passed", "position",
        "promises", "receiver_place", "result", "signatures", "substitutes", "summary", "users", "values", "yielded",
    )  # fmt: skip

    def __init__(self, module: ModuleInfo, number: int, summary: FrameSummary, parent: Code | None) -> None:
        self.module = module
        self.number = number
        self.summary = summary
        self.parent = parent
        self.position = 0  # in the order of evaluation
        self.is_waiting = False
        self.parameters = [Variable(module, self, PARAMETER, place) for place in range(len(summary.parameters))]
        self.result = Variable(module, self, RESULT)
        self.yielded = Variable(module, self, YIELDED)
        self.substitutes: Substitutes | None = None
        self.cells: dict[str, Variable] = {}
        self.class_info: ClassInfo | None = None  # of the body of a class
        self.owner_class: ClassInfo | None = None  # of a method
        self.is_generator = any(node[0] in (o.YIELD, o.YIELD_FROM) for node in summary.nodes)
        self.is_async = bool(summary.flags & IS_ASYNC)
        self.receiver_place = -1  # of self or cls among the parameters
        self.decorators: frozenset[str] = frozenset()  # last names
        self.decorated_by: tuple[int, ...] = ()  # operations of the frame around
        self.passed: tuple[Passed, ...] = ()  # parameters that are returned as they are
        self.cases: dict[Guards, Variable] = {}  # what is returned behind tests of arguments, and without any
        self.defaults: dict[int, Variable] = {}  # of parameters that are returned or tested so
        self.signatures: dict[int, Signature] = {}  # of the callables that parameters are, as annotations tell them
        self.promises: list[Any] | None = None  # by parameter, what its annotation promises
        self.base = 0  # the number of its first operation in the whole program
        self.values: list[Any] | None = None  # of its operations, once they were evaluated
        self.dirty: set[int] = set()  # operations to be evaluated again
        self.merged: set[int] = set()  # joins whose constants of one type are one value
        self.users: list[tuple[int, ...]] | None = None  # by operation, those that refer to it
        self.outcomes: list[list[Any]] = []  # by site

    def __repr__(self) -> str:
        return f"<{self.module.path}:{self.qualname}>"

    def __lt__(self, other: Code) -> bool:
        return self.position < other.position

    @property
    def qualname(self) -> str:
        """Return the qualified name."""
        name = self.summary.name
        above = self.parent.qualname if self.parent is not None else ""
        return f"{above}.{name}" if above else name

    @property
    def name(self) -> str:
        """Return the name."""
        return self.summary.name

    def cell(self, name: str) -> Variable:
        """Return the variable of a name that functions inside read."""
        found = self.cells.get(name)
        if found is None:
            found = self.cells[name] = Variable(self.module, self, CELL, name)
        return found


class ModuleInfo(Home):
    """One file as a module."""

    def __init__(self, path: str, unit: UnitText) -> None:
        super().__init__(path)
        self.unit = unit
        frames, self._places = read_summary(unit.summary)
        self.codes: list[Code] = []
        self.names: dict[str, Variable] = {}
        self.bindings: dict[str, list[int]] = {}  # by name, the operations of the module's code that it ends with
        self.stars: list[Import] = []
        for number, frame in enumerate(frames):
            parent = self.codes[frame.parent] if frame.parent >= 0 else None
            self.codes.append(Code(self, number, frame, parent))
        for code in self.codes:
            self._scan(code)

    @property
    def root(self) -> Code | None:
        """Return the code of the module itself; None for a file without a summary."""
        return self.codes[0] if self.codes else None

    def find_place(self, code: Code, site: int) -> tuple[int, int]:
        """Return where a site begins and ends in the text of the file."""
        number = 2 * (code.summary.first_site + site)
        return self._places[number], self._places[number + 1]

    def _scan(self, code: Code) -> None:
        for node in code.summary.nodes:
            operation = node[0]
            if operation == o.SET_GLOBAL:
                self.names.setdefault(node[1], Variable(self, self, NAME, node[1]))
                if code.number == 0:
                    self.bindings.setdefault(node[1], []).append(node[2])
            elif operation == o.STAR:
                self.stars.append(self.unit.imports[node[1]])

    def release(self) -> None:
        """Let go of what refers to one another."""
        self.codes.clear()
        self.names.clear()


class Program:
    """All modules of a repository, with its classes and what decides where names lead."""

    def __init__(
        self, units: Mapping[str, UnitText], package: str, errors: LocalErrors, schedule: Schedule | None = None
    ) -> None:
        self.errors = errors
        self.units = units
        self.map = ModuleMap(units, package)
        self.interner = Interner()
        self.schedule = schedule or Schedule()
        self.shared = Home("")  # of what belongs to no file
        self.hierarchy = Hierarchy(self.schedule)
        self.modules: dict[str, ModuleInfo] = {}
        self.infos: dict[Code, ClassInfo] = {}
        self.special_names: set[str] = set()
        self._stars: dict[tuple[str, str], tuple[str, ...]] = {}
        self._brought: dict[tuple[str, str, int, int], tuple[str, ...]] = {}
        self._bound: dict[tuple[str, int], Found] = {}
        self._exported: dict[str, frozenset[str] | None] = {}
        for path in sorted(units):
            try:
                self.modules[path] = ModuleInfo(path, units[path])
            except Exception as fault:
                errors.note(fault, "resolve", path)
        for position, code in enumerate(self.list_codes()):
            code.position = position
            code.base = len(self.schedule.owners)
            self.schedule.owners += [code] * (len(code.summary.nodes) or 1)
            if code.summary.kind == o.CLASS_BODY:
                info = code.class_info = self.infos[code] = ClassInfo(code)
                self.hierarchy.classes.append(info)
        for code in self.list_codes():
            try:
                self._describe(code)
            except Exception as fault:
                errors.note(fault, "resolve", code.module.path)
                code.summary.nodes.clear()  # it is as if it did nothing
        for info in self.hierarchy.classes:
            self.special_names.update(name for name in info.members if name.startswith("__"))

    @cached_property
    def neighbours(self) -> Neighbours:
        """Return which packages know each other."""
        return Neighbours(self)

    def list_codes(self) -> Iterator[Code]:
        """List all code in a fixed order."""
        for path in sorted(self.modules):
            yield from self.modules[path].codes

    def _describe(self, code: Code) -> None:
        """Note what a class binds and its methods assign to self."""
        parent = code.parent
        if code.class_info is not None:
            members = code.class_info.members
            for node in code.summary.nodes:
                if node[0] == o.MEMBER:
                    members[node[1]] = Variable(code.module, code.class_info, MEMBER, node[1])
                    value = code.summary.nodes[node[2]]
                    made = code.summary.nodes[value[1]] if value[0] == o.DECORATE else value
                    if made[0] == o.FUNC:
                        code.class_info.methods[node[1]] = code.module.codes[made[1]]
                    if value[0] == o.DECLARE:
                        code.class_info.declared[node[1]] = value[1]
                        if value[2] < 0:
                            code.class_info.unset |= {node[1]}
                    self._note_made_method(code, value)
                elif node[0] == o.DECORATE:
                    self._note_decorators(code, node)
        elif parent is not None and parent.class_info is not None and code.summary.kind == o.FUNCTION:
            code.owner_class = parent.class_info
            parameters = code.summary.parameters
            if parameters and parameters[0][1] == o.PLACED and "staticmethod" not in code.decorators:
                code.receiver_place = 0
                self._list_fields(code, code.owner_class)
        if code.name == "__getattr__" and code.parameters:
            self._note_forwarded(code)
        if code.class_info is None:
            for node in code.summary.nodes:
                if node[0] == o.DECORATE:
                    self._note_decorators(code, node)
        if code.parent is not None and code.class_info is None and not code.is_generator and not code.is_async:
            places = [place for place, each in enumerate(code.summary.parameters) if each[1] in (o.PLACED, o.BY_NAME)]
            tested = frozenset(places) - {code.receiver_place}
            guards = take_guards(code.summary.nodes, tested)
            code.cases = {each: Variable(code.module, code, CASE, each) for each in guards} if any(guards) else {}
            code.passed = take_passed(code.summary.nodes, tested)
            asked = {each.place for each in code.passed}.union(place for each in guards for place, _, _ in each)
            code.defaults = {place: Variable(code.module, code, DEFAULT, place) for place in sorted(asked)}

    def _note_forwarded(self, code: Code) -> None:
        """Keep that of which a __getattr__ reads the attribute whose name it is asked for."""
        nodes, place = code.summary.nodes, len(code.parameters) - 1
        for node in list(nodes):
            is_call = node[0] == o.CALL and len(node[2]) >= 2 and node[1] >= 0
            if is_call and nodes[node[1]] == (o.GLOBAL, "getattr"):
                asked = node[2][1][0]
                while asked >= 0 and nodes[asked][0] == o.NARROW:
                    asked = nodes[asked][1]
                if asked >= 0 and nodes[asked] == (o.PARAM, place):
                    code.cell(FORWARDED)
                    nodes.append((o.SET_CELL, code.number, FORWARDED, node[2][0][0]))

    def _note_made_method(self, code: Code, node: Sequence[Any]) -> None:
        """Note a function that a class makes a class or static method by a call."""
        nodes = code.summary.nodes
        if node[0] != o.CALL or node[1] < 0 or not node[2] or node[2][0][0] < 0:
            return
        callee, made = nodes[node[1]], nodes[node[2][0][0]]
        if callee[0] == o.GLOBAL and callee[1] in _METHOD_KINDS and made[0] == o.FUNC:
            code.module.codes[made[1]].decorators |= {callee[1]}

    def _note_decorators(self, code: Code, node: Sequence[Any]) -> None:
        made = code.summary.nodes[node[1]]
        if made[0] not in (o.FUNC, o.CLASS):
            return
        inner = code.module.codes[made[1]]
        inner.decorated_by = tuple(each for each, _ in node[2] if each >= 0)
        inner.decorators = frozenset(name_last(code, each) for each in inner.decorated_by)

    def _list_fields(self, code: Code, info: ClassInfo) -> None:
        nodes = code.summary.nodes
        for node in nodes:
            if node[0] == o.SET_ATTR and nodes[node[1]] == (o.PARAM, 0):
                info.fields.setdefault(node[2], Variable(code.module, info, FIELD, node[2]))

    # Names of modules.

    def find_bound(self, path: str, number: int) -> Found:
        """Find the module that an import binds its name to, or takes something out of."""
        found = self._bound.get((path, number))
        if found is None:
            record = self.units[path].imports[number]
            find = self.map.find_bound if record.name is None else self.map.find_import
            found = self._bound[path, number] = find(path, record)
        return found

    def find_star(self, path: str, name: str) -> tuple[str, ...]:
        """Find the modules that a star import brings a name from; the last one counts. A library's binds nothing."""
        key = path, name
        self.schedule.consulted.add(name)
        found = self._stars.get(key)
        if found is None:
            found = self._stars[key] = self._search_stars(path, self.modules[path].stars, name, {path})
        return found

    def find_brought(self, path: str, numbers: Sequence[int], name: str) -> tuple[str, ...]:
        """Find the modules that one of some star imports brings a name from; the last one counts."""
        self.schedule.consulted.add(name)
        key = path, name, numbers[0], numbers[-1]
        found = self._brought.get(key)
        if found is None:
            records = [self.units[path].imports[number] for number in numbers]
            found = self._brought[key] = self._search_stars(path, records, name, {path})
        return found

    def _search_stars(self, path: str, stars: Sequence[Import], name: str, seen: set[str]) -> tuple[str, ...]:
        for record in reversed(stars) if not name.startswith("__") else ():
            found: tuple[str, ...] = ()
            for each in self.map.find_import(path, record).modules:
                if each in self.modules and each not in seen:
                    found += self._search_inside(self.modules[each], name, seen)
            if found:
                return found
        return ()

    def _search_inside(self, module: ModuleInfo, name: str, seen: set[str]) -> tuple[str, ...]:
        """Find where a name comes from that a star import takes out of a module."""
        shown = self.list_exported(module)
        if name not in shown if shown is not None else name.startswith("_"):
            return ()
        if name in module.names:
            return () if self._is_from(module, name, seen) else (module.path,)
        seen.add(module.path)
        found = self._search_stars(module.path, module.stars, name, seen)
        is_inner = not found and shown is not None and self.map.step(self.map.open(module.path), name)
        return (module.path,) if is_inner else found

    def _is_from(self, module: ModuleInfo, name: str, others: set[str]) -> bool:
        """Return whether a module imports a name from others that are asked for it: they have it from elsewhere."""
        nodes = module.root.summary.nodes if module.root is not None else ()
        made = [nodes[number] for number in module.bindings.get(name, ())]
        records = [(node[1], module.unit.imports[node[1]]) for node in made if node[0] == o.IMPORT]
        return (
            bool(made)
            and len(records) == len(made)
            and all(
                record.name == name and others.issuperset(self.find_bound(module.path, number).modules)
                for number, record in records
            )
        )

    def list_exported(self, module: ModuleInfo) -> frozenset[str] | None:
        """List the names in `__all__` of a module, as far as it is written out; None where it is not."""
        if module.path not in self._exported:
            self._exported[module.path] = self._read_exported(module)
        return self._exported[module.path]

    def _read_exported(self, module: ModuleInfo) -> frozenset[str] | None:
        root = module.root
        bound = module.bindings.get("__all__") if root is not None else None
        if not bound or root is None:
            return None
        nodes, chain = root.summary.nodes, _list_before(root.summary.nodes, bound)
        added = [
            node[3][0][0] for node in nodes
            if node[0] == o.CALL_ATTR and node[1] in chain and node[2] in ("extend", "append") and node[3]
        ]  # fmt: skip
        found = [list_texts(nodes, number) for number in (*bound, *added)]
        return None if None in found else frozenset().union(*found)  # type: ignore[arg-type]

    def release(self) -> None:
        """Let go of what refers to one another, so that no garbage collector has to find it."""
        for module in self.modules.values():
            for code in module.codes:
                _clear(code, Code.__slots__)
            module.release()
        for info in self.hierarchy.classes:
            _clear(info, ClassInfo.__slots__)
        vars(self.hierarchy).clear()
        self.interner.clear()
        self.infos.clear()


def _clear(holder: Code | ClassInfo, names: Sequence[str]) -> None:
    for name in names:
        if hasattr(holder, name):
            delattr(holder, name)


def name_last(code: Code, number: int) -> str:
    """Name a callable by its last name."""
    node = code.summary.nodes[number]
    if node[0] in (o.CALL_ATTR, o.ATTR):
        return str(node[2])
    if node[0] == o.CALL and node[1] >= 0:
        return name_last(code, node[1])
    if node[0] == o.IMPORT:
        return str(code.module.unit.imports[node[1]].bound_name)
    return str(node[1]) if node[0] in (o.GLOBAL, o.BROUGHT) else ""


def _list_before(nodes: Sequence[Any], numbers: Iterable[int]) -> set[int]:
    """List operations, and those whose value these change in place."""
    found: set[int] = set()
    waiting = list(numbers)
    while waiting:
        number = waiting.pop()
        if number >= 0 and number not in found:
            found.add(number)
            node = nodes[number]
            waiting += node[1:] if node[0] == o.PHI else [node[2]] if node[0] in (o.INPLACE, o.BINARY) else []
    return found


def list_texts(nodes: Sequence[Any], number: int, depth: int = 0) -> set[str] | None:
    """List the texts of a text, list or tuple that is written out, or put together of such."""
    node: Any = nodes[number] if number >= 0 else (o.UNKNOWN,)
    if depth > 20:
        return None
    if node[0] == o.CONST and node[1] == "str" and node[2] is not None:
        return {node[2]}
    if node[0] == o.COLLECT:
        parts = [list_texts(nodes, each[1], depth + 1) if each[0] == 0 else None for each in node[2]]
        return None if None in parts else set().union(*parts)  # type: ignore[arg-type]
    if node[0] in (o.BINARY, o.INPLACE):
        first, second = (list_texts(nodes, each, depth + 1) for each in node[2:4])
        return None if first is None or second is None else first | second
    return None
