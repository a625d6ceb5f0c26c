"""The program to solve: modules, the code of functions and classes, and their variables."""

from __future__ import annotations

import builtins
import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pkg.extract.summary import operations as o
from pkg.extract.summary.compaction import list_operands
from pkg.extract.summary.file_summary import FrameSummary, read_summary
from pkg.extract.summary.frame_heads import FrameHead, Guards, Passed
from pkg.extract.summary.operations import (
    FORWARDED,
    FORWARDS,
    HAS_RECEIVER,
    HAS_STARS,
    IS_ASYNC,
    IS_GENERATOR,
    Operation,
)
from pkg.local_errors import LocalErrors
from pkg.model import Import
from pkg.resolution.classes import ClassInfo, Hierarchy
from pkg.resolution.module_map import Found, KnownPackages, ModuleMap
from pkg.resolution.module_outlines import ClassOutline, ModuleOutline, outline_module
from pkg.resolution.record_fields import find_records
from pkg.resolution.value_sets import Container, Interner, Signature
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
NO_OUTLINES: Mapping[str, ModuleOutline] = MappingProxyType({})
MODULE_TEXTS = frozenset(("__name__", "__file__", "__doc__", "__package__", "__qualname__", "__module__"))


class Code:
    """Code of one module, class, function or lambda; most attributes are computed on first use."""

    __slots__ = (
        "base", "cases", "cells", "class_info", "decorators", "defaults", "dirty", "is_waiting", "key", "merged",
        "module", "number", "outcomes", "owner_class", "parameters", "parent", "passed", "position", "promises",
        "receiver_place", "result", "signatures", "substitutes", "summary", "users", "values", "yielded",
    )  # fmt: skip

    parameters: list[Variable]
    result: Variable
    yielded: Variable
    key: str  # its qualified name, numbered among equal names of its file
    cells: dict[str, Variable]
    cases: dict[Guards, Variable]  # returned values, by the tests of arguments before them
    defaults: dict[int, Variable]  # of parameters that are returned or tested
    passed: tuple[Passed, ...]  # parameters that are returned unchanged
    decorators: frozenset[str]  # last names
    substitutes: Substitutes | None
    signatures: dict[int, Signature]  # of callable parameters, from annotations
    promises: list[Any] | None  # by parameter, of its annotation
    values: list[Any] | None  # of its operations, once evaluated
    dirty: set[int]  # operations to be evaluated again
    merged: set[int]  # joins whose constants of one type are one value
    users: list[tuple[int, ...]] | bytes | None  # by operation, its uses; packed while the code is quiet
    outcomes: dict[int, list[Any]]  # by site

    def __init__(self, module: ModuleInfo, number: int, summary: FrameSummary, parent: Code | None) -> None:
        self.module = module
        self.number = number
        self.summary = summary
        self.parent = parent
        self.position = 0  # in the order of evaluation
        self.base = 0  # the number of its first operation in the whole program
        self.is_waiting = False
        self.class_info: ClassInfo | None = None  # of a class body
        self.owner_class: ClassInfo | None = None  # of a method
        self.receiver_place = 0 if summary.flags & HAS_RECEIVER else -1  # of self or cls among the parameters

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Compute an attribute on its first use."""
            if name not in _MADE:
                raise AttributeError(name)
            made = _MADE[name](self)
            if name not in _PLAIN:
                self.module.used[self] = None
            setattr(self, name, made)
            return made

    @property
    def is_generator(self) -> bool:
        """Return whether the code yields."""
        return bool(self.summary.flags & IS_GENERATOR)

    @property
    def is_async(self) -> bool:
        """Return whether the code is of an async function."""
        return bool(self.summary.flags & IS_ASYNC)

    @property
    def decorated_by(self) -> Sequence[int]:
        """Return the decorators, as operations of the enclosing frame."""
        return self.summary.head.decorated_by

    def open_users(self) -> list[tuple[int, ...]]:
        """List the users of each operation."""
        users = self.users
        if not isinstance(users, list):
            users = self.users = marshal.loads(users) if users else _list_users(self.summary.nodes)
        return users

    def pack(self) -> None:
        """Pack the data of evaluation until the next one."""
        self.summary.pack()
        if isinstance(self.users, list):
            self.users = marshal.dumps(self.users)

    def drop_evaluation(self) -> None:
        """Drop the data of evaluation and linking, when both are over."""
        self.summary.pack()
        self.outcomes, self.values, self.users = {}, None, None

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
        """Return the variable of a name that inner functions read."""
        found = self.cells.get(name)
        if found is None:
            found = self.cells[name] = Variable(self.module, self, CELL, name)
        return found


def _list_users(nodes: Sequence[Operation]) -> list[tuple[int, ...]]:
    """List the users of each operation."""
    users: list[tuple[int, ...]] = [()] * len(nodes)
    for number, node in enumerate(nodes):
        for each in list_operands(node):
            if each >= 0:
                users[each] += (number,)
    return users


_NO_NAMES: frozenset[str] = frozenset()  # most code has no decorators, and each empty set would be an object


def _make_defaults(code: Code) -> dict[int, Variable]:
    head = code.summary.head
    places = {each.place for each in head.passed}.union(place for each in head.guards for place, _, _ in each)
    return {place: Variable(code.module, code, DEFAULT, place) for place in sorted(places)}


_MADE: dict[str, Callable[[Code], Any]] = {
    "parameters": lambda code: [
        Variable(code.module, code, PARAMETER, place) for place in range(len(code.summary.parameters))
    ],
    "result": lambda code: Variable(code.module, code, RESULT),
    "yielded": lambda code: Variable(code.module, code, YIELDED),
    "cases": lambda code: {each: Variable(code.module, code, CASE, each) for each in code.summary.head.guards},
    "defaults": _make_defaults,
    "passed": lambda code: tuple(code.summary.head.passed),
    "decorators": lambda code: frozenset(code.summary.head.decorators) if code.summary.head.decorators else _NO_NAMES,
    **dict.fromkeys(("substitutes", "promises", "values", "users"), lambda code: None),
    **dict.fromkeys(("cells", "outcomes", "signatures"), lambda code: {}),
    **dict.fromkeys(("dirty", "merged"), lambda code: set()),
}
"""Computations of attributes of code."""
_PLAIN = frozenset(("decorators", "passed", "dirty", "merged", "users"))
"""Attributes that are in no reference cycle with code."""


class ModuleInfo(Home):
    """One file as a module."""

    codes: list[Code]
    named: dict[str, Code]  # by key
    names: dict[str, Variable]
    bindings: dict[str, list[int]]  # by name, its last operations in the module's code
    stars: list[Import]
    outline: ModuleOutline
    unit: UnitText

    def __init__(self, path: str, program: Program) -> None:
        super().__init__(path)
        self.used: dict[Code, None] = {}  # code with attributes that may refer to it
        self.is_outlined = False  # whether its classes come from an outline, with their bases
        self.classes: dict[str, ClassInfo] = {}  # by key, in source order
        self.position = self.base = 0  # of its first code and operation in the program
        self._program = program

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Load the extracted file or read its code."""
            if name == "unit":
                self.unit = self._program.units[self.path]
                return self.unit
            if name not in _OF_CODE:
                raise AttributeError(name)
            self.open()
            return vars(self)[name]

    def read(self) -> None:
        """Read the summary of the file."""
        frames, self._places = read_summary(self.unit.summary)
        self.codes, self.named, self.names, self.bindings, self.stars = [], {}, {}, {}, []
        turns: dict[str, int] = {}
        for number, frame in enumerate(frames):
            parent = self.codes[frame.parent] if frame.parent >= 0 else None
            code = Code(self, number, frame, parent)
            name = code.qualname
            turn = turns[name] = turns.get(name, 0) + 1
            code.key = name if turn == 1 else f"{name}#{turn}"
            self.named[code.key] = code
            self.codes.append(code)
            self._scan(code)

    def open(self) -> None:
        """Read the code of an outlined module."""
        self.read()
        self._program.place(self)

    @property
    def root(self) -> Code | None:
        """Return the code of the module itself; None for a file without a summary."""
        return self.codes[0] if self.codes else None

    def find_place(self, code: Code, site: int) -> tuple[int, int]:
        """Return the start and end of a site in the text of the file."""
        number = 2 * (code.summary.first_site + site)
        return self._places[number], self._places[number + 1]

    def _scan(self, code: Code) -> None:
        for name in code.summary.head.names:
            if name not in self.names:
                self.names[name] = Variable(self, self, NAME, name)
        is_root = code.number == 0
        for node in code.summary.nodes if is_root or code.summary.flags & HAS_STARS else ():
            if node[0] == o.SET_GLOBAL and is_root:
                self.bindings.setdefault(node[1], []).append(node[2])
            elif node[0] == o.STAR:
                self.stars.append(self.unit.imports[node[1]])

    def release(self) -> None:
        """Break reference cycles."""
        for code in self.used:
            _clear(code, Code.__slots__)
        for each in (self.written, self.due, self.changed, vars(self)):
            each.clear()


