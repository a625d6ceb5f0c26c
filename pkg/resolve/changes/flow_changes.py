"""Who is handed other things than last time, where only some files are resolved again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import Any

from pkg.resolve import queries as q
from pkg.resolve.abstract_values import Key
from pkg.resolve.binder import Binder
from pkg.resolve.changes.dependency_record import DependencyRecord, Received
from pkg.resolve.changes.file_diff import OtherParts
from pkg.resolve.changes.past import Past
from pkg.resolve.changes.places import (
    Origin,
    ValueHashes,
    describe_origin,
    find_home,
    hash_place,
    list_origins,
    parse_name,
)
from pkg.resolve.containers import REST
from pkg.resolve.facts.scope_model import ModuleScopes
from pkg.resolve.sites import list_keys


def ask_again(binder: Binder, path: str, dependencies: DependencyRecord) -> None:
    """Ask for the sets of a file that others asked for last time: they need not be resolved again, but know it."""
    for sets in dependencies.taken.received.values():
        for received in sets:
            _ask(binder, received, path)
    binder.solver.solve()


def _ask(binder: Binder, received: Received, path: str) -> Key | None:
    """Ask for a set; nothing where its scope is gone, or the container that it is of was not made."""
    try:
        key: Key = parse_name(received.name, path, binder.modules)
    except KeyError:
        return None
    if not _is_made(binder, key):
        return None
    binder.solver.read(key)
    return key


def _is_made(binder: Binder, key: Key) -> bool:
    """Tell whether there is what a set is of: a container may not have been made."""
    name: Any = key[1]
    if not isinstance(name, tuple):  # of a scope
        return True
    if key[0].is_about_many or key[0] is q.GIVEN_TOGETHER:
        return _is_made(binder, name[0] if key[0] is q.GIVEN_TOGETHER else name)
    if name[0] == REST:
        binder.solver.read((q.VARIABLE, *name[1:]))
    return binder.context.containers.holds(name)


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
    addresses.update(_list_new_groups(binder, snapshot))
    wanted, hashes = set(map(str, addresses)), ValueHashes(binder.solver, binder.modules)
    return {
        path for path, dependencies in snapshot.items()
        if (path not in resolved or path in same)
        and not _is_same(binder, path, dependencies, wanted, past.other.get(path), hashes)
    }  # fmt: skip


def _list_new_groups(binder: Binder, snapshot: Mapping[str, DependencyRecord]) -> Iterator[int]:
    """Give the places to which a set delivers for many calls together that did not before."""
    modules = binder.modules
    for place, groups in binder.context.dataflow.list_groups():
        address = hash_place(place, modules)
        known = _list_known_groups(place, address, snapshot, modules)
        if any(hash_place(group, modules) not in known for group in groups):
            yield address


def _list_known_groups(
    place: Hashable, address: int, snapshot: Mapping[str, DependencyRecord], modules: Mapping[str, ModuleScopes]
) -> Sequence[int]:
    home = find_home(place, modules)
    return snapshot[home.path].taken.together.get(str(address), ()) if home and home.path in snapshot else ()


def _is_same(
    binder: Binder,
    path: str,
    dependencies: DependencyRecord,
    addresses: set[str],
    other: OtherParts | None,
    hashes: ValueHashes,
) -> bool:
    """Tell whether what is made of deliveries to some places of a file is what it was, where the file is as it was."""
    for address in addresses & dependencies.places:
        for received in dependencies.taken.received[address]:
            if other is not None and other.covers(received):
                continue
            key = _ask(binder, received, path)
            binder.solver.solve()
            if key is None or hashes.hash(binder.solver.cells[key].values) != received.values:
                return False
    return True


def find_known(
    binder: Binder, snapshot: Mapping[str, DependencyRecord], settled: Iterable[str]
) -> Callable[[Hashable], Iterator[Key]]:
    """Let deliveries be found that were made last time: by sites of settled files, alone or together with others."""
    origins: dict[int, list[tuple[str, list[Any]]]] = defaultdict(list)
    for path in settled:
        for *origin, address in snapshot[path].deliveries:
            origins[address].append((path, origin))
    keys: dict[str, dict[Origin, Key]] = {}

    def find(place: Hashable) -> Iterator[Key]:
        address = hash_place(place, binder.modules)
        groups = _list_known_groups(place, address, snapshot, binder.modules)
        for path, origin in chain(*(origins.get(each, ()) for each in (address, *groups))):
            if path not in keys:
                known = list_origins(list_keys(binder.modules[path], binder.list_sites(path)))
                keys[path] = {describe_origin(found): key for found, key in known}
            key = keys[path].get(Origin(*origin))
            if key is not None:
                yield key

    return find
