"""Names of places and sets by which they are known from one resolution to the next: for JSON, and as hashes."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pkg.resolve.abstract_values import Key, Many, Value, Values
from pkg.resolve.facts.file_records import hash_text
from pkg.resolve.facts.scope_model import ModuleScopes, Scope, Site, Store
from pkg.resolve.origins import Written
from pkg.resolve.queries import KEPT, Kept
from pkg.resolve.solver import Solver

_ORIGINS = (Site, Store)
_STANDING = (Site, Store, Written)
_STORE = 255  # in the place of a fact's code: an assignment to an item
_SNIPPET = 80  # bytes of a text by which what stands there is told apart


class Origin(NamedTuple):
    """A site or assignment by its place in an outermost function, or in the module around these."""

    qualname: str  # of that function; none for the module
    number: int  # among the functions of that name
    code: int
    start: int
    end: int


def find_top(place: Hashable, modules: Mapping[str, ModuleScopes]) -> Scope | None:
    """Find the outermost function around what a set or a delivery is about, else its module; None for no place."""
    if isinstance(place, Scope):
        return place.top
    if isinstance(place, _STANDING):
        return place.scope.top
    if isinstance(place, str):
        return modules[place].root if place in modules else None
    parts = place if isinstance(place, tuple) else ()
    if is_position(parts, modules):
        return modules[parts[0]].find_top(parts[1])
    return next((top for top in (find_top(part, modules) for part in parts) if top is not None), None)


def is_position(parts: tuple[Any, ...], paths: Collection[str]) -> bool:
    """Tell whether parts of a name begin with a place in a text: the path of a file, and a position."""
    return len(parts) > 1 and isinstance(parts[1], int) and isinstance(parts[0], str) and parts[0] in paths


def hash_place(place: Hashable, modules: Mapping[str, ModuleScopes]) -> int:
    """Hash a function or container that is delivered to, by its file and where it stands there."""
    home = find_home(place, modules)
    if isinstance(place, Scope):
        return hash_text(home.path if home else None, place.kind, place.qualname, place.module.count_before(place))
    return hash_text(home.path if home else None, format_name(place, home, modules))


def find_home(place: Hashable, modules: Mapping[str, ModuleScopes]) -> ModuleScopes | None:
    """Give the file of a place."""
    top = find_top(place, modules)
    return top.module if top is not None else None


def format_name(part: Hashable, home: ModuleScopes | None, modules: Mapping[str, ModuleScopes]) -> Any:
    """Write the name of a set or of a place for JSON: scopes by their names, and all else by where it stands in them.

    So a name stays as it is when a function moves as a whole. What is of another file than `home` has its path.
    """
    if isinstance(part, Scope):
        return {"scope": [_name_path(part.module, home), part.kind, part.qualname, part.module.count_before(part)]}
    if isinstance(part, Kept):
        return {"query": ["", part.name]}
    if isinstance(part, _ORIGINS):
        return {"site": [_name_path(part.scope.module, home), *describe_origin(part)]}
    if not isinstance(part, tuple):
        return part
    if is_position(part, modules):
        path, position, *rest = part
        module = modules[path]
        top = module.find_top(position)
        offset = position - module.find_base(top, position)
        return {"at": [_name_path(module, home), top.qualname, module.count_before(top), offset, *rest]}
    return [format_name(each, home, modules) for each in part]


def _name_path(module: ModuleScopes, home: ModuleScopes | None) -> str:
    return module.path if module is not home else ""


def parse_name(written: Any, home: str, modules: Mapping[str, ModuleScopes]) -> Any:
    """Read the name of a set of a file; a KeyError says that something that it speaks of is gone."""
    if isinstance(written, list):
        return tuple(parse_name(each, home, modules) for each in written)
    if not isinstance(written, dict):
        return written
    ((kind, (path, *parts)),) = written.items()
    if kind == "query":
        return KEPT[parts[0]]
    module = modules[path or home]
    if kind == "scope":
        return _find_scope(module, *parts)
    if kind == "site":
        return _find_site(module, Origin(*parts))
    qualname, number, offset, *rest = parts
    top = _find_scope(module, "function" if qualname else "module", qualname, number)
    return module.path, module.find_position(top, offset), *rest


def _find_scope(module: ModuleScopes, kind: str, qualname: str, number: int) -> Scope:
    found = module.find(kind, qualname, number)
    if found is None:
        raise KeyError(qualname)
    return found


def _find_site(module: ModuleScopes, origin: Origin) -> Site:
    sites = (site for scope in module.scopes for site in scope.sites)
    found = next((site for site in sites if describe_origin(site) == origin), None)
    if found is None:
        raise KeyError(origin)
    return found


def _list_parts(written: Any) -> Iterator[dict[str, Any]]:
    """Give the scopes and places of its file that a name speaks of, as they are written."""
    if isinstance(written, dict) and not any(path for path, *_ in written.values()):
        yield written
    for part in written if isinstance(written, list) else ():
        yield from _list_parts(part)


def list_holders(written: Any) -> Iterator[str]:
    """Give the functions in which the containers and calls stand that a name speaks of; none for the module."""
    return (part[kind][1] for part in _list_parts(written) for kind in ("at", "site") if kind in part)


def list_offsets(written: Any, module: ModuleScopes) -> Iterator[int]:
    """Give where what a name speaks of begins in the text around all functions; nothing for what is inside of one.

    Of scopes, only those without a name are known by their place.
    """
    for part in _list_parts(written):
        if "at" in part:
            _, qualname, _, offset, *_ = part["at"]
            yield from () if qualname else (offset,)
        elif "site" in part:
            _, qualname, _, _, offset, *_ = part["site"]
            yield from () if qualname else (offset,)
        elif "scope" in part and part["scope"][1] in ("lambda", "comprehension"):
            _, kind, qualname, number = part["scope"]
            scope = module.find(kind, qualname, number)  # nothing for one of an earlier version
            if scope is not None and scope.top.parent is None:
                yield scope.head[0] - module.find_base(scope.top, scope.head[0])


def list_origins(keys: Iterable[Key]) -> Iterator[tuple[Site | Store, Key]]:
    """Give the sites and assignments among the sets that deliver; what others deliver, sites do as well."""
    for key in keys:
        origin = key[1]
        if isinstance(origin, _ORIGINS):
            yield origin, key


def describe_origin(origin: Site | Store) -> Origin:
    """Describe a site or assignment by where it stands in its function, or in the module around all functions."""
    top, module = origin.scope.top, origin.scope.module
    base = module.find_base(top, origin.start)
    code = _STORE if isinstance(origin, Store) else int(origin.code)
    return Origin(top.qualname, module.count_before(top), code, origin.start - base, origin.end - base)


class ValueHashes:
    """Hash sets by the texts of their values, wherever these stand; their order does not count.

    Large sets that were handed on by their names count as what they hold in the end: which of those that hold one
    another gives its name to all depends on what was resolved.
    """

    def __init__(self, solver: Solver, modules: Mapping[str, ModuleScopes]) -> None:
        self._solver = solver
        self._modules = modules
        self._sets: dict[Values, int] = {}  # of which many are equal
        self._large: dict[Key, frozenset[int]] = {}
        self._values: dict[Value, int] = {}

    def hash(self, values: Values) -> int:
        """Hash the values of a set, which is computed to its end."""
        found = self._sets.get(values)
        if found is None:
            hashes = {self._hash_one(value) for value in values if type(value) is not Many}
            hashes.update(*(self._hash_large(value.name) for value in values if type(value) is Many))
            found = self._sets[values] = hash_text(*sorted(hashes))
        return found

    def _hash_large(self, name: Key) -> frozenset[int]:
        name = self._solver.name(name)
        found = self._large.get(name)
        if found is None:
            found = self._large[name] = frozenset(map(self._hash_one, self._solver.flatten(name)))
        return found

    def _hash_one(self, value: Value) -> int:
        found = self._values.get(value)
        if found is None:
            found = self._values[value] = hash_text(_describe(value, self._modules))
        return found


def _describe(value: Hashable, modules: Mapping[str, ModuleScopes]) -> str:
    if isinstance(value, _ORIGINS):
        return f"{value.scope.module.path}{describe_origin(value)}"
    if isinstance(value, Scope):
        text = value.module.text[slice(*value.head)]
        return f"{value.module.path}:{value.qualname}:{text[:_SNIPPET]!r}"
    if not isinstance(value, tuple):
        return repr(value)
    if is_position(value, modules):  # a written container
        text = modules[value[0]].text[value[1] : value[1] + _SNIPPET]
        return f"({value[0]}{text!r}{value[2:]})"
    return f"({','.join(_describe(each, modules) for each in value)})"
