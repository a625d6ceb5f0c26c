"""What the links of files were worked out from, and whom their sites deliver to: kept for the next resolution."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from pkg.graph.resolve.calls import Binder
from pkg.graph.resolve.changes import describe_classes, describe_patches
from pkg.graph.resolve.containers import REST
from pkg.graph.resolve.model import ModuleScopes, Scope, Site, Store
from pkg.graph.resolve.reach import Reach, find_home
from pkg.graph.resolve.records import Basis, Origin, Received, hash_text
from pkg.graph.resolve.solver import Key
from pkg.graph.resolve.values import Values

_STORE = 255  # in the place of a fact's code: an assignment to an item
_SNIPPET = 80  # bytes of a text by which what stands there is told apart


class Foundations:
    """What files that are resolved stand on."""

    def __init__(self, binder: Binder, sites: Mapping[str, list[Site]]) -> None:
        self._binder = binder
        self._sites = sites
        self._deliveries = binder.context.deliveries

    @cached_property
    def _reach(self) -> Reach:
        return Reach(self._binder.context)

    @cached_property
    def _delivered(self) -> dict[str, list[tuple[Origin, int]]]:
        """The places that the sites of each file deliver to."""
        found: dict[str, list[tuple[Origin, int]]] = defaultdict(list)
        for place, origins in self._deliveries.origins.items():
            address = self._hash_place(place)
            for _, origin in _list_sites(origins):
                found[origin.scope.module.path].append((_describe_origin(origin), address))
        return found

    @cached_property
    def _received(self) -> dict[str, dict[str, list[Received]]]:
        """What is made of deliveries to each file, by place, as far as anybody asked for it."""
        found: dict[str, dict[str, list[Received]]] = defaultdict(dict)
        values = self._binder.solver.values
        for place, readers in self._deliveries.readers.items():
            home = self._find_home(place)
            if home is not None:
                sets = [Received(write_name(key, home), self._hash_values(values[key])) for key in readers]
                found[home][str(self._hash_place(place))] = sorted(sets, key=str)
        return found

    def describe(self, path: str, before: Basis | None = None) -> Basis:
        """Describe what the links of a file stand on; what others took from it before counts on."""
        module = self._binder.modules[path]
        reach = self._reach.list_paths(module, self._list_keys(module), self._list_imported(module))
        received = self._received.get(path, {})
        pieces = set(self._reach.pieces.get(path, ()))
        if before is not None:
            pieces |= set(before.pieces)
            known = {place: list(sets) for place, sets in before.received.items()}
            received = known | {place: _join(known.get(place, []), sets) for place, sets in received.items()}
        return Basis(
            frozenset(map(hash_text, reach)), sorted(self._delivered.get(path, ())), received,
            sorted(pieces), describe_classes(self._binder, module),
            describe_patches(self._binder, path),
        )  # fmt: skip

    def _list_keys(self, module: ModuleScopes) -> Iterator[Key]:
        for site in self._sites[module.path]:
            yield "site", site
        for store in module.item_stores:
            yield "store", store
        for place in range(len(module.imports)):
            yield "imported", module.root, place

    def _list_imported(self, module: ModuleScopes) -> Iterator[str]:
        for record in module.imports:
            found = self._binder.map.find_import(module.path, record)
            if found.module is not None:
                yield found.module

    def ask_again(self, path: str, basis: Basis) -> None:
        """Ask for the sets of a file that others asked for last time: they need not be resolved again, but know it."""
        for sets in basis.received.values():
            for received in sets:
                self._ask(received, path)
        self._binder.solver.solve()

    def _ask(self, received: Received, path: str) -> Key | None:
        """Ask for a set; nothing where its scope is gone, or the container that it is of was not made."""
        try:
            key: Key = read_name(received.name, self._binder.modules[path])
        except KeyError:
            return None
        if key[0] != "variable":
            name: Any = key[1]
            if name[0] == REST:
                self._binder.solver.get(("variable", *name[1:]))
            if not self._binder.containers.holds(name):
                return None
        self._binder.solver.get(key)
        return key

    def find_receivers(self, bases: Mapping[str, Basis], resolved: Iterable[str]) -> set[str]:
        """Give the files to which others deliver other things than before, or no longer."""
        resolved = set(resolved)
        addresses = {address for path in resolved if path in bases for _, address in bases[path].deliveries}
        for place, origins in self._deliveries.origins.items():
            if any(origin.scope.module.path in resolved for _, origin in _list_sites(origins)):
                addresses.add(self._hash_place(place))
        wanted = set(map(str, addresses))
        return {
            path for path, basis in bases.items() if path not in resolved and not self._is_same(path, basis, wanted)
        }  # fmt: skip

    def _is_same(self, path: str, basis: Basis, addresses: set[str]) -> bool:
        """Tell whether what is made of deliveries to some places of a file is what it was."""
        solver = self._binder.solver
        for address in addresses & basis.received.keys():
            for received in basis.received[address]:
                key = self._ask(received, path)
                solver.solve()
                if key is None or self._hash_values(solver.values[key]) != received.values:
                    return False
        return True

    def _find_home(self, place: Hashable) -> str | None:
        return find_home(place, self._binder.modules)

    def _hash_place(self, place: Hashable) -> int:
        return hash_place(place, self._find_home(place))

    def _hash_values(self, values: Values) -> int:
        """Hash values by the texts of what they are, wherever these stand; their order does not count."""
        return hash_text(*sorted(map(self._describe, values)))

    def _describe(self, value: Hashable) -> str:
        if isinstance(value, Scope):
            text = value.module.text[slice(*value.head)]
            return f"{value.module.path}:{value.qualname}:{text[:_SNIPPET]!r}"
        if not isinstance(value, tuple):
            return repr(value)
        if len(value) > 1 and value[0] in self._binder.modules and isinstance(value[1], int):  # a written container
            text = self._binder.modules[value[0]].text[value[1] : value[1] + _SNIPPET]
            return f"({value[0]}{text!r}{value[2:]})"
        return f"({','.join(map(self._describe, value))})"


def _join(before: Iterable[Received], now: Iterable[Received]) -> list[Received]:
    """Join what is known of sets; what is known now counts."""
    known = {str(each.name): each for each in (*before, *now)}
    return sorted(known.values(), key=str)


def hash_place(place: Hashable, home: str | None) -> int:
    """Hash a function or container that is delivered to, by its file and where it stands there."""
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
        for each in module.scopes if not path else ():
            if each.qualname == qualname and each.kind == kind and module.numbers[each] == number:
                return each
        raise KeyError(qualname)
    return tuple(read_name(each, module) for each in written) if isinstance(written, list) else written


def _list_sites(origins: Iterable[Key]) -> Iterator[tuple[str, Any]]:
    """Give the sites and assignments among the sets that deliver; what others deliver, sites do as well."""
    for kind, origin, *_ in origins:
        if kind in ("site", "store"):
            yield str(kind), origin


def _describe_origin(origin: Site | Store) -> Origin:
    if isinstance(origin, Store):
        return Origin(_STORE, origin.start, origin.end)
    return Origin(int(origin.code), origin.start, origin.end)


def find_known(binder: Binder, bases: Mapping[str, Basis]) -> Callable[[Hashable], Iterator[Key]]:
    """Let deliveries be found that files made last time which have not to be resolved again."""
    origins: dict[int, list[tuple[str, Origin]]] = defaultdict(list)
    for path, basis in bases.items():
        for origin, address in basis.deliveries:
            origins[address].append((path, origin))
    keys: dict[str, dict[Origin, Key]] = {}

    def find(place: Hashable) -> Iterator[Key]:
        for path, origin in origins.get(hash_place(place, find_home(place, binder.modules)), ()):
            if path not in keys:
                keys[path] = dict(_list_origins(binder, path))
            if origin in keys[path]:
                yield keys[path][origin]

    return find


def _list_origins(binder: Binder, path: str) -> Iterator[tuple[Origin, Key]]:
    for site in binder.list_sites(path):
        yield _describe_origin(site), ("site", site)
    for store in binder.modules[path].item_stores:
        yield _describe_origin(store), ("store", store)
