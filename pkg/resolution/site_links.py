"""Write the links of each file: imports, base classes, overrides, calls, unbound calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pkg.extract.summary import operations as o
from pkg.model import CERTAIN, LIKELY, POSSIBLE, Edge, Import, Label, RelationType, rank_confidence
from pkg.resolution.classes import ClassInfo
from pkg.resolution.guessed_methods import GUESSED, DuckTypes
from pkg.resolution.link_record import CallEnd, FileLinks, SiteLinks, place_links
from pkg.resolution.machine import Machine
from pkg.resolution.module_map import Found
from pkg.resolution.overflows import Overflows
from pkg.resolution.program import Code, ModuleInfo, Program
from pkg.resolution.reasons import Reason
from pkg.resolution.self_calls import SelfCalls
from pkg.resolution.site_outcomes import Target, is_bound, settle
from pkg.resolution.value_sets import Class, Function, Library, Module, Value
from pkg.units import UnitLinks, format_id, hash_key, name_library


@dataclass(frozen=True, slots=True)
class CallCounts:
    """Numbers of call expressions of a file by outcome; each is counted once."""

    bound: int = 0  # to a function or class, certainly or likely
    possible: int = 0  # to functions or classes, none of them likely
    unbound: int = 0  # for a reason
    external: int = 0  # to functions, classes or methods outside of the repository

    @property
    def total(self) -> int:
        """Return the number of call expressions."""
        return self.bound + self.possible + self.unbound + self.external


End = tuple[str, str]
"""Id of a node, and its kind."""


class NodeIds:
    """Nodes of a project's files and definitions."""

    def __init__(self, source: str, program: Program) -> None:
        self.source = source
        self._program = program

    def of_file(self, path: str) -> str:
        """Return the id of a file."""
        return format_id(hash_key(self.source, path, Label.FILE.value))

    def of_definition(self, code: Code) -> str | None:
        """Return the id of a function or class; None where it is no node."""
        number = code.summary.definition
        return code.module.unit.ids[number] if number >= 0 else None

    def of_owner(self, code: Code) -> str:
        """Return the function that contains a site; the file for code of modules and classes."""
        each: Code | None = code
        while each is not None and (each.summary.kind != o.FUNCTION or each.summary.definition < 0):
            each = each.parent
        found = self.of_definition(each) if each is not None else None
        return found or self.of_file(code.module.path)


