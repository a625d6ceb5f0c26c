"""Guess the class of an unknown object: the only one with all the attributes read from it (A-12)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from pkg.extract.summary import operations as o
from pkg.model import LIKELY
from pkg.resolution.classes import ClassInfo, has_base
from pkg.resolution.reasons import Reason
from pkg.resolution.site_outcomes import DUCK_TYPE, Target
from pkg.resolution.value_sets import Function, Property

if TYPE_CHECKING:
    from pkg.resolution.machine import Machine
    from pkg.resolution.program import Code

MAX_FILES = 8  # an attribute that classes of more files have selects no class, but has to be present
GUESSED = frozenset((
    Reason.PARAMETER, Reason.ARGUMENT, Reason.RESULT, Reason.ITEM, Reason.EXPRESSION, Reason.NOTHING, Reason.MANY,
))  # fmt: skip
"""Rule of edges to methods of a guessed class."""

_COMMON = frozenset(
    name for kind in (str, bytes, list, dict, set, int, float, complex, tuple) for name in dir(kind)
) | {"read", "write", "close", "open", "flush", "seek", "readline", "readlines", "run", "send", "start", "main", "next"}
"""Attributes of builtin objects, which are no evidence for a class of the repository."""
_NAMED = {o.ATTR: 3, o.CALL_ATTR: 5, o.SET_ATTR: 4, o.DEL_ATTR: 3}
"""Index of the site in operations on an attribute, by operation."""


class _Owners(NamedTuple):
    """Classes that define an attribute."""

    all: frozenset[ClassInfo]
    known: frozenset[ClassInfo]  # those known to a package
    files: int  # of these classes


class DuckTypes:
    """Find classes by the attributes that one function reads from one expression."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._hierarchy = machine.program.hierarchy
        self._code: Code | None = None  # of the last call
        self._read_names: dict[Any, set[str]] = {}  # attributes read in it, by expression
        self._sites: dict[int, tuple[Any, str, bool]] = {}
        self._packages = machine.program.known_packages
        self._owners: dict[tuple[str, str], _Owners] = {}  # by package and name
        self._found: dict[tuple[str, frozenset[str]], tuple[ClassInfo | None, set[object]]] = {}

    def find_functions(self, code: Code, site: int) -> Iterator[Target]:
        """Iterate over the methods that a site may run, of the guessed class and its subclasses."""
        if code is not self._code:
            self._collect_reads(code)
        receiver, name, is_read = self._sites.get(site, (None, "", False))
        package = self._packages.find(code.module.path)
        if not name or name in _COMMON or name.startswith("__") or not self._list_owners(package, name).known:
            return
        is_module = code.parent is None
        names = frozenset((name,)) if is_module else frozenset(self._read_names.get(receiver, ())) | {name}
        schedule = self._machine.schedule
        schedule.consulted |= names
        found = schedule.remember(self._found, (package, names), lambda: self._find_class(package, names))
        owner = self._hierarchy.find(found, name) if found is not None else None
        if found is None or owner is None:
            return
        for each in (owner, *self._hierarchy.look_up(found, name, True).overrides):
            for member in self._machine.read(each.members[name]):
                function = member.getter if isinstance(member, Property) else member
                if isinstance(function, Function) and isinstance(member, Property) == is_read:
                    yield Target(function.code, DUCK_TYPE, LIKELY)

    def _collect_reads(self, code: Code) -> None:
        """Collect the attributes that a function reads from each expression, and the sites."""
        nodes, keys = code.summary.nodes, list[Any]()
        names, sites = dict[Any, set[str]](), dict[int, tuple[Any, str, bool]]()
        for number, node in enumerate(nodes):
            operation: int = node[0]
            key: Any = number
            place = _NAMED.get(operation)
            if operation == o.NARROW and 0 <= node[1] < number:
                key = keys[node[1]]
            elif place is not None and node[1] >= 0:
                receiver = keys[node[1]] if node[1] < number else node[1]
                if not node[2].startswith("__"):
                    names.setdefault(receiver, set()).add(node[2])
                if operation in (o.ATTR, o.CALL_ATTR):
                    sites[node[place]] = receiver, node[2], operation == o.ATTR
                if operation == o.ATTR:
                    key = receiver, node[2]
            elif operation == o.CALL and 0 <= node[1] < number and isinstance(keys[node[1]], tuple):
                sites[node[4]] = *keys[node[1]], False
            keys.append(key)
        self._code, self._read_names, self._sites = code, names, sites

    def _find_class(self, package: str, names: frozenset[str]) -> ClassInfo | None:
        """Return the only class with some attributes that defines one of them, without its subclasses."""
        owners = {name: self._list_owners(package, name) for name in sorted(names)}  # ties decide what is looked up
        picking = [each.known for each in owners.values() if each.files <= MAX_FILES]
        if not picking:
            return None
        rarest = min(picking, key=len)
        candidates = rarest.union(*(self._hierarchy.list_derived(each) for each in rarest))
        having = [
            each
            for each in candidates & frozenset[ClassInfo]().union(*picking)
            if not any(found.all.isdisjoint(each.ancestors) for found in owners.values())
        ]
        top: ClassInfo | None = None
        for each in sorted(having, key=lambda info: info.position):
            if top is None or has_base(top, each):
                top = each
        return top if top is not None and all(has_base(each, top) for each in having) else None

    def _list_owners(self, package: str, name: str) -> _Owners:
        """Return the classes that define an attribute."""
        key = package, name
        found = self._owners.get(key)
        if found is None:
            owners = self._hierarchy.list_owners(name)
            packages = {info: self._packages.find(info.module.path) for info in owners}
            is_alone = all(each == package for each in packages.values())
            known = frozenset((package,)) if is_alone else self._packages.list_known(package)
            infos = frozenset(info for info, each in packages.items() if each in known)
            found = self._owners[key] = _Owners(frozenset(owners), infos, len({info.module.path for info in infos}))
        return found
