"""Which files the links of a file were worked out from: through every set that its sites read, at any distance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, cast

from pkg.resolve import queries as q
from pkg.resolve.abstract_values import (
    CLASSES,
    CONSTANT,
    CONTAINER,
    FOLDER,
    LIBRARY,
    MAKER,
    MANY,
    METHOD,
    MODULE,
    NAMESPACE,
    OBJECTS,
    PARTIAL,
    PROPERTY,
    SUPER,
    TEXT,
    UNKNOWN,
    Value,
    Values,
)
from pkg.resolve.changes.dependency_record import Piece, name_piece
from pkg.resolve.changes.places import find_top
from pkg.resolve.closure import list_circles
from pkg.resolve.facts.file_records import hash_text
from pkg.resolve.facts.scope_model import ModuleScopes, Scope
from pkg.resolve.lookup_order import Order
from pkg.resolve.solver import Cell

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pkg.resolve.resolution_context import Context

_NOWHERE = (LIBRARY, CONSTANT, TEXT, UNKNOWN, FOLDER)
_LAST = (q.BASES, q.PATCHES, q.SITE, q.STORE, q.QUIET_SITES, q.CALLEES_OF_MANY, q.CALLED_OF_MANY)
"""Sets that nobody reads, or whose values are told by those that they read."""


class DependencyGraph:
    """The files behind every set, as numbers of one bit a file."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._paths = list(context.modules)
        self._hashes: NDArray[np.uint32] | None = None  # of the paths; made when the first are asked for
        self._bits = {path: 1 << place for place, path in enumerate(context.modules)}
        self._orders: dict[Order, int] = {}
        self._values: dict[Value, int] = {}
        self._sets: dict[Values, int] = {}
        self._shared: dict[int, int] = {}  # of equal masks one is kept, for there are few others
        self._delivered = self._map_deliveries()
        for cell in context.solver.cells.values():
            cell.top = find_top(cell.key[1], context.modules)
            cell.mask = (
                self._share(self._mask_cell(cell)) if cell.key[0] not in _LAST or cell in self._delivered else None
            )
        self._spread()
        self._files = dict(self._bits)  # by file, those behind its sites, imports and assignments
        self.pieces: dict[str, set[Piece]] = {}  # by file, that other files took
        self._gather()
        self._clear()

    def _clear(self) -> None:
        """Let go of what is known of single sets, whose memory is wanted for the links."""
        for cell in self._context.solver.cells.values():
            cell.mask = cell.top = None
        self._delivered.clear()
        self._values.clear()
        self._sets.clear()
        self._shared.clear()

    def _share(self, mask: int) -> int:
        return self._shared.setdefault(mask, mask)

    def find_files(self, path: str, others: Iterable[str], classes: Iterable[Scope]) -> int:
        """Give the bits of the files behind the sites of a file, behind classes, and of others that exist."""
        mask = self._files[path]
        for other in others:
            mask |= self._bits.get(other, 0)
        for scope in classes:
            mask |= self._mask_order(scope)
        return mask

    def pack_hashes(self, mask: int, others: bytes = b"") -> bytes:
        """Pack the hashes of files by their bits, and others, sorted; bits stay the same as long as files do."""
        import numpy as np

        if self._hashes is None:
            self._hashes = np.array([hash_text(path) for path in self._paths], "<u4")
        packed = np.frombuffer(mask.to_bytes(len(self._paths) // 8 + 1, "little"), "u1")
        found = self._hashes[np.unpackbits(packed, bitorder="little").nonzero()[0]]
        joined: bytes = np.union1d(found, np.frombuffer(others, "<u4")).tobytes()
        return joined

    def _gather(self) -> None:
        """Collect what the sets that nobody reads read, by file, and which sets others took; file by file."""
        cells: dict[ModuleScopes | None, list[Cell]] = {}
        for cell in self._context.solver.cells.values():
            if cell.mask is not None:
                cells.setdefault(cell.top.module if cell.top is not None else None, []).append(cell)
        for home, inside in cells.items():
            taken = self._find_taken(home, inside)
            if home is not None:
                self.pieces[home.path] = _name_pieces(taken)

    def _find_taken(self, home: ModuleScopes | None, cells: Iterable[Cell]) -> set[Cell]:
        """Find the sets of a file that those of other files read, at any distance."""
        files = self._files
        read_inside: dict[Cell, list[Cell]] = {}  # by set, what it reads of its own file
        taken: set[Cell] = set()
        for cell in cells:
            mask, top = cell.mask or 0, cell.top
            if home is not None and (cell.key[0] in _LAST or cell.key[0] is q.IMPORTED):
                files[home.path] |= mask
            for reader in cell.list_dependants():
                its_top = reader.top
                is_inside = its_top is top or (its_top is not None and its_top.module is home)
                if not is_inside:
                    taken.add(cell)
                if reader.mask is None:
                    if its_top is not None:
                        files[its_top.module.path] |= mask
                elif is_inside:
                    read_inside.setdefault(reader, []).append(cell)
        _spread_to_read(taken, read_inside)
        return taken

    def _spread(self) -> None:
        """Hand the files behind each set on to the sets that read it, at any distance."""
        cells = [cell for cell in self._context.solver.cells.values() if cell.mask is not None]
        for circle in reversed(list(list_circles(cells, self._list_readers))):
            mask = 0
            for cell in circle:
                mask |= cell.mask or 0
            mask = self._share(mask)
            for cell in circle:
                cell.mask = mask
            for cell in circle:
                for reader in self._list_readers(cell):
                    reader.mask = (reader.mask or 0) | mask

    def _list_readers(self, cell: Cell) -> Iterable[Cell]:
        """Give the sets that read another, or are made of what its rule delivers."""
        readers, delivered = cell.list_dependants(), self._delivered.get(cell)
        found = [reader for reader in readers if reader.mask is not None]
        return found if delivered is None else [*found, *(each for each in delivered if each.mask is not None)]

    def _map_deliveries(self) -> dict[Cell, set[Cell]]:
        """Give for each set whose rule delivers what is made of that: it depends on who delivers."""
        delivered: dict[Cell, set[Cell]] = {}
        dataflow = self._context.dataflow
        for place, readers in dataflow.readers.items():
            for origin in dataflow.origins.get(place, ()):
                delivered.setdefault(origin, set()).update(readers)
        return delivered

    def _mask_cell(self, cell: Cell) -> int:
        """Give the files that the rule of a set looks into, and those of its values."""
        kind, first, top = cell.key[0], cell.key[1], cell.top
        mask = self._bits[top.module.path] if top is not None else 0
        if kind in _LAST:
            return mask  # what it found stands in the sets that it read
        if isinstance(first, Scope) and first.kind == "class":
            mask |= self._mask_order(first)
        elif kind in (q.OBJECT_ATTRIBUTE, q.CLASS_ATTRIBUTE, q.CHOSEN_ATTRIBUTE):
            mask |= self._mask_value(cast(Value, first))
        return mask | self._mask_values(cell.values)

    def _mask_values(self, values: Values) -> int:
        """Give the files that values stand in; of equal sets, which are many, it is found out once."""
        found = self._sets.get(values)
        if found is None:
            found = 0
            for value in values:
                found |= self._mask_value(value)
            self._sets[values] = found
        return found

    def _mask_value(self, value: Value) -> int:
        kind = value[0]
        if kind in _NOWHERE:
            return 0
        found = self._values.get(value)
        if found is None:
            found = self._values[value] = self._mask_new(kind, value)
        return found

    def _mask_new(self, kind: str, value: Value) -> int:
        if kind in (CONTAINER, MANY):
            top = find_top(value[1], self._context.modules)
            return self._bits[top.module.path] if top is not None else 0
        if kind == MODULE:
            return self._bits.get(value[1], 0)
        if kind in OBJECTS or kind in CLASSES:
            return self._mask_order(value[1])
        if kind == MAKER:
            return self._mask_order(value[2])
        if kind == SUPER:
            return self._mask_order(value[1]) | self._mask_value(value[2])
        if kind in (PROPERTY, PARTIAL, NAMESPACE):
            return self._mask_value(value[2] if kind == PROPERTY else value[1])
        mask = self._bits[value[1].module.path] if value[1] is not None else 0
        return mask | self._mask_value(value[2]) if kind == METHOD else mask

    def _mask_order(self, scope: Scope) -> int:
        """Give the files of a class and its bases; what is known of one of these is not looked at again."""
        order = self._context.hierarchy.order(scope)
        new = list(takewhile(lambda link: link not in self._orders, order.list_links()))
        for link in reversed(new):
            rest = self._orders[link.rest] if link.rest is not None else 0
            self._orders[link] = self._share(rest | self._bits[link.scope.module.path])
        return self._orders[order]


def _spread_to_read(taken: set[Cell], read: Mapping[Cell, Iterable[Cell]]) -> None:
    """Let what taken sets are made of in their file count as taken, at any distance."""
    waiting = list(taken)
    while waiting:
        for cell in read.get(waiting.pop(), ()):
            if cell not in taken:
                taken.add(cell)
                waiting.append(cell)


def _name_pieces(cells: Iterable[Cell]) -> set[Piece]:
    """Give the pieces of a file that some of its sets are about."""
    named = (name_piece(cell.key, cell.top) for cell in cells if cell.top is not None)
    return {piece for piece in named if piece is not None}