class LinkWriter:
    """Writer of the links of a project's files."""

    def __init__(self, source: str, machine: Machine) -> None:
        self._machine = machine
        self._program = machine.program
        self._ids = NodeIds(source, machine.program)
        self._duck_types = DuckTypes(machine)
        self._overflows: Overflows | None = None  # made on first use
        self._self_calls = SelfCalls(machine.program.hierarchy)
        self.counts: dict[str, CallCounts] = {}  # of written files

    def write(self, path: str) -> UnitLinks:
        """Write the links of one file."""
        unit = self._program.units[path]
        return place_links(unit, self.list_links(path))

    def list_links(self, path: str) -> FileLinks:
        """Return the links of one file by site, and release the code of the file."""
        module, errors = self._program.modules.get(path), self._program.errors
        if module is None:  # its summary is unreadable
            self.counts[path] = CallCounts()
            return FileLinks()
        self._program.schedule.look_from(module)
        imports, edges = _ImportLinks(self._machine, self._ids, module), list[Edge]()
        with errors.keep("link", path):
            edges += imports.link()
        with errors.keep("link", path):
            edges += self._link_classes(module)
        calls = _CallLinks(self._ids, self._explain)
        with errors.keep("link", path):
            for code in module.codes:
                for site, kind in enumerate(code.summary.site_kinds):
                    found = code.outcomes.get(site)
                    if found:
                        is_definition = kind == o.SITE_DEFINITION
                        judged = self._self_calls.judge(code, site, found)
                        targets, reasons = settle(judged, is_definition)
                        if not is_bound(targets) and not GUESSED.isdisjoint(reasons):
                            targets += self._duck_types.find_functions(code, site)
                        calls.add(code, site, targets, reasons)
                    elif kind == o.SITE_CALL:  # a call of None only
                        calls.add(code, site, [], [Reason.NOTHING])
                calls.add_requests(code, settle(self._machine.fixtures.list_requested(code), True)[0])
        self.counts[path] = CallCounts(**calls.counts)
        for code in module.codes:
            code.drop_evaluation()
        return FileLinks(edges, calls.sites, sorted(imports.libraries))

    def _explain(self, code: Code, site: int, reasons: list[Reason]) -> str:
        """Return the reason why a call is unbound: too many values, which cause other reasons, else the first one."""
        if Reason.MANY not in reasons:
            return reasons[0].value
        self._overflows = self._overflows or Overflows(self._machine)
        name = self._overflows.find(code, site)
        return f"{Reason.MANY.value}: {name}" if name else Reason.MANY.value

    def _link_classes(self, module: ModuleInfo) -> Iterator[Edge]:
        for code in module.codes:
            info = code.class_info
            start = self._ids.of_definition(code) if info is not None else None
            if info is not None and start is not None:
                yield from self._link_bases(info, start)
                yield from self._link_overrides(info)

    def _link_bases(self, info: ClassInfo, start: str) -> Iterator[Edge]:
        for base, place in zip(info.bases, info.places, strict=True):
            end = self._ids.of_definition(base.code)
            if end is not None:
                is_certain = info.places.count(place) == 1
                yield Edge(RelationType.INHERITS, start, end, place, None, CERTAIN if is_certain else LIKELY)

    def _link_overrides(self, info: ClassInfo) -> Iterator[Edge]:
        for name in info.members:
            owner = self._program.hierarchy.find(info, name, after=info)
            ends = self._list_functions(owner, name) if owner is not None else []
            for start in self._list_functions(info, name) if ends else ():
                for end in ends:
                    yield Edge(RelationType.OVERRIDES, start, end, None, None, CERTAIN)

    def _list_functions(self, info: ClassInfo, name: str) -> list[str]:
        """Return the functions that a class defines under a name."""
        found = [
            self._ids.of_definition(code)
            for code in info.module.codes
            if code.parent is info.code and code.summary.kind == o.FUNCTION and code.name == name
        ]
        return [each for each in found if each is not None]


