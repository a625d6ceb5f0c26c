"""Classes: their bases, the order in which attributes are looked up, and what is derived from them (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pkg.resolve.model import Scope

MAX_DERIVED = 12  # derived classes looked at for an attribute that a class lacks, or that they define anew
_ENUMERATIONS = frozenset(("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"))


@dataclass(slots=True)
class ClassFacts:
    """One class of the repository with what its bases turned out to be."""

    scope: Scope
    bases: tuple[Scope, ...] = ()
    places: tuple[int, ...] = ()  # of those bases among all, from 1
    libraries: tuple[str, ...] = ()  # bases outside of the repository
    has_unknown: bool = False  # a base that could not be told
    metaclass: Scope | None = None
    order: tuple[Scope, ...] = ()  # method resolution order, itself first
    derived: list[Scope] = field(default_factory=list)  # directly


class KnownClasses(Protocol):
    """Classes of which it is known from the last resolution what they are derived from."""

    def recall(self, scope: Scope) -> ClassFacts | None:
        """Give what is known of a class."""

    def list_derived(self, scope: Scope) -> list[Scope]:
        """Give those that are derived from a class directly."""


class Hierarchy:
    """All classes of a repository; filled once, before calls are resolved."""

    def __init__(self, classes: Sequence[ClassFacts] = ()) -> None:
        self._known: KnownClasses | None = None
        self._classes: dict[Scope, ClassFacts] = {}
        self._derived: dict[Scope, tuple[Scope, ...]] = {}
        self._mixed: dict[Scope, tuple[Scope, ...]] = {}
        self.fill(classes)

    def fill(self, classes: Iterable[ClassFacts], known: KnownClasses | None = None) -> None:
        """Take the classes of a repository, or some of them and what is known of the others."""
        self._known = known
        self._derived.clear()
        self._mixed.clear()
        self._classes.clear()
        self._classes.update((each.scope, each) for each in classes)
        for each in list(self._classes.values()):
            for base in each.bases:
                if base is not each.scope:
                    self.facts(base).derived.append(each.scope)

    def facts(self, scope: Scope) -> ClassFacts:
        """Give what is known of a class."""
        found = self._classes.get(scope)
        if found is None:
            known = self._known.recall(scope) if self._known is not None else None
            found = self._classes[scope] = known or ClassFacts(scope, order=(scope,))
        return found

    def order(self, scope: Scope) -> tuple[Scope, ...]:
        """Give the method resolution order of a class within the repository: C3, or depth first where that fails."""
        facts = self.facts(scope)
        if not facts.order:
            self._order_all(scope)
        return facts.order

    def _order_all(self, scope: Scope) -> None:
        """Order a class after its bases; one that is its own base, through others, is ordered depth first."""
        waiting, open_classes = [scope], set()
        while waiting:
            each = waiting[-1]
            facts = self.facts(each)
            missing = [base for base in facts.bases if not self.facts(base).order and base not in open_classes]
            if missing and each not in open_classes:
                open_classes.add(each)
                waiting += missing
                continue
            waiting.pop()
            open_classes.discard(each)
            if not facts.order:
                facts.order = self._merge_bases(facts) or tuple(self._walk_bases(each))

    def _is_own_base(self, scope: Scope) -> bool:
        """Tell whether a class is among its own bases, at any distance."""
        return any(scope in self.facts(each).bases for each in self._walk_bases(scope))

    def _merge_bases(self, facts: ClassFacts) -> tuple[Scope, ...] | None:
        """Merge the orders of the bases as Python does; None where there is no such order."""
        orders = [list(self.facts(base).order) for base in facts.bases]
        if not all(orders) or self._is_own_base(facts.scope):
            return None
        merged = orders[0] if len(orders) == 1 else _merge([*orders, list(facts.bases)]) if orders else []
        return None if merged is None or facts.scope in merged else (facts.scope, *merged)

    def is_mixed(self, scope: Scope) -> bool:
        """Tell whether a class in the order of a class has several bases."""
        return any(len(self.facts(each).bases) > 1 for each in self.order(scope))

    def is_open(self, scope: Scope) -> bool:
        """Tell whether a class may have attributes that the repository does not show."""
        return any(self.facts(each).libraries or self.facts(each).has_unknown for each in self.order(scope))

    def is_enumeration(self, scope: Scope) -> bool:
        """Tell whether the attributes of a class are objects of it."""
        return any(
            name.rpartition(".")[2] in _ENUMERATIONS
            for each in self.order(scope)
            for name in self.facts(each).libraries
        )

    def metaclasses(self, scope: Scope) -> Iterator[Scope]:
        """Give the metaclasses that the repository defines for a class and its bases."""
        for each in self.order(scope):
            metaclass = self.facts(each).metaclass
            if metaclass is not None:
                yield metaclass

    def list_derived(self, scope: Scope) -> tuple[Scope, ...]:
        """Give all classes derived from a class, at any distance, in a fixed order."""
        found = self._derived.get(scope)
        if found is None:
            seen: dict[Scope, None] = {}
            waiting = self._list_next(scope)
            while waiting:
                each = waiting.pop()
                if each not in seen and each is not scope:
                    seen[each] = None
                    waiting += self._list_next(each)
            found = self._derived[scope] = tuple(sorted(seen, key=place_class))
        return found

    def _list_next(self, scope: Scope) -> list[Scope]:
        known = self._known.list_derived(scope) if self._known is not None else []
        return [*self.facts(scope).derived, *known]

    def list_mixed(self, scope: Scope) -> tuple[Scope, ...]:
        """Give the derived classes in whose order others follow on a class than in its own; of many, none is told."""
        found = self._mixed.get(scope)
        if found is None:
            own = self.order(scope)
            mixed = [each for each in self.list_derived(scope) if self._cut_order(each, scope) != own]
            found = self._mixed[scope] = tuple(limit_derived(mixed))
        return found

    def _cut_order(self, scope: Scope, first: Scope) -> tuple[Scope, ...]:
        order = self.order(scope)
        return order[order.index(first) :] if first in order else ()

    def find(self, scope: Scope, name: str, after: Scope | None = None) -> Scope | None:
        """Find the class that defines an attribute for a class; `after` begins behind one in the order (super)."""
        order = self.order(scope)
        if after is not None:
            order = order[order.index(after) + 1 :] if after in order else ()
        for each in order:  # a loop, for this is asked more than anything else of classes
            if name in each.names:
                return each
        return None

    def find_overrides(self, scope: Scope, name: str) -> list[Scope]:
        """Find the derived classes that define an attribute anew; of many, none is told."""
        return limit_derived([each for each in self.list_derived(scope) if name in each.names])

    def _walk_bases(self, scope: Scope) -> Iterator[Scope]:
        seen: set[Scope] = set()
        waiting = [scope]
        while waiting:
            each = waiting.pop(0)
            if each not in seen:
                seen.add(each)
                yield each
                waiting = [*self.facts(each).bases, *waiting]


def limit_derived(classes: list[Scope]) -> list[Scope]:
    """Give derived classes, or none where they are so many that each is no likelier than the others."""
    return classes if len(classes) <= MAX_DERIVED else []


def _merge(orders: list[list[Scope]]) -> list[Scope] | None:
    merged: list[Scope] = []
    while orders := [order for order in orders if order]:
        tails = {each for order in orders for each in order[1:]}
        head = next((order[0] for order in orders if order[0] not in tails), None)
        if head is None:
            return None
        merged.append(head)
        orders = [order[1:] if order[0] is head else order for order in orders]
    return merged


def place_class(scope: Scope) -> tuple[str, int]:
    """Give where a class stands, to order classes by."""
    return scope.module.path, scope.head[0]
