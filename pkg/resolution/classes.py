"""Classes: their bases, method resolution order and subclasses (A-12)."""

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
"""Key of a lookup of the subclasses of a class."""
NAMES = "<names>"
"""Key of a lookup of all names of a class or module."""


def name_names(path: str) -> str:
    """Return the key of a lookup of all names of a module."""
    return f"{path}\0\0{NAMES}"


_ENUMERATIONS = frozenset(("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"))
_LONGEST_ORDER = 2000  # classes merged by C3; longer hierarchies are ordered depth first


class ClassInfo:
    """One class of the repository."""

    __slots__ = (
        "ancestors", "bases", "code", "declared", "derived", "fields", "has_unknown", "is_enumeration",
        "is_open", "is_protocol", "key", "kinds", "libraries", "lookups", "members", "metaclass", "methods", "module",
        "order", "outline", "owners", "places", "position", "record", "unset",
    )  # fmt: skip

    code: Code
    members: dict[str, Variable]  # names that the class body binds
    methods: dict[str, Code]  # members that are functions, decorated or not
    fields: dict[str, Variable]  # attributes of self that its methods assign
    unset: frozenset[str]  # members that are only declared
    declared: dict[str, object]  # annotations of members
    record: Record | None  # of a class with a generated constructor
    outline: ClassOutline

    def __init__(self, module: ModuleInfo, key: str) -> None:
        self.module = module
        self.key = key  # of its code
        self.position = 0  # among all classes, in the order of their code
        self.bases: tuple[ClassInfo, ...] = ()
        self.places: tuple[int, ...] = ()  # of the bases in the class statement, from 1
        self.libraries: tuple[str, ...] = ()
        self.has_unknown = False
        self.metaclass: ClassInfo | None = None
        self.order: tuple[ClassInfo, ...] = (self,)
        self.ancestors: frozenset[ClassInfo] = frozenset((self,))
        self.derived: list[ClassInfo] = []
        self.is_open = False  # whether a base is outside of the repository or unknown
        self.is_enumeration = False
        self.is_protocol = False  # whether it is declared a Protocol
        self.kinds: frozenset[ClassInfo] = self.ancestors  # ancestors, and ABCs that it is registered for
        self.lookups: dict[tuple[str, bool], Lookup] = {}
        self.owners: dict[str, ClassInfo | None] = {}  # of inherited members

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Read the code of the class on the first access to it."""
            if name not in _OF_CODE:
                raise AttributeError(name)
            self.module.open()
            return object.__getattribute__(self, name)

    def open(self, code: Code) -> None:
        """Set the code of the class."""
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
    """Places that an attribute of an object of a class may come from."""

    owner: ClassInfo | None  # first in the MRO with the member
    fields: list[Variable]  # of the class and its bases
    overrides: list[ClassInfo]  # subclasses with the member
    lower: list[Variable]  # fields of subclasses
    is_mixed_in: bool  # whether classes that subclasses mix in were searched


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
        """Compute the MRO of all classes, whose bases are known, and index their members."""
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
        """Add the ABCs that classes are registered for to the kinds of these and their subclasses."""
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
        """Find the class whose member a class has; with `after`, the next one in the MRO (super)."""
        self._note(info, name)
        if after is None:
            found = info.owners.get(name, info)
            if found is info and name not in info.members:
                found = info.owners[name] = next((each for each in info.order if name in each.members), None)
            return found
        order = info.order[info.order.index(after) + 1 :] if after in info.ancestors else ()
        return next((each for each in order if name in each.members), None)

    def _note(self, info: ClassInfo, name: str) -> None:
        """Record a lookup: of special names, which nearly all code looks up, with the class."""
        self.schedule.consulted.add((info, name) if name[:2] == "__" else name)

    def look_up(self, info: ClassInfo, name: str, is_open: bool) -> Lookup:
        """Find the places that an attribute comes from, in subclasses of an open class as well."""
        self._note(info, name)
        found = info.lookups.get((name, is_open))
        if found is None:
            found = info.lookups[name, is_open] = self._look_up(info, name, is_open)
        if found.is_mixed_in:
            self.schedule.consulted.add((info, DERIVED))
        return found

    def _look_up(self, info: ClassInfo, name: str, is_open: bool) -> Lookup:
        owner = next((each for each in info.order if name in each.members), None)
        fields = [each.fields[name] for each in info.order if name in each.fields]
        overrides, lower, is_mixed_in = list[ClassInfo](), list[Variable](), False
        if is_open:
            definers, assigners = self._definers.get(name, ()), self._assigners.get(name, ())
            overrides = [each for each in definers if each is not info and info in each.ancestors]
            lower = [each.fields[name] for each in assigners if each is not info and info in each.ancestors]
            if owner is None and not (fields or overrides or lower):
                beside = self._list_mixed_in(info) if definers or assigners else frozenset()
                is_mixed_in = bool(definers or assigners)
                overrides = [each for each in definers if each in beside]
                lower = [each.fields[name] for each in assigners if each in beside]
        return Lookup(owner, fields, overrides, lower, is_mixed_in)

    def _list_mixed_in(self, info: ClassInfo) -> frozenset[ClassInfo]:
        """Return the other ancestors of the subclasses of a class: the classes it is mixed with."""
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
        """List the classes whose member super() in a class reaches from the MRO of its subclasses."""
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
        """List all direct and indirect subclasses."""
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
    """Return the MRO of a class by C3; None where there is none."""
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
    """Return whether a class is another or a subclass of it."""
    return base in info.ancestors


def passes_for(info: ClassInfo, kind: ClassInfo) -> bool:
    """Return whether a class is a subclass of another or registered for it."""
    return kind in info.kinds


def is_protocol(info: ClassInfo) -> bool:
    """Return whether a class or one of its bases is a Protocol."""
    return any(each.is_protocol for each in info.order)