class _ImportLinks:
    """Link the imports of one file, and collect the imported libraries."""

    def __init__(self, machine: Machine, ids: NodeIds, module: ModuleInfo) -> None:
        self._machine = machine
        self._program = machine.program
        self._ids = ids
        self._module = module
        self.libraries: set[str] = set()

    def link(self) -> Iterator[Edge]:
        """Yield the edges of all resolved imports."""
        ids = self._module.unit.import_ids
        for place, (identity, record) in enumerate(zip(ids, self._module.unit.imports, strict=True)):
            ends = list(dict.fromkeys(self._resolve(place, record)))
            for end, kind in ends:
                yield Edge(RelationType.RESOLVES_TO, identity, end, None, kind, CERTAIN if len(ends) == 1 else LIKELY)

    def _resolve(self, place: int, record: Import) -> Iterator[End]:
        found = self._program.map.find_import(self._module.path, record)
        if found and record.name not in (None, "*") and self._module.codes:
            values = self._machine.import_values(self._module, place)
            end = self._pick_value(next(iter(values))) if len(values) == 1 else None
            if end is not None:
                yield end
                return
        for each in found.list_all():
            end = self._pick_found(each, record)
            if end is not None:
                yield end

    def _pick_found(self, found: Found, record: Import) -> End | None:
        """Return the node of one target of a module's name; absolute names without a target are libraries."""
        kind = "unknown" if record.name else "module"
        if not found:
            return None if record.level else self._link_library(record.module, kind)
        if record.name is None or record.name == "*":
            return (self._ids.of_file(found.module), kind) if found.module is not None else None
        return self._pick_name(found, record.name)

    def _pick_value(self, value: Value) -> End | None:
        """Return the node of the one value that an imported name stands for."""
        if isinstance(value, Class | Function):
            code = value.info.code if isinstance(value, Class) else value.code
            identity = self._ids.of_definition(code)
            return (identity, "class" if isinstance(value, Class) else "function") if identity is not None else None
        if isinstance(value, Module):
            return self._ids.of_file(value.path), "module"
        if isinstance(value, Library) and _is_importable(value.name):
            return self._link_library(value.name, "unknown" if "." in value.name else "module")
        return None

    def _pick_name(self, found: Found, name: str) -> End | None:
        """Return the last definition of a name without a single known value; else the file that binds it."""
        if found.module is None:
            return None
        file = self._ids.of_file(found.module)
        module = self._program.modules.get(found.module)
        if module is None or name not in module.names:
            return file, "unknown"
        for code in reversed(module.codes):
            if code.parent is module.root and code.name == name and code.summary.kind in (o.FUNCTION, o.CLASS_BODY):
                identity = self._ids.of_definition(code)
                if identity is not None:
                    return identity, "class" if code.class_info is not None else "function"
        return file, "variable"

    def _link_library(self, name: str, kind: str) -> End:
        top = name.partition(".")[0]
        self.libraries.add(top)
        return name_library(self._ids.source, top), kind


def _is_importable(name: str) -> bool:
    return name.replace(".", "").isidentifier() and not name.startswith("builtins.")


class _CallLinks:
    """Collector of the calls of one file."""

    def __init__(self, ids: NodeIds, explain: Callable[[Code, int, list[Reason]], str]) -> None:
        self._ids = ids
        self._explain = explain  # returns the reason of an unbound call
        self.sites: list[SiteLinks] = []
        self.counts: Counter[str] = Counter()  # by field of CallCounts

    def add(self, code: Code, site: int, targets: list[Target], reasons: list[Reason]) -> None:
        """Add the calls of a site; one with only implicit targets is unbound."""
        is_call = code.summary.find_kind(site) == o.SITE_CALL
        is_unbound = is_call and bool(reasons) and not is_bound(targets)
        if is_call:
            self.counts["unbound" if is_unbound else _judge(targets)] += 1
        ends = self._list_ends(targets)
        if ends or is_unbound:
            owner = self._ids.of_owner(code.parent if code.class_info is not None and code.parent is not None else code)
            reason = self._explain(code, site, reasons) if is_unbound else ""
            self.sites.append(SiteLinks(code.summary.first_site + site, -1, owner, ends, reason))

    def add_requests(self, code: Code, fixtures: list[Target]) -> None:
        """Add the fixtures that pytest calls for a function."""
        owner = self._ids.of_definition(code) if fixtures else None
        if owner is not None:
            self.sites.append(SiteLinks(-1, code.summary.definition, owner, self._list_ends(fixtures)))

    def _list_ends(self, targets: list[Target]) -> list[CallEnd]:
        """Return the ends of a site, each once, in the same order in every run."""
        named = ((self._ids.of_definition(each.code), each) for each in sorted(targets, key=_make_sort_key))
        ends = ((identity, each.rule, each.confidence) for identity, each in named if identity is not None)
        return list(dict.fromkeys(ends))


def _make_sort_key(target: Target) -> tuple[int, str, int]:
    return rank_confidence(target.confidence), target.rule, target.code.position


def _judge(targets: Iterable[Target]) -> str:
    """Return the field of CallCounts of a call that is not unbound."""
    found = {target.confidence for target in targets if is_bound((target,))}
    return "external" if not found else "possible" if found == {POSSIBLE} else "bound"