_OF_CODE = frozenset(("_places", "bindings", "codes", "named", "names", "stars"))


class OutdatedNameError(Exception):
    """A recorded name of code that no longer exists."""


class Program:
    """All modules of a repository, with its classes and imports."""

    def __init__(
        self, units: Mapping[str, UnitText], package: str, errors: LocalErrors,
        schedule: Schedule | None = None, outlines: Mapping[str, ModuleOutline] = NO_OUTLINES,
    ) -> None:  # fmt: skip
        """Read the modules; the code of outlined ones is read on first use."""
        self.errors = errors
        self.units = units
        self.map = ModuleMap(units, package)
        self.interner = Interner()
        self.schedule = schedule or Schedule()
        self.shared = Home("")  # owner of variables that belong to no file
        self.hierarchy = Hierarchy(self.schedule)
        self.modules: dict[str, ModuleInfo] = {}
        self.special_names: set[str] = set()
        self._stars: dict[tuple[str, str], tuple[str, ...]] = {}
        self._star_bound: dict[tuple[str, str, int, int], tuple[str, ...]] = {}
        self._bound: dict[tuple[str, int], Found] = {}
        self._exported: dict[str, frozenset[str] | None] = {}
        position = 0
        for path in sorted(units):
            module = ModuleInfo(path, self)
            module.position, module.base = position, len(self.schedule.owners)
            outline = outlines.get(path)
            if outline is None:
                try:
                    module.read()
                except Exception as fault:
                    errors.note(fault, "resolve", path)
                    continue
                count = sum(code.summary.count or 1 for code in module.codes)
                keys = [code.key for code in module.codes if code.summary.kind == o.CLASS_BODY]
                module.classes = {key: ClassInfo(module, key) for key in keys}
                position += len(module.codes)
            else:
                module.outline, module.is_outlined = outline, True
                module.classes = {each.key: _restore_class(module, each) for each in outline.classes}
                position, count = position + outline.codes, outline.operations
            self.schedule.owners += [None] * count  # type: ignore[list-item]  # until the module is placed
            self.modules[path] = module
            self.hierarchy.add(module.classes.values())
            if outline is None:
                self.place(module)
        for module in self.modules.values():
            for info in module.classes.values() if module.is_outlined else ():
                self._connect(info)

    @cached_property
    def known_packages(self) -> KnownPackages:
        """Return the packages that import each other."""
        return KnownPackages(self)

    def list_codes(self) -> Iterator[Code]:
        """List all code except of outlined modules, in a fixed order."""
        for path in sorted(self.modules):
            if not self.modules[path].is_outlined:
                yield from self.modules[path].codes

    def find_code(self, path: str, key: str) -> Code:
        """Return code by its key; OutdatedNameError where there is none."""
        module = self.modules.get(path)
        code = module.named.get(key) if module is not None else None
        if code is None:
            raise OutdatedNameError(f"{path}: {key}")
        return code

    def find_class(self, path: str, key: str) -> ClassInfo | None:
        """Return a class by its key; None where there is none."""
        module = self.modules.get(path)
        return module.classes.get(key) if module is not None else None

    def _connect(self, info: ClassInfo) -> None:
        """Set the bases of an outlined class; OutdatedNameError where one no longer exists."""
        named = (*info.outline.bases, info.outline.metaclass or ("", ""))
        *bases, metaclass = (self.find_class(*each) for each in named)
        found = tuple(each for each in bases if each is not None)
        if len(found) < len(bases) or (metaclass is None) != (info.outline.metaclass is None):
            raise OutdatedNameError(f"{info.module.path}: {info.key}")
        info.bases, info.metaclass = found, metaclass

    def outline_modules(self) -> None:
        """Outline the modules, after the bases of all classes were found."""
        for module in self.modules.values():
            if not module.is_outlined:
                find_records(module.classes.values())
                module.outline = outline_module(module)
                for outline in module.outline.classes:
                    module.classes[outline.key].outline = outline
            for each in module.outline.classes:
                self.special_names.update(name for name in each.members if name.startswith("__"))

    def place(self, module: ModuleInfo) -> None:
        """Number the code of a module, and fill in the members of its classes."""
        base, owners = module.base, self.schedule.owners
        for position, code in enumerate(module.codes, module.position):
            code.position, code.base = position, base
            base += code.summary.count or 1
            owners[code.base : base] = [code] * (base - code.base)
            if code.summary.kind == o.CLASS_BODY:
                code.class_info = module.classes[code.key]
                code.class_info.open(code)
        for code in module.codes:
            try:
                self._describe(code)
            except Exception as fault:
                self.errors.note(fault, "resolve", module.path)
                code.summary.nodes.clear()  # treated as empty
                code.summary.head = FrameHead()
        if module.is_outlined:
            find_records(module.classes.values())

    def _describe(self, code: Code) -> None:
        """Fill in the members and fields of a class."""
        parent, info = code.parent, code.class_info
        if info is not None:
            nodes = code.summary.nodes
            for node in nodes:
                if node[0] != o.MEMBER:
                    continue
                info.members[node[1]] = Variable(code.module, info, MEMBER, node[1])
                value = nodes[node[2]]
                made = nodes[value[1]] if value[0] == o.DECORATE else value
                if made[0] == o.FUNC:
                    info.methods[node[1]] = code.module.codes[made[1]]
                if value[0] == o.DECLARE:
                    info.declared[node[1]] = value[1]
                    if value[2] < 0:
                        info.unset |= {node[1]}
        elif parent is not None and parent.class_info is not None and code.summary.kind == o.FUNCTION:
            info = code.owner_class = parent.class_info
            for name in code.summary.head.own if code.receiver_place == 0 else ():
                if name not in info.fields:
                    info.fields[name] = Variable(code.module, info, FIELD, name)
        if code.summary.flags & FORWARDS:
            code.cell(FORWARDED)

    # Names of modules.

    def find_bound(self, path: str, number: int) -> Found:
        """Return the module that an import binds to a name, or takes a name from."""
        found = self._bound.get((path, number))
        if found is None:
            record = self.units[path].imports[number]
            find = self.map.find_bound if record.name is None else self.map.find_import
            found = self._bound[path, number] = find(path, record)
        return found

    def find_star(self, path: str, name: str) -> tuple[str, ...]:
        """Return the modules of the last star import that provides a name; a library's provides none."""
        key = path, name
        self.schedule.consulted.add(name)
        found = self._stars.get(key)
        if found is None:
            found = self._stars[key] = self._search_stars(path, self.modules[path].stars, name, {path})
        return found

    def find_brought(self, path: str, numbers: Sequence[int], name: str) -> tuple[str, ...]:
        """Return the modules of the last of some star imports that provides a name."""
        self.schedule.consulted.add(name)
        key = path, name, numbers[0], numbers[-1]
        found = self._star_bound.get(key)
        if found is None:
            records = [self.units[path].imports[number] for number in numbers]
            found = self._star_bound[key] = self._search_stars(path, records, name, {path})
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
        """Return the modules that define a name which a star import takes from a module."""
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
        """Return whether a module only imports a name from modules already searched."""
        nodes = module.root.summary.nodes if module.root is not None else ()
        made = [nodes[number] for number in module.bindings.get(name, ())]
        records = [(node[1], module.unit.imports[node[1]]) for node in made if node[0] == o.IMPORT]
        if not made or len(records) < len(made):
            return False
        bound = ((record, self.find_bound(module.path, number)) for number, record in records)
        return all(record.name == name and others.issuperset(found.modules) for record, found in bound)

    def list_exported(self, module: ModuleInfo) -> frozenset[str] | None:
        """Return the names in `__all__` of a module; None where they are not literal."""
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
        """Break reference cycles, which spares the garbage collector."""
        for module in self.modules.values():
            module.release()
        for info in self.hierarchy.classes:
            _clear(info, ClassInfo.__slots__)
        for container in self.interner.list(Container):
            container.everything = container.rest = container.keys = None
            container.keyed.clear()
        self.interner.clear()
        for each in (self.hierarchy, self.schedule, self):
            vars(each).clear()


def _restore_class(module: ModuleInfo, outline: ClassOutline) -> ClassInfo:
    """Create a class from its outline; its bases are set once all classes exist."""
    info = ClassInfo(module, outline.key)
    info.outline = outline
    info.places, info.libraries = tuple(outline.places), tuple(outline.libraries)
    info.has_unknown, info.is_protocol = outline.has_unknown, outline.is_protocol
    return info


def _clear(holder: Code | ClassInfo, names: Sequence[str]) -> None:
    for name in names:
        try:
            delattr(holder, name)
        except AttributeError:
            continue


def _list_before(nodes: Sequence[Any], numbers: Iterable[int]) -> set[int]:
    """Return operations, and those whose values they change in place."""
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
    """Return the texts of a literal text, list or tuple, or of a concatenation."""
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
