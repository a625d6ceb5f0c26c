"""Which files the links of a file were worked out from: through every set that its sites read, at any distance."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterable, Iterator
from functools import cached_property
from typing import Any

from pkg.graph.resolve.containers import Written
from pkg.graph.resolve.context import Context
from pkg.graph.resolve.model import ModuleScopes, Scope, Site, Store
from pkg.graph.resolve.pieces import Piece, name_piece
from pkg.graph.resolve.solver import Key
from pkg.graph.resolve.values import (
    CLASSES,
    CONSTANT,
    CONTAINER,
    FOLDER,
    LIBRARY,
    METHOD,
    MODULE,
    OBJECTS,
    SUPER,
    UNKNOWN,
    Value,
)  # fmt: skip

_NOWHERE = (LIBRARY, CONSTANT, UNKNOWN, FOLDER)


class Reach:
    """The files behind every set, as numbers of one bit a file."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._solver = context.solver
        self._paths = list(context.modules)
        self._bits = {path: 1 << place for place, path in enumerate(self._paths)}
        self._orders: dict[Scope, int] = {}
        self._values: dict[Value, int] = {}
        self._homes = {key: self._find_home(key) for key in self._solver.values}
        self._masks = {key: self._mask_key(key) for key in self._solver.values}
        self._spread()

    @cached_property
    def pieces(self) -> dict[str, list[Piece]]:
        """The pieces of each file that the links of others were worked out from."""
        found: dict[str, dict[Piece, None]] = {}
        for key in self._list_exposed():
            home = self._homes[key]
            piece = name_piece(key, self._context.modules[home]) if home in self._context.modules else None
            if home is not None and piece is not None:
                found.setdefault(home, {})[piece] = None
        return {path: sorted(pieces) for path, pieces in found.items()}

    def _list_exposed(self) -> set[Key]:
        """Give the sets that sets of other files read, at any distance."""
        homes = self._homes
        exposed: set[Key] = set()
        read_inside: dict[Key, list[Key]] = {}  # by set, what it reads of its own file
        for key, readers in self._solver.readers.items():
            home = homes[key]
            for reader in readers:
                if homes[reader] != home:
                    exposed.add(key)
                elif reader[0] != "site":
                    read_inside.setdefault(reader, []).append(key)
        waiting = list(exposed)
        while waiting:
            for key in read_inside.get(waiting.pop(), ()):
                if key not in exposed:
                    exposed.add(key)
                    waiting.append(key)
        return exposed

    def list_paths(self, module: ModuleScopes, keys: Iterable[Key], others: Iterable[str]) -> Iterator[str]:
        """Give the files behind some sets of a module, its classes, and those of other paths that exist."""
        mask = self._bits[module.path]
        for key in keys:
            mask |= self._masks.get(key, 0)
        for path in others:
            mask |= self._bits.get(path, 0)
        for scope in module.scopes:
            if scope.kind == "class":
                mask |= self._mask_order(scope)
        while mask:
            lowest = mask & -mask
            yield self._paths[lowest.bit_length() - 1]
            mask ^= lowest

    def _spread(self) -> None:
        """Hand the files behind each set on to the sets that read it, until nothing is new."""
        masks, readers, given = self._masks, self._solver.readers, self._map_deliveries()
        # What was asked for last is read by what was asked for before.
        waiting = deque(key for key in reversed(masks) if key in readers or key in given)
        queued = set(waiting)
        while waiting:
            key = waiting.popleft()
            queued.discard(key)
            mask = masks[key]
            for reader in (*readers.get(key, ()), *given.get(key, ())):
                before = masks[reader]
                if before | mask != before:
                    masks[reader] = before | mask
                    if reader not in queued and (reader in readers or reader in given):
                        queued.add(reader)
                        waiting.append(reader)

    def _map_deliveries(self) -> dict[Key, set[Key]]:
        """Give for each set whose rule delivers what is made of that: it depends on who delivers."""
        given: dict[Key, set[Key]] = {}
        deliveries = self._context.deliveries
        for place, readers in deliveries.readers.items():
            for origin in deliveries.origins.get(place, ()):
                given.setdefault(origin, set()).update(readers)
        return given

    def _mask_key(self, key: Key) -> int:
        """Give the files that the rule of a set looks into, and those of its values."""
        first: Any = key[1]
        mask = self._bits.get(self._homes[key] or "", 0)
        if isinstance(first, Site | Store):
            return mask  # nobody reads it: what it found stands in the sets that it read
        if isinstance(first, Scope) and first.kind == "class":
            mask |= self._mask_order(first)
        elif key[0] in ("object attribute", "class attribute"):
            mask |= self._mask_value(first)
        for value in self._solver.values[key]:
            mask |= self._mask_value(value)
        return mask

    def _find_home(self, key: Key) -> str | None:
        first = key[1]
        return first.scope.module.path if isinstance(first, Site | Store | Written) else find_home(first, self._bits)

    def _mask_value(self, value: Value) -> int:
        kind = value[0]
        if kind in _NOWHERE:
            return 0
        found = self._values.get(value)
        if found is None:
            found = self._values[value] = self._mask_new(kind, value)
        return found

    def _mask_new(self, kind: str, value: Value) -> int:
        if kind == CONTAINER:
            return self._mask_name(value[1])
        if kind == MODULE:
            return self._bits.get(value[1], 0)
        if kind in OBJECTS or kind in CLASSES:
            return self._mask_order(value[1])
        if kind == SUPER:
            return self._mask_order(value[1]) | self._mask_value(value[2])
        mask = self._bits[value[1].module.path] if value[1] is not None else 0
        return mask | self._mask_value(value[2]) if kind == METHOD else mask

    def _mask_order(self, scope: Scope) -> int:
        found = self._orders.get(scope)
        if found is None:
            found = 0
            for each in self._context.hierarchy.order(scope):
                found |= self._bits[each.module.path]
            self._orders[scope] = found
        return found

    def _mask_name(self, name: Hashable) -> int:
        path = find_home(name, self._bits)
        return self._bits.get(path, 0) if path is not None else 0


def find_home(place: Hashable, paths: Collection[str]) -> str | None:
    """Give the file of a function or container that is delivered to."""
    if isinstance(place, Scope):
        return place.module.path
    if isinstance(place, str):
        return place if place in paths else None
    parts = place if isinstance(place, tuple) else ()
    return next((home for home in (find_home(part, paths) for part in parts) if home is not None), None)
