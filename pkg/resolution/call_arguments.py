"""Arguments of a call, as sets of values (A-12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pkg.resolution.value_sets import EMPTY, Values

if TYPE_CHECKING:
    from pkg.resolution.machine import Machine

Placed = list[tuple[Values, bool]]
Named = list[tuple[str, Values]]


class Arguments:
    """Arguments of one call: by position, starred ones marked, and by name, "" for two stars."""

    __slots__ = ("_items", "machine", "named", "placed", "wants_result")

    def __init__(self, machine: Machine, placed: Placed, named: Named, wants_result: bool = True) -> None:
        self.machine = machine
        self.placed = placed
        self.named = named
        self.wants_result = wants_result  # False where the result is one of too many
        self._items: dict[tuple[Values, int | str], Values] = {}  # items of starred arguments, shared by all callees

    @classmethod
    def of(cls, machine: Machine, placed: Sequence[Any], named: Sequence[Any], values: list[Values]) -> Arguments:
        """Read the arguments of an operation."""
        return cls(
            machine,
            [(values[number], bool(starred)) for number, starred in placed],
            [(name, values[number]) for name, number in named],
        )

    def get(self, place: int, name: str = "") -> Values:
        """Return an argument by position or name."""
        for key, values in self.named:
            if name and key == name:
                return values
        for index, (values, starred) in enumerate(self.placed):
            if starred:
                return self.machine.containers.iterate(values, -1, False) if index <= place else EMPTY
            if index == place:
                return values
        return EMPTY

    def find(self, place: int, name: str) -> Values | None:
        """Return an argument by position or name; None where only a starred one may provide it."""
        for key, values in self.named:
            if key == name and name:
                return values
        if 0 <= place < len(self.placed) and not any(starred for _, starred in self.placed[: place + 1]):
            return self.placed[place][0]
        return None

    def read_item(self, values: Values, key: int | str) -> Values:
        """Return the items of a starred argument at a position or under a name."""
        found = self._items.get((values, key))
        if found is None:
            containers = self.machine.containers
            read = containers.read_place if isinstance(key, int) else containers.read_key
            found = self._items[values, key] = read(values, key)  # type: ignore[arg-type]
        return found

    @property
    def is_open(self) -> bool:
        """Return whether some arguments are starred."""
        return any(starred for _, starred in self.placed) or any(not name for name, _ in self.named)

    def want(self, wants_result: bool) -> Arguments:
        """Return these arguments for calls whose results are wanted or not."""
        if wants_result is self.wants_result:
            return self
        return Arguments(self.machine, self.placed, self.named, wants_result)

    def shift(self, first: Values) -> Arguments:
        """Return these arguments with another before them."""
        return Arguments(self.machine, [(first, False), *self.placed], self.named, self.wants_result)

    def cut(self, count: int) -> Arguments:
        """Return these arguments without the first ones by position."""
        return Arguments(self.machine, self.placed[count:], self.named, self.wants_result)

    def join(self, others: Arguments) -> Arguments:
        """Return these arguments followed by others."""
        placed, named = [*self.placed, *others.placed], [*self.named, *others.named]
        return Arguments(self.machine, placed, named, others.wants_result)
