"""Which files the links of a file were worked out from: through every set that its sites read, at any distance."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterable
from typing import cast

from pkg.graph.resolve.basis import hash_text
from pkg.graph.resolve.containers import Written
from pkg.graph.resolve.context import Context
from pkg.graph.resolve.model import ModuleScopes, Scope, Site, Store
from pkg.graph.resolve.pieces import Piece, name_piece
from pkg.graph.resolve.solver import Cell, Key
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
_STANDING = (Site, Store, Written)
_LAST = ("bases", "patches", "site", "store", "rest")  # sets that nobody reads


class Reach:
    """The files behind every set, as numbers of one bit a file."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._hashes = [hash_text(path) for path in context.modules]
        self._bits = {path: 1 << place for place, path in enumerate(context.modules)}
        self._orders: dict[Scope, int] = {}
        self._values: dict[Value, int] = {}
        self._cells = list(context.solver.cells.values())
        self._homes = {cell: self._find_home(cell.key) for cell in self._cells}
        self._given = self._map_deliveries()
        inner = (cell for cell in self._cells if cell.key[0] not in _LAST or cell in self._given)
        self._masks = {cell: self._mask_cell(cell) for cell in inner}
        self._spread()
        self._files = dict(self._bits)  # by file, those behind its sites, imports and assignments
        self._exposed: set[Cell] = set()
        self._gather()
        self.pieces = self._name_pieces()
        self._clear()

    def _clear(self) -> None:
        """Let go of what is known of single sets, whose memory is wanted for the links."""
        for held in (self._cells, self._homes, self._given, self._masks, self._values, self._exposed):
            held.clear()

    def _name_pieces(self) -> dict[str, list[Piece]]:
        """Give the pieces of each file that the links of others were worked out from."""
        found: dict[str, dict[Piece, None]] = {}
        for cell in self._exposed:
            home = self._homes[cell]
            module = self._context.modules.get(home or "")
            piece = name_piece(cell.key, module) if module is not None else None
            if home is not None and piece is not None:
                found.setdefault(home, {})[piece] = None
        return {path: sorted(pieces) for path, pieces in found.items()}

    def list_paths(self, module: ModuleScopes, others: Iterable[str]) -> list[int]:
        """Give the hashes of the files behind the sites of a module, its classes, and those of others that exist."""
        mask = self._files[module.path]
        for path in others:
            mask |= self._bits.get(path, 0)
        for scope in module.scopes:
            if scope.kind == "class":
                mask |= self._mask_order(scope)
        found = []
        while mask:
            lowest = mask & -mask
            found.append(self._hashes[lowest.bit_length() - 1])
            mask ^= lowest
        return found

    def _gather(self) -> None:
        """Collect what the sets that nobody reads read, by file, and which sets those of other files read."""
        files, homes, masks, exposed = self._files, self._homes, self._masks, self._exposed
        read_inside: dict[Cell, list[Cell]] = {}  # by set, what it reads of its own file
        for cell, mask in masks.items():
            home = homes[cell]
            if cell.key[0] in _LAST or cell.key[0] == "imported":
                files[home or ""] |= mask
            for reader in cell.list_readers():
                its_home = homes[reader]
                if its_home != home:
                    exposed.add(cell)
                if reader not in masks:
                    files[its_home or ""] |= mask
                elif its_home == home:
                    read_inside.setdefault(reader, []).append(cell)
        self._expose(read_inside)

    def _expose(self, read_inside: dict[Cell, list[Cell]]) -> None:
        """Let what the sets that other files read are made of count as read by them, at any distance."""
        waiting = list(self._exposed)
        while waiting:
            for cell in read_inside.get(waiting.pop(), ()):
                if cell not in self._exposed:
                    self._exposed.add(cell)
                    waiting.append(cell)

    def _spread(self) -> None:
        """Hand the files behind each set on to the sets that read it, until nothing is new."""
        masks, given = self._masks, self._given
        # What was asked for last is read by what was asked for before.
        waiting = deque(cell for cell in reversed(masks) if cell.readers is not None or cell in given)
        queued = set(waiting)
        while waiting:
            cell = waiting.popleft()
            queued.discard(cell)
            mask = masks[cell]
            for reader in (*cell.list_readers(), *given.get(cell, ())):
                before = masks.get(reader, -1)  # of those that nobody reads, whose files are gathered in the end
                if before | mask != before:
                    masks[reader] = before | mask
                    if reader not in queued and (reader.readers is not None or reader in given):
                        queued.add(reader)
                        waiting.append(reader)

    def _map_deliveries(self) -> dict[Cell, set[Cell]]:
        """Give for each set whose rule delivers what is made of that: it depends on who delivers."""
        given: dict[Cell, set[Cell]] = {}
        deliveries = self._context.deliveries
        for place, readers in deliveries.readers.items():
            for origin in deliveries.origins.get(place, ()):
                given.setdefault(origin, set()).update(readers)
        return given

    def _mask_cell(self, cell: Cell) -> int:
        """Give the files that the rule of a set looks into, and those of its values."""
        kind, first = cell.key[0], cell.key[1]
        mask = self._bits.get(self._homes[cell] or "", 0)
        if kind in _LAST:
            return mask  # what it found stands in the sets that it read
        if isinstance(first, Scope) and first.kind == "class":
            mask |= self._mask_order(first)
        elif kind in ("object attribute", "class attribute"):
            mask |= self._mask_value(cast(Value, first))
        for value in cell.values:
            mask |= self._mask_value(value)
        return mask

    def _find_home(self, key: Key) -> str | None:
        first = key[1]
        return first.scope.module.path if isinstance(first, _STANDING) else find_home(first, self._bits)

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
