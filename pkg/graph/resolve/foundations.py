"""What the links of files were worked out from, and whom their sites deliver to: kept for the next resolution."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from pkg.graph.resolve.calls import Binder
from pkg.graph.resolve.changes import describe_classes, describe_patches
from pkg.graph.resolve.model import ModuleScopes
from pkg.graph.resolve.places import describe_origin, hash_place, hash_values, list_origins, write_name
from pkg.graph.resolve.reach import Reach, find_home
from pkg.graph.resolve.records import Basis, Origin, Received


class Foundations:
    """What files that are resolved stand on."""

    def __init__(self, binder: Binder) -> None:
        self._binder = binder
        self._deliveries = binder.context.deliveries

    @cached_property
    def _reach(self) -> Reach:
        return Reach(self._binder.context)

    @cached_property
    def _delivered(self) -> dict[str, list[tuple[Origin, int]]]:
        """The places that the sites of each file deliver to."""
        found: dict[str, list[tuple[Origin, int]]] = defaultdict(list)
        for place, origins in self._deliveries.origins.items():
            address = hash_place(place, self._binder.modules)
            for origin, _ in list_origins(each.key for each in origins):
                found[origin.scope.module.path].append((describe_origin(origin), address))
        return found

    @cached_property
    def _received(self) -> dict[str, dict[str, list[Received]]]:
        """What is made of deliveries to each file, by place, as far as anybody asked for it."""
        found: dict[str, dict[str, list[Received]]] = defaultdict(dict)
        modules = self._binder.modules
        for place, readers in self._deliveries.readers.items():
            home = find_home(place, modules)
            if home is not None:
                sets = [Received(write_name(each.key, home), hash_values(each.values, modules)) for each in readers]
                found[home][str(hash_place(place, modules))] = sorted(sets, key=str)
        return found

    def describe(self, path: str, before: Basis | None = None) -> Basis:
        """Describe what the links of a file stand on; what others took from it before counts on."""
        module = self._binder.modules[path]
        reach = self._reach.list_paths(module, self._list_imported(module))
        received = self._received.get(path, {})
        pieces = set(self._reach.pieces.get(path, ()))
        if before is not None:
            pieces |= set(before.pieces)
            received = _join_received(before, received)
        return Basis(
            frozenset(reach), sorted(self._delivered.get(path, ())), received,
            sorted(pieces), describe_classes(self._binder, module),
            describe_patches(self._binder, path),
        )  # fmt: skip

    def list_taken(self, bases: Mapping[str, Basis]) -> Iterator[tuple[str, Basis]]:
        """Give the files of which more was taken than before, among those that were not resolved, with that.

        Else nobody would know, when they change, that the links of others were worked out from it.
        """
        for path in sorted(bases.keys() & (self._received.keys() | self._reach.pieces.keys())):
            basis = bases[path]
            received = _join_received(basis, self._received.get(path, {}))
            pieces = sorted({*basis.pieces, *self._reach.pieces.get(path, ())})
            if (pieces, received) != (list(basis.pieces), basis.received):
                yield path, replace(basis, pieces=pieces, received=received)

    def _list_imported(self, module: ModuleScopes) -> Iterator[str]:
        for record in module.imports:
            found = self._binder.map.find_import(module.path, record)
            if found.module is not None:
                yield found.module


def _join_received(before: Basis, now: Mapping[str, list[Received]]) -> dict[str, list[Received]]:
    """Join what was taken from a file before with what is taken now; what is known now counts."""
    known = {place: list(sets) for place, sets in before.received.items()}
    return known | {place: _join(known.get(place, []), sets) for place, sets in now.items()}


def _join(before: Iterable[Received], now: Iterable[Received]) -> list[Received]:
    """Join what is known of sets; what is known now counts."""
    known = {str(each.name): each for each in (*before, *now)}
    return sorted(known.values(), key=str)
