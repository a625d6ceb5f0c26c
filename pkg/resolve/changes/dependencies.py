"""What the links of files were worked out from, and whom their sites deliver to: kept for the next resolution."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from pkg.resolve.binder import Binder
from pkg.resolve.changes.class_cache import describe_classes
from pkg.resolve.changes.dependency_graph import DependencyGraph
from pkg.resolve.changes.dependency_record import Delivery, DependencyRecord, Piece, Received, Taken, pack_taken
from pkg.resolve.changes.file_diff import OtherParts
from pkg.resolve.changes.places import ValueHashes, describe_origin, find_home, format_name, hash_place, list_origins
from pkg.resolve.facts.scope_model import ModuleScopes

_NOTHING = Taken({}, [], {})


class Dependencies:
    """What files that are resolved stand on."""

    def __init__(self, binder: Binder, graphs: Iterable[DependencyGraph]) -> None:
        self._binder = binder
        self._forgotten = graphs  # of what was computed before more was known
        self._dataflow = binder.context.dataflow

    @cached_property
    def _graphs(self) -> list[DependencyGraph]:
        return [*self._forgotten, DependencyGraph(self._binder.context)]

    @cached_property
    def _pieces(self) -> dict[str, set[Piece]]:
        """What was taken of each file by others."""
        found: dict[str, set[Piece]] = defaultdict(set)
        for graph in self._graphs:
            for path, pieces in graph.pieces.items():
                found[path] |= pieces
        return found

    @cached_property
    def _asked(self) -> dict[str, set[str]]:
        """The attributes that each file asks for by a text."""
        found: dict[str, set[str]] = defaultdict(set)
        for name, cells in self._binder.context.asked.items():
            for cell in cells:
                home = find_home(cell.key[1], self._binder.modules)
                if home is not None:
                    found[home.path].add(name)
        return found

    @cached_property
    def _delivered(self) -> dict[str, set[Delivery]]:
        """The places that the sites of each file deliver to."""
        found: dict[str, set[Delivery]] = defaultdict(set)
        for place, origins in self._dataflow.origins.items():
            address = hash_place(place, self._binder.modules)
            for origin, _ in list_origins(each.key for each in origins):
                found[origin.scope.module.path].add((*describe_origin(origin), address))
        return found

    @cached_property
    def _received(self) -> dict[str, dict[str, list[Received]]]:
        """What is made of deliveries to each file, by place, as far as anybody asked for it."""
        found: dict[str, dict[str, list[Received]]] = defaultdict(dict)
        modules = self._binder.modules
        hashes = ValueHashes(self._binder.solver, modules)
        for place, readers in self._dataflow.readers.items():
            home = find_home(place, modules)
            if home is not None:
                sets = [Received(format_name(each.key, home, modules), hashes.hash(each.values)) for each in readers]
                found[home.path][str(hash_place(place, modules))] = sorted(sets, key=str)
        return found

    @cached_property
    def _together(self) -> dict[str, dict[str, list[int]]]:
        """The groups of calls that deliver to each file, by place."""
        found: dict[str, dict[str, list[int]]] = defaultdict(dict)
        modules = self._binder.modules
        for place, groups in self._dataflow.list_groups():
            home = find_home(place, modules)
            if home is not None:
                addresses = (hash_place(group, modules) for group in groups)
                found[home.path][str(hash_place(place, modules))] = sorted(addresses)
        return found

    def describe(
        self, path: str, before: DependencyRecord | None = None, other: OtherParts | None = None
    ) -> DependencyRecord:
        """Describe what the links of a file stand on; what others took from it before counts on.

        But for what they took of functions that are other than before.
        """
        binder, module = self._binder, self._binder.modules[path]
        asked, taken, reached = frozenset(self._asked.get(path, ())), _NOTHING, b""
        if before is not None:
            taken = before.taken
            if other is not None:
                taken = taken._replace(received=other.leave_out(taken.received))
            if path not in binder.ordered:  # what its classes and patches stand on
                asked |= before.asked
                reached = before.packed_reach
        taken = self._join_taken(path, taken)
        return DependencyRecord(
            binder.context.following, binder.modules.summaries[path], self._pack_reached(module, reached),
            sorted(self._delivered.get(path, ())), describe_classes(binder.hierarchy, module),
            binder.context.patches.by_file[path], asked, frozenset(taken.received), pack_taken(taken),
        )  # fmt: skip

    def _pack_reached(self, module: ModuleScopes, others: bytes) -> bytes:
        """Pack the files that the links of a file stand on, and others."""
        imported = list(self._list_imported(module))
        classes = [scope for scope in module.scopes if scope.kind == "class"]
        mask = 0
        for graph in self._graphs:
            mask |= graph.find_files(module.path, imported, classes)
        return self._graphs[-1].pack_hashes(mask, others)

    def list_taken(self, snapshot: Mapping[str, DependencyRecord]) -> Iterator[tuple[str, DependencyRecord]]:
        """Give the files of which more was taken than before, among those that were not resolved, with that.

        Else nobody would know, when they change, that the links of others were worked out from it.
        """
        for path in sorted(snapshot.keys() & (self._received.keys() | self._pieces.keys() | self._together.keys())):
            taken = self._join_taken(path, snapshot[path].taken)
            if taken != snapshot[path].taken:
                yield path, snapshot[path].take(taken)

    def _join_taken(self, path: str, before: Taken) -> Taken:
        """Join what was taken from a file before with what is taken now; of sets, what is known now counts."""
        now = self._received.get(path, {})
        sets = {place: _join(before.received.get(place, ()), found) for place, found in now.items()}
        pieces = {*before.pieces, *self._pieces.get(path, ())}
        together = {
            place: sorted({*before.together.get(place, ()), *groups})
            for place, groups in self._together.get(path, {}).items()
        }
        return Taken({**before.received, **sets}, sorted(pieces), {**before.together, **together})

    def _list_imported(self, module: ModuleScopes) -> Iterator[str]:
        for record in module.imports:
            yield from self._binder.context.map.find_import(module.path, record).modules


def _join(before: Iterable[Received], now: Iterable[Received]) -> list[Received]:
    """Join what is known of sets; what is known now counts."""
    known = {str(each.name): each for each in (*before, *now)}
    return sorted(known.values(), key=str)
