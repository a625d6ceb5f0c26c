"""What the links of files were worked out from, and whom their sites deliver to: kept for the next resolution."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from pkg.graph.resolve.basis import Basis, Received, Taken, pack_taken
from pkg.graph.resolve.calls import Binder
from pkg.graph.resolve.lineage import describe_classes
from pkg.graph.resolve.model import ModuleScopes
from pkg.graph.resolve.pieces import Piece
from pkg.graph.resolve.places import describe_origin, hash_place, hash_values, list_origins, write_name
from pkg.graph.resolve.reach import Reach, find_home

_NOTHING = Taken({}, [])


class Foundations:
    """What files that are resolved stand on."""

    def __init__(self, binder: Binder) -> None:
        self._binder = binder
        self._deliveries = binder.context.deliveries

    @cached_property
    def _reaches(self) -> list[Reach]:
        return [*self._binder.reaches, Reach(self._binder.context)]

    @cached_property
    def _pieces(self) -> dict[str, set[Piece]]:
        """What was taken of each file."""
        found: dict[str, set[Piece]] = defaultdict(set)
        for reach in self._reaches:
            for path, pieces in reach.pieces.items():
                found[path].update(pieces)
        return found

    @cached_property
    def _delivered(self) -> dict[str, list[tuple[int, int, int, int]]]:
        """The places that the sites of each file deliver to."""
        found: dict[str, list[tuple[int, int, int, int]]] = defaultdict(list)
        for place, origins in self._deliveries.origins.items():
            address = hash_place(place, self._binder.modules)
            for origin, _ in list_origins(each.key for each in origins):
                found[origin.scope.module.path].append((*describe_origin(origin), address))
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
        imported = list(self._list_imported(module))
        reach = {each for found in self._reaches for each in found.list_paths(module, imported)}
        if before is not None and path not in self._binder.lineage.found:
            reach |= before.reach  # which its classes and patches stand on
        taken = self._join_taken(path, before.taken if before is not None else _NOTHING)
        return Basis(
            self._binder.context.is_plain, self._binder.modules.summaries[path], frozenset(reach),
            sorted(self._delivered.get(path, ())), describe_classes(self._binder.hierarchy, module),
            self._binder.bindings.patches[path], frozenset(taken.received), pack_taken(taken),
        )  # fmt: skip

    def list_taken(self, bases: Mapping[str, Basis]) -> Iterator[tuple[str, Basis]]:
        """Give the files of which more was taken than before, among those that were not resolved, with that.

        Else nobody would know, when they change, that the links of others were worked out from it.
        """
        for path in sorted(bases.keys() & (self._received.keys() | self._pieces.keys())):
            taken = self._join_taken(path, bases[path].taken)
            if taken != bases[path].taken:
                yield path, bases[path].take(taken)

    def _join_taken(self, path: str, before: Taken) -> Taken:
        """Join what was taken from a file before with what is taken now; of sets, what is known now counts."""
        now = self._received.get(path, {})
        sets = {place: _join(before.received.get(place, ()), found) for place, found in now.items()}
        return Taken({**before.received, **sets}, sorted({*before.pieces, *self._pieces.get(path, ())}))

    def _list_imported(self, module: ModuleScopes) -> Iterator[str]:
        for record in module.imports:
            found = self._binder.map.find_import(module.path, record)
            if found.module is not None:
                yield found.module


def _join(before: Iterable[Received], now: Iterable[Received]) -> list[Received]:
    """Join what is known of sets; what is known now counts."""
    known = {str(each.name): each for each in (*before, *now)}
    return sorted(known.values(), key=str)
