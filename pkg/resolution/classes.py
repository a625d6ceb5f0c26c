"""Classes: their bases, the order in which attributes are looked up, what is derived from them (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pkg.resolution.variables import Schedule, Variable

if TYPE_CHECKING:
    from pkg.resolution.module_outlines import ClassOutline
    from pkg.resolution.program import Code, ModuleInfo
    from pkg.resolution.record_fields import Record

DERIVED = "<derived>"
"""Looked up by what depends on which classes are derived from one."""
NAMES = "<names>"
"""Looked up where an attribute is chosen among all that a class or module has."""


def name_names(path: str) -> str:
    """Name what is looked up where one of all names of a module is chosen."""
    return f"{path}\0\0{NAMES}"


_ENUMERATIONS = frozenset(("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"))
_LONGEST_ORDER = 2000  # classes that are merged by C3; longer towers are ordered depth first


class ClassInfo:
    """One class of the repository."""

    __slots__ = (
        "ancestors", "bases", "code", "declared", "derived", "fields", "has_unknown", "is_enumeration",
        "is_open", "is_protocol", "key", "kinds", "libraries", "lookups", "members", "metaclass", "methods", "module",
        "order", "outline", "owners", "places", "position", "record", "unset",
    )  # fmt: skip

    code: Code
    members: dict[str, Variable]  # what the body of the class binds
    methods: dict[str, Code]  # those members that are functions, decorated or not
    fields: dict[str, Variable]  # what its methods assign to attributes of self
    unset: frozenset[str]  # members that are only declared
    declared: dict[str, object]  # annotations of members
    record: Record | None  # of one whose constructor is made of fields
    outline: ClassOutline

    def __init__(self, module: ModuleInfo, key: str) -> None:
        self.module = module
        self.key = key  # that of its code
        self.position = 0  # among all classes, in the order of their code
        self.bases: tuple[ClassInfo, ...] = ()
        self.places: tuple[int, ...] = ()  # of these among all bases, from 1
        self.libraries: tuple[str, ...] = ()
        self.has_unknown = False
        self.metaclass: ClassInfo | None = None
        self.order: tuple[ClassInfo, ...] = (self,)
        self.ancestors: frozenset[ClassInfo] = frozenset((self,))
        self.derived: list[ClassInfo] = []
        self.is_open = False  # whether a base is outside of the repository, or not known
        self.is_enumeration = False
        self.is_protocol = False  # whether it says itself that what it stands for need not be derived from it
        self.kinds: frozenset[ClassInfo] = self.ancestors  # for which its objects pass: registered ones as well
        self.lookups: dict[tuple[str, bool], Lookup] = {}
        self.owners: dict[str, ClassInfo | None] = {}  # by member, of those that it does not define itself

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Read the code of the class."""
            if name not in _OF_CODE:
                raise AttributeError(name)
            self.module.open()
            return object.__getattribute__(self, name)

    def open(self, code: Code) -> None:
        """Take the code of the class, which was read."""
        self.code = code
        self.members, self.methods, self.fields, self.declared = {}, {}, {}, {}
        self.unset, self.record = frozenset(), None

    def __repr__(self) -> str:
        return f"<class {self.module.path}:{self.key}>"

    @property
    def name(self) -> str:
        """Return the name of the class."""
        return self.key.rpartition(".")[2].partition("#")[0]


_OF_CODE = frozenset(("code", "declared", "fields", "members", "methods", "record", "unset"))


@dataclass(slots=True)
class Lookup:
    """Where an attribute of an object of a class may come from."""

    owner: ClassInfo | None  # the first in its order that has the member
    fields: list[Variable]  # assigned to by methods of the class and its bases
    overrides: list[ClassInfo]  # derived classes that have the member
    lower: list[Variable]  # fields that only derived classes have
    is_beside: bool  # whether it may be found in classes that derived ones are mixed with


