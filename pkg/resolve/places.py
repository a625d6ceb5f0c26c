"""Names of places and sets by which they are known from one resolution to the next: for JSON, and as hashes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from pkg.resolve.abstract_values import Values
from pkg.resolve.dependency_record import Origin, find_top, hash_text, is_position
from pkg.resolve.scope_model import ModuleScopes, Scope, Site, Store
from pkg.resolve.solver import Key

_ORIGINS = (Site, Store)
_STORE = 255  # in the place of a fact's code: an assignment to an item
_SNIPPET = 80  # bytes of a text by which what stands there is told apart


def hash_place(place: Hashable, modules: Mapping[str, ModuleScopes]) -> int:
    """Hash a function or container that is delivered to, by its file and where it stands there."""
    home = _find_home(place, modules)
    if isinstance(place, Scope):
        return hash_text(home.path if home else None, place.kind, place.qualname, place.module.count_before(place))
    return hash_text(home.path if home else None, format_name(place, home))


def _find_home(place: Hashable, modules: Mapping[str, ModuleScopes]) -> ModuleScopes | None:
    top = find_top(place, modules)
    return top.module if top is not None else None


def format_name(part: Hashable, home: ModuleScopes | None) -> Any:
    """Write the name of a set or of a place for JSON: scopes by their names, and all else by where it stands in them.

    So a name stays as it is when a function moves as a whole.
    """
    if isinstance(part, Scope):
        path = part.module.path if part.module is not home else ""
        return {"scope": [part.kind, part.qualname, part.module.count_before(part), path]}
    if isinstance(part, _ORIGINS):
        path = part.scope.module.path if part.scope.module is not home else ""
        return {"site": [*describe_origin(part), path]}
    if not isinstance(part, tuple):
        return part
    if home is not None and is_position(part, (home.path,)):
        path, position, *rest = part
        top = home.find_top(position)
        return {"at": [top.qualname, home.count_before(top), position - home.find_base(top, position), *rest]}
    return [format_name(each, home) for each in part]


def parse_name(written: Any, module: ModuleScopes) -> Any:
    """Read the name of a set in its file; a KeyError says that its scope is gone, or one of another file."""
    if isinstance(written, list):
        return tuple(parse_name(each, module) for each in written)
    if not isinstance(written, dict):
        return written
    if "at" in written:
        qualname, number, offset, *rest = written["at"]
        top = _find_scope(module, "function" if qualname else "module", qualname, number)
        return module.path, module.find_position(top, offset), *rest
    if "site" in written:
        *origin, path = written["site"]
        return _find_site(module if not path else None, Origin(*origin))
    kind, qualname, number, path = written["scope"]
    return _find_scope(module if not path else None, kind, qualname, number)


def _find_scope(module: ModuleScopes | None, kind: str, qualname: str, number: int) -> Scope:
    found = module.find(kind, qualname, number) if module is not None else None
    if found is None:
        raise KeyError(qualname)
    return found


def _find_site(module: ModuleScopes | None, origin: Origin) -> Site:
    sites = (site for scope in module.scopes for site in scope.sites) if module is not None else iter(())
    found = next((site for site in sites if describe_origin(site) == origin), None)
    if found is None:
        raise KeyError(origin)
    return found


def _list_parts(written: Any) -> Iterator[dict[str, Any]]:
    """Give the scopes and places that a name speaks of, as they are written."""
    if isinstance(written, dict):
        yield written
    for part in written if isinstance(written, list) else ():
        yield from _list_parts(part)


def list_holders(written: Any) -> Iterator[str]:
    """Give the functions in which the containers and calls stand that a name speaks of; none for the module."""
    return (part[kind][0] for part in _list_parts(written) for kind in ("at", "site") if kind in part)


def list_offsets(written: Any, module: ModuleScopes) -> Iterator[int]:
    """Give where what a name speaks of begins in the text around all functions; nothing for what is inside of one.

    Of scopes, only those without a name are known by their place.
    """
    for part in _list_parts(written):
        if "at" in part:
            qualname, _, offset, *_ = part["at"]
            yield from () if qualname else (offset,)
        elif "site" in part:
            qualname, _, _, offset, *_ = part["site"]
            yield from () if qualname else (offset,)
        elif part["scope"][0] in ("lambda", "comprehension"):
            kind, qualname, number, _ = part["scope"]
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


def hash_values(values: Values, modules: Mapping[str, ModuleScopes]) -> int:
    """Hash values by the texts of what they are, wherever these stand; their order does not count."""
    return hash_text(*sorted(_describe(value, modules) for value in values))


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
