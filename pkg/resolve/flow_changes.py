"""Who is handed other things than last time, where only some files are resolved again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Set
from typing import Any

from pkg.resolve.binder import Binder
from pkg.resolve.changes import Past
from pkg.resolve.containers import REST
from pkg.resolve.dependency_record import DependencyRecord, Origin, Received
from pkg.resolve.file_diff import OtherParts
from pkg.resolve.places import describe_origin, hash_place, hash_values, list_origins, parse_name
from pkg.resolve.sites import list_keys
from pkg.resolve.solver import Key


def ask_again(binder: Binder, path: str, dependencies: DependencyRecord) -> None:
    """Ask for the sets of a file that others asked for last time: they need not be resolved again, but know it."""
    for sets in dependencies.taken.received.values():
        for received in sets:
            _ask(binder, received, path)
    binder.solver.solve()


def _ask(binder: Binder, received: Received, path: str) -> Key | None:
    """Ask for a set; nothing where its scope is gone, or the container that it is of was not made."""
    try:
        key: Key = parse_name(received.name, binder.modules[path])
    except KeyError:
        return None
    name: Any = key[1]
    if isinstance(name, tuple):  # of a container; all others are sets of a scope
        if name[0] == REST:
            binder.solver.get(("variable", *name[1:]))
        if not binder.containers.holds(name):
            return None
    binder.solver.get(key)
    return key


def find_receivers(binder: Binder, past: Past, whole: Set[str]) -> set[str]:
    """Give the files to which others, or their own functions, deliver other things than before, or no longer.

    `whole` are those that were resolved. Of these the ones count whose dependants were left alone, because nothing had
    changed in them that these were worked out from.
    """
    snapshot, same = past.snapshot, past.same
    resolved = whole | (snapshot.keys() - binder.modules.keys())
    addresses = {address for path in resolved & snapshot.keys() for *_, address in snapshot[path].deliveries}
    for place, origins in binder.context.dataflow.origins.items():
        if any(origin.scope.module.path in resolved for origin, _ in list_origins(each.key for each in origins)):
            addresses.add(hash_place(place, binder.modules))
    wanted = set(map(str, addresses))
    return {
        path for path, dependencies in snapshot.items()
        if (path not in resolved or path in same)
        and not _is_same(binder, path, dependencies, wanted, past.other.get(path))
    }  # fmt: skip


def _is_same(
    binder: Binder, path: str, dependencies: DependencyRecord, addresses: set[str], other: OtherParts | None
) -> bool:
    """Tell whether what is made of deliveries to some places of a file is what it was, where the file is as it was."""
    for address in addresses & dependencies.places:
        for received in dependencies.taken.received[address]:
            if other is not None and other.covers(received):
                continue
            key = _ask(binder, received, path)
            binder.solver.solve()
            if key is None or hash_values(binder.solver.cells[key].values, binder.modules) != received.values:
                return False
    return True


def find_known(binder: Binder, snapshot: Mapping[str, DependencyRecord]) -> Callable[[Hashable], Iterator[Key]]:
    """Let deliveries be found that files made last time which have not to be resolved again."""
    origins: dict[int, list[tuple[str, list[Any]]]] = defaultdict(list)
    for path, dependencies in snapshot.items():
        for *origin, address in dependencies.deliveries:
            origins[address].append((path, origin))
    keys: dict[str, dict[Origin, Key]] = {}

    def find(place: Hashable) -> Iterator[Key]:
        for path, origin in origins.get(hash_place(place, binder.modules), ()):
            if path not in keys:
                known = list_origins(list_keys(binder.modules[path], binder.list_sites(path)))
                keys[path] = {describe_origin(found): key for found, key in known}
            key = keys[path].get(Origin(*origin))
            if key is not None:
                yield key

    return find
