"""Names of places and sets by which they are known from one resolution to the next: for JSON, and as hashes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from pkg.graph.resolve.basis import Origin, hash_text
from pkg.graph.resolve.model import ModuleScopes, Scope, Site, Store
from pkg.graph.resolve.reach import find_home
from pkg.graph.resolve.solver import Key
from pkg.graph.resolve.values import Values

_ORIGINS = (Site, Store)
_STORE = 255  # in the place of a fact's code: an assignment to an item
_SNIPPET = 80  # bytes of a text by which what stands there is told apart


def hash_place(place: Hashable, modules: Mapping[str, ModuleScopes]) -> int:
    """Hash a function or container that is delivered to, by its file and where it stands there."""
    home = find_home(place, modules)
    if isinstance(place, Scope):
        return hash_text(home, place.kind, place.qualname, place.module.numbers[place])
    return hash_text(home, write_name(place, home or ""))


def write_name(part: Hashable, home: str) -> Any:
    """Write the name of a set or of a place for JSON: scopes by their file and where they stand."""
    if isinstance(part, Scope):
        path = part.module.path
        return {"scope": [part.kind, part.qualname, part.module.numbers[part], path if path != home else ""]}
    return [write_name(each, home) for each in part] if isinstance(part, tuple) else part


def read_name(written: Any, module: ModuleScopes) -> Any:
    """Read the name of a set in its file; a KeyError says that its scope is gone, or one of another file."""
    if isinstance(written, dict):
        kind, qualname, number, path = written["scope"]
        found = module.find(kind, qualname, number) if not path else None
        if found is None:
            raise KeyError(qualname)
        return found
    return tuple(read_name(each, module) for each in written) if isinstance(written, list) else written


def list_origins(keys: Iterable[Key]) -> Iterator[tuple[Site | Store, Key]]:
    """Give the sites and assignments among the sets that deliver; what others deliver, sites do as well."""
    for key in keys:
        origin = key[1]
        if isinstance(origin, _ORIGINS):
            yield origin, key


def describe_origin(origin: Site | Store) -> Origin:
    """Describe a site or assignment by its place in its file."""
    if isinstance(origin, Store):
        return Origin(_STORE, origin.start, origin.end)
    return Origin(int(origin.code), origin.start, origin.end)


def hash_values(values: Values, modules: Mapping[str, ModuleScopes]) -> int:
    """Hash values by the texts of what they are, wherever these stand; their order does not count."""
    return hash_text(*sorted(_describe(value, modules) for value in values))


def _describe(value: Hashable, modules: Mapping[str, ModuleScopes]) -> str:
    if isinstance(value, Scope):
        text = value.module.text[slice(*value.head)]
        return f"{value.module.path}:{value.qualname}:{text[:_SNIPPET]!r}"
    if not isinstance(value, tuple):
        return repr(value)
    if len(value) > 1 and value[0] in modules and isinstance(value[1], int):  # a written container
        text = modules[value[0]].text[value[1] : value[1] + _SNIPPET]
        return f"({value[0]}{text!r}{value[2:]})"
    return f"({','.join(_describe(each, modules) for each in value)})"