class Hierarchy:
    """All classes of a repository."""

    def __init__(self, schedule: Schedule) -> None:
        self.classes: list[ClassInfo] = []
        self.schedule = schedule
        self._beside: dict[ClassInfo, frozenset[ClassInfo]] = {}
        self._definers: dict[str, list[ClassInfo]] = {}
        self._assigners: dict[str, list[ClassInfo]] = {}
        self._siblings: dict[tuple[ClassInfo, str], list[ClassInfo]] = {}

    def add(self, infos: Iterable[ClassInfo]) -> None:
        """Add the classes of the next module."""
        for position, info in enumerate(infos, len(self.classes)):
            info.position = position
            self.classes.append(info)

    def order(self) -> None:
        """Order all classes, whose bases are known; then names are indexed."""
        for info in self.classes:
            for base in info.bases:
                if info not in base.derived:
                    base.derived.append(info)
        done: set[ClassInfo] = set()
        for info in self.classes:
            self._order(info, done)
        for info in self.classes:
            info.kinds = info.ancestors
            info.owners.clear()
            names = {name.rpartition(".")[2] for each in info.order for name in each.libraries}
            info.is_open = any(each.libraries or each.has_unknown for each in info.order)
            info.is_enumeration = not _ENUMERATIONS.isdisjoint(names)
            if info.metaclass is None:
                info.metaclass = next((each.metaclass for each in info.order if each.metaclass is not None), None)
            for name in info.outline.members:
                self._definers.setdefault(name, []).append(info)
            for name in info.outline.fields:
                self._assigners.setdefault(name, []).append(info)

    def register(self, pairs: Iterable[tuple[ClassInfo, ClassInfo]]) -> None:
        """Have classes pass for the abstract ones that they were registered for, and all derived from them too."""
        passed: dict[ClassInfo, set[ClassInfo]] = {}
        for abstract, info in pairs:
            passed.setdefault(info, set()).update(abstract.ancestors)
        is_changed = bool(passed)
        while is_changed:
            is_changed = False
            for info in self.classes:
                kinds = info.kinds.union(*(passed[each] for each in info.kinds if each in passed))
                is_changed |= len(kinds) > len(info.kinds)
                info.kinds = kinds

    def _order(self, wanted: ClassInfo, done: set[ClassInfo]) -> None:
        waiting, opened = [wanted], set[ClassInfo]()
        while waiting:
            info = waiting[-1]
            missing = [base for base in info.bases if base not in done and base not in opened]
            if missing and info not in opened:
                opened.add(info)
                waiting += missing
                continue
            waiting.pop()
            if info not in done:
                done.add(info)
                info.order = _merge(info) or tuple(_walk(info))
                info.ancestors = frozenset(info.order)

    def find(self, info: ClassInfo, name: str, after: ClassInfo | None = None) -> ClassInfo | None:
        """Find the class that defines a member for a class; `after` begins behind one in its order."""
        self._note(info, name)
        if after is None:
            found = info.owners.get(name, info)
            if found is info and name not in info.members:
                found = info.owners[name] = next((each for each in info.order if name in each.members), None)
            return found
        order = info.order[info.order.index(after) + 1 :] if after in info.ancestors else ()
        return next((each for each in order if name in each.members), None)

    def _note(self, info: ClassInfo, name: str) -> None:
        """Note what is looked up: special names, which nearly all code looks up, with the class."""
        self.schedule.consulted.add((info, name) if name[:2] == "__" else name)

    def look_up(self, info: ClassInfo, name: str, is_open: bool) -> Lookup:
        """Find where an attribute comes from; of an open class also from derived ones."""
        self._note(info, name)
        found = info.lookups.get((name, is_open))
        if found is None:
            found = info.lookups[name, is_open] = self._look_up(info, name, is_open)
        if found.is_beside:
            self.schedule.consulted.add((info, DERIVED))
        return found

    def _look_up(self, info: ClassInfo, name: str, is_open: bool) -> Lookup:
        owner = next((each for each in info.order if name in each.members), None)
        fields = [each.fields[name] for each in info.order if name in each.fields]
        overrides, lower, is_beside = list[ClassInfo](), list[Variable](), False
        if is_open:
            definers, assigners = self._definers.get(name, ()), self._assigners.get(name, ())
            overrides = [each for each in definers if each is not info and info in each.ancestors]
            lower = [each.fields[name] for each in assigners if each is not info and info in each.ancestors]
            if owner is None and not (fields or overrides or lower):
                beside = self._list_beside(info) if definers or assigners else frozenset()
                is_beside = bool(definers or assigners)
                overrides = [each for each in definers if each in beside]
                lower = [each.fields[name] for each in assigners if each in beside]
        return Lookup(owner, fields, overrides, lower, is_beside)

    def _list_beside(self, info: ClassInfo) -> frozenset[ClassInfo]:
        """List the classes that classes derived from one are derived from as well: what it is mixed with."""
        found = self._beside.get(info)
        if found is None:
            derived = (each.ancestors for each in self.list_derived(info))
            found = self._beside[info] = frozenset().union(*derived) - info.ancestors
        return found

    def list_owners(self, name: str) -> list[ClassInfo]:
        """List the classes that define a member or assign to a field of a name."""
        self.schedule.consulted.add(name)
        return [*self._definers.get(name, ()), *self._assigners.get(name, ())]

    def find_siblings(self, info: ClassInfo, name: str) -> list[ClassInfo]:
        """Find the classes that define a member behind a class in the orders of those derived from it (super)."""
        self._note(info, name)
        self.schedule.consulted.add((info, DERIVED))
        siblings = self._siblings.get((info, name))
        if siblings is None:
            siblings = self._siblings[info, name] = self._find_siblings(info, name)
        return siblings

    def _find_siblings(self, info: ClassInfo, name: str) -> list[ClassInfo]:
        found: dict[ClassInfo, None] = {}
        for each in self.list_derived(info):
            owner = self.find(each, name, after=info)
            if owner is not None:
                found[owner] = None
        return list(found)

    def list_derived(self, info: ClassInfo) -> list[ClassInfo]:
        """List all classes derived from a class, at any distance."""
        self.schedule.consulted.add((info, DERIVED))
        found: dict[ClassInfo, None] = {}
        waiting = list(info.derived)
        while waiting:
            each = waiting.pop()
            if each not in found and each is not info:
                found[each] = None
                waiting += each.derived
        return list(found)


