"""Who is handed other things than last time, where only some files are resolved again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from pkg.graph.resolve.basis import Basis, Origin, Received
from pkg.graph.resolve.calls import Binder
from pkg.graph.resolve.containers import REST
from pkg.graph.resolve.places import describe_origin, hash_place, hash_values, list_origins, read_name
from pkg.graph.resolve.sites import list_keys
from pkg.graph.resolve.solver import Key


def ask_again(binder: Binder, path: str, basis: Basis) -> None:
    """Ask for the sets of a file that others asked for last time: they need not be resolved again, but know it."""
    for sets in basis.taken.received.values():
        for received in sets:
            _ask(binder, received, path)
    binder.solver.solve()


def _ask(binder: Binder, received: Received, path: str) -> Key | None:
    """Ask for a set; nothing where its scope is gone, or the container that it is of was not made."""
    try:
        key: Key = read_name(received.name, binder.modules[path])
    except KeyError:
        return None
    if key[0] != "variable":
        name: Any = key[1]
        if name[0] == REST:
            binder.solver.get(("variable", *name[1:]))
        if not binder.containers.holds(name):
            return None
    binder.solver.get(key)
    return key


def find_receivers(binder: Binder, bases: Mapping[str, Basis], resolved: set[str]) -> set[str]:
    """Give the files to which others deliver other things than before, or no longer."""
    addresses = {address for path in resolved if path in bases for *_, address in bases[path].deliveries}
    for place, origins in binder.context.deliveries.origins.items():
        if any(origin.scope.module.path in resolved for origin, _ in list_origins(each.key for each in origins)):
            addresses.add(hash_place(place, binder.modules))
    wanted = set(map(str, addresses))
    return {
        path for path, basis in bases.items() if path not in resolved and not _is_same(binder, path, basis, wanted)
    }  # fmt: skip


def _is_same(binder: Binder, path: str, basis: Basis, addresses: set[str]) -> bool:
    """Tell whether what is made of deliveries to some places of a file is what it was."""
    for address in addresses & basis.places:
        for received in basis.taken.received[address]:
            key = _ask(binder, received, path)
            binder.solver.solve()
            if key is None or hash_values(binder.solver.cells[key].values, binder.modules) != received.values:
                return False
    return True


def find_known(binder: Binder, bases: Mapping[str, Basis]) -> Callable[[Hashable], Iterator[Key]]:
    """Let deliveries be found that files made last time which have not to be resolved again."""
    origins: dict[int, list[tuple[str, Origin]]] = defaultdict(list)
    for path, basis in bases.items():
        for code, start, end, address in basis.deliveries:
            origins[address].append((path, Origin(code, start, end)))
    keys: dict[str, dict[Origin, Key]] = {}

    def find(place: Hashable) -> Iterator[Key]:
        for path, origin in origins.get(hash_place(place, binder.modules), ()):
            if path not in keys:
                known = list_origins(list_keys(binder.modules[path], binder.list_sites(path)))
                keys[path] = {describe_origin(found): key for found, key in known}
            if origin in keys[path]:
                yield keys[path][origin]

    return find
