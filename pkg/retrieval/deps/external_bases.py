"""Find the methods that bases outside of the source may call: those of libraries and of Python."""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Iterable

from pkg.model import Edge, Label, Node, RelationType
from pkg.retrieval.deps.levels import find_reachable

_PLAIN = frozenset({"object", "ABC", "Generic", "Protocol", "NamedTuple", "TypedDict"})
"""Bases that call only special methods of a class."""
_NAMES_OF_ENUM = frozenset({"_missing_", "_generate_next_value_", "_sunder_", "_ignore_"})
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})


def is_special(name: str) -> bool:
    """Return whether Python itself calls a name: it has two underscores at both ends."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


class ExternalBases:
    """Bases of classes that no link leads to."""

    def __init__(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        self._classes = {node.id: node for node in nodes if node.label is Label.CLASS}
        self._above: dict[str, set[str]] = defaultdict(set)
        for edge in edges:
            if edge.type is RelationType.INHERITS:
                self._above[edge.start].add(edge.end)
        self._known: dict[str, tuple[str, ...]] = {}

    def list_bases(self, owner: Node) -> tuple[str, ...]:
        """List the bases outside of the source that a class has, itself or through its bases, as written."""
        if owner.id not in self._known:
            reached = [owner, *map(self._classes.get, find_reachable([owner.id], self._above.__getitem__)[1:])]
            found = dict.fromkeys(base for each in reached if each is not None for base in self._list_own(each))
            self._known[owner.id] = tuple(found)
        return self._known[owner.id]

    def _list_own(self, owner: Node) -> list[str]:
        """List the bases of one class that are not among its linked bases."""
        bases = owner.properties.get("bases")
        written = [str(each) for each in bases] if isinstance(bases, list) else []
        linked = [self._classes[each].name for each in self._above[owner.id] if each in self._classes]
        named = [each.partition("[")[0].partition("(")[0].strip() for each in written if "=" not in each]
        left = [each for each in named if each.rpartition(".")[2] not in linked]
        return left[: max(0, len(named) - len(linked))]

    def may_call(self, owner: Node, name: str) -> bool:
        """Return whether a base outside of the source may call a method of a class by its name."""
        return any(_may_call(base.rpartition(".")[2], name) for base in self.list_bases(owner))


def _may_call(base: str, name: str) -> bool:
    if base in _PLAIN:
        return False
    if base in _ENUMS:
        return name in _NAMES_OF_ENUM
    known = getattr(builtins, base, None)
    return name in dir(known) if isinstance(known, type) else True