def _merge(info: ClassInfo) -> tuple[ClassInfo, ...] | None:
    """Merge the orders of the bases as Python does (C3); None where there is no such order."""
    if len(info.bases) == 1:
        base = info.bases[0]
        return (info, *base.order) if info not in base.ancestors else None
    if not info.bases:
        return (info,)
    if any(info in base.ancestors for base in info.bases):
        return None
    orders = [list(base.order) for base in info.bases] + [list(info.bases)]
    if sum(map(len, orders)) > _LONGEST_ORDER:
        return None
    merged = [info]
    while orders := [order for order in orders if order]:
        tails = {each for order in orders for each in order[1:]}
        chosen = next((order[0] for order in orders if order[0] not in tails), None)
        if chosen is None:
            return None
        merged.append(chosen)
        orders = [order[1:] if order[0] is chosen else order for order in orders]
    return tuple(merged)


def _walk(info: ClassInfo) -> Iterator[ClassInfo]:
    """Walk the bases depth first, each once."""
    seen: set[ClassInfo] = set()
    waiting = [info]
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            yield each
            waiting += reversed(each.bases)


def has_base(info: ClassInfo, base: ClassInfo) -> bool:
    """Return whether a class is another, or derived from it."""
    return base in info.ancestors


def passes_for(info: ClassInfo, kind: ClassInfo) -> bool:
    """Return whether objects of a class pass for those of another: derived from it, or registered for it."""
    return kind in info.kinds


def is_protocol(info: ClassInfo) -> bool:
    """Return whether what a class stands for need not be derived from it."""
    return any(each.is_protocol for each in info.order)
