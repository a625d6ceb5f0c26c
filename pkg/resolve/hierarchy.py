"""Classes: their bases, the order in which attributes are looked up, and what is derived from them (A-12)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pkg.resolve.closure import join_reached, list_bits
from pkg.resolve.facts.scope_model import Scope
from pkg.resolve.lookup_order import SHORT, Order, Stretches, merge_orders

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
    order: Order | None = None  # method resolution order, itself first
    derived: list[Scope] = field(default_factory=list)  # directly


class ClassSnapshot(Protocol):
    """Classes of which it is known from the last resolution what they are derived from."""

    def recall(self, scope: Scope) -> ClassFacts | None:
        """Give what is known of a class."""

    def list_derived(self, scope: Scope) -> list[Scope]:
        """Give those that are derived from a class directly."""


class Hierarchy:
    """All classes of a repository; filled once, before calls are resolved."""

    def __init__(self, classes: Sequence[ClassFacts] = (), most: int = sys.maxsize) -> None:
        self._most = most  # derived classes up to which all are told
        self._snapshot: ClassSnapshot | None = None
        self._classes: dict[Scope, ClassFacts] = {}
        self._links: dict[tuple[Scope, Order | None], Order] = {}  # so that equal orders are one
        self._places: dict[Scope, list[Order]] = {}  # by class, where it stands in orders
        self._names = Stretches(lambda scope: scope.names)
        self._ancestors = Stretches(lambda scope: (scope,))
        self._numbers = ClassNumbers(self.facts)
        self._derived: dict[Scope, int] = {}  # those derived from a class and itself, by their numbers
        self._ordered = 0  # those whose order is known, by their numbers
        self.fill(classes)

    def fill(self, classes: Iterable[ClassFacts], snapshot: ClassSnapshot | None = None) -> None:
        """Take the classes of a repository, or some of them and what is known of the others."""
        self._snapshot = snapshot
        self._classes.clear()
        self._links.clear()
        self._places.clear()
        self._ancestors.forget()
        self.forget()
        self._classes.update((each.scope, each) for each in classes)
        for each in list(self._classes.values()):
            for base in each.bases:
                if base is not each.scope:
                    self.facts(base).derived.append(each.scope)

    def forget(self) -> None:
        """Forget what was found by the names in classes: there are more names now."""
        self._names.forget()
        self._numbers.forget()
        self._derived.clear()
        self._ordered = 0

    def facts(self, scope: Scope) -> ClassFacts:
        """Give what is known of a class."""
        found = self._classes.get(scope)
        if found is None:
            recalled = self._snapshot.recall(scope) if self._snapshot is not None else None
            found = self._classes[scope] = recalled or ClassFacts(scope)
        return found

    def order(self, scope: Scope) -> Order:
        """Give the method resolution order of a class within the repository: C3, or depth first where that fails."""
        facts = self.facts(scope)
        return facts.order if facts.order is not None else self._order_all(facts)

    def _order_all(self, wanted: ClassFacts) -> Order:
        """Order a class after its bases; one that is its own base, through others, is ordered depth first."""
        waiting, open_classes = [wanted], set()
        while waiting:
            facts = waiting[-1]
            bases = [self.facts(base) for base in facts.bases]
            missing = [base for base in bases if base.order is None and base.scope not in open_classes]
            if missing and facts.scope not in open_classes:
                open_classes.add(facts.scope)
                waiting += missing
                continue
            waiting.pop()
            open_classes.discard(facts.scope)
            if facts.order is None:
                facts.order = self._merge_bases(facts) or self._link_all(list(self._walk_bases(facts.scope)), None)
        return wanted.order if wanted.order is not None else self._link(wanted.scope, None)

    def _merge_bases(self, facts: ClassFacts) -> Order | None:
        """Merge the orders of the bases as Python does; None where there is no such order."""
        orders = [order for base in facts.bases if (order := self.facts(base).order) is not None]
        if len(orders) < len(facts.bases) or any(self.is_derived(order, facts.scope) for order in orders):
            return None
        if len(orders) < 2:
            return self._link(facts.scope, orders[0] if orders else None)
        merged = merge_orders(orders, self.is_derived)
        return self._link_all([facts.scope, *merged[0]], merged[1]) if merged is not None else None

    def _link_all(self, scopes: Sequence[Scope], rest: Order | None) -> Order:
        order = self._link(scopes[-1], rest)
        for scope in reversed(scopes[:-1]):
            order = self._link(scope, order)
        return order

    def _link(self, scope: Scope, rest: Order | None) -> Order:
        """Give a class before others; asked again, the same link."""
        order = self._links.get((scope, rest))
        if order is None:
            order = self._links[scope, rest] = Order(scope, rest)
            self._places.setdefault(scope, []).append(order)
            facts = self.facts(scope)
            order.is_mixed |= len(facts.bases) > 1
            order.has_unseen |= bool(facts.libraries) or facts.has_unknown
            order.has_record |= scope.is_record
            order.has_metaclass |= any(each.partition("=")[0].strip() == "metaclass" for each in scope.bases)
            order.is_enumeration |= any(name.rpartition(".")[2] in _ENUMERATIONS for name in facts.libraries)
            if facts.metaclass is not None:
                order.metaclasses = facts.metaclass, *order.metaclasses
        return order

    def is_derived(self, order: Order | None, scope: Scope) -> bool:
        """Tell whether a class stands in an order."""
        return self._find_link(order, scope) is not None

    def _find_link(self, order: Order | None, scope: Scope) -> Order | None:
        return next(self._ancestors.find_links(order, scope), None)

    def has_base(self, scope: Scope, base: Scope) -> bool:
        """Tell whether a class is another, or derived from it."""
        return scope is base or self.is_derived(self.order(scope), base)

    def is_mixed(self, scope: Scope) -> bool:
        """Tell whether a class in the order of a class has several bases."""
        return self.order(scope).is_mixed

    def is_open(self, scope: Scope) -> bool:
        """Tell whether a class may have attributes that the repository does not show."""
        return self.order(scope).has_unseen

    def takes_others(self, scope: Scope) -> bool:
        """Tell whether other classes may be registered with a class, so that their objects pass for its own."""
        return self.is_open(scope) or self.is_abstract(scope)

    def is_abstract(self, scope: Scope) -> bool:
        """Tell whether a class has the metaclass of abstract ones, or one that may be derived from it."""
        order = self.order(scope)
        return order.has_metaclass or any(
            _is_abstract(name) for each in (order if order.has_unseen else ()) for name in self.facts(each).libraries
        )

    def is_enumeration(self, scope: Scope) -> bool:
        """Tell whether the attributes of a class are objects of it."""
        return self.order(scope).is_enumeration

    def makes_classes(self, scope: Scope) -> bool:
        """Tell whether a class may be one of classes: it or a base is derived from type, or from such a library's."""
        names = (name.rpartition(".")[2] for each in self.order(scope) for name in self.facts(each).libraries)
        return any(name in ("type", "EnumType") or name.endswith("Meta") for name in names)

    def metaclasses(self, scope: Scope) -> tuple[Scope, ...]:
        """Give the metaclasses that the repository defines for a class and its bases."""
        return self.order(scope).metaclasses

    def _find_derived(self, scope: Scope) -> int:
        """Find all classes derived from a class, at any distance, by their numbers."""
        found = self._derived.get(scope)
        if found is None:
            found = join_reached(scope, self._list_next, self._numbers.mask, self._derived)
        return found & ~self._numbers.mask(scope)

    def list_derived(self, scope: Scope) -> list[Scope]:
        """Give all classes derived from a class, at any distance, in a fixed order."""
        return sorted(self._numbers.list_classes(self._find_derived(scope)), key=place_class)

    def _list_next(self, scope: Scope) -> list[Scope]:
        recalled = self._snapshot.list_derived(scope) if self._snapshot is not None else []
        return [*self.facts(scope).derived, *recalled]

    def find_siblings(self, scope: Scope, name: str) -> list[Scope]:
        """Find the classes that define an attribute behind a class in the orders of those derived from it (super)."""
        derived, own = self._find_derived(scope), self.order(scope)
        if not derived:
            return []
        for each in self._numbers.list_classes(derived & ~self._ordered):
            self.order(each)
        self._ordered |= derived
        found = (self._find_from(link.rest, name) for link in self._places.get(scope, ()) if link is not own)
        return list(dict.fromkeys(each for each in found if each is not None))

    def find(self, scope: Scope, name: str, after: Scope | None = None) -> Scope | None:
        """Find the class that defines an attribute for a class; `after` begins behind one in the order (super)."""
        order: Order | None = self.order(scope)
        if after is not None:
            link = self._find_link(order, after)
            order = link.rest if link is not None else None
        return self._find_from(order, name)

    def find_first(self, scope: Scope, names: Iterable[str]) -> str | None:
        """Give the first of some names under which a class has an attribute; nothing where it has none."""
        return next((name for name in names if self.find(scope, name) is not None), None)

    def _find_from(self, order: Order | None, name: str) -> Scope | None:
        while order is not None:  # a loop, for this is asked more than anything else of classes
            if name in order.scope.names:
                return order.scope
            order = order.rest if order.length < SHORT else self._names.leap(order, name)
        return None

    def find_overrides(self, scope: Scope, name: str) -> list[Scope]:
        """Find the derived classes that define an attribute anew; of too many, none is told."""
        derived = self._find_derived(scope)
        return self._list_few(derived & self._numbers.find_defining(name)) if derived else []

    def _list_few(self, numbers: int) -> list[Scope]:
        return list(self._numbers.list_classes(numbers)) if numbers.bit_count() <= self._most else []

    def find_lacking(self, scope: Scope, name: str, list_fields: Callable[[Scope], Collection[str]]) -> list[Scope]:
        """Find the classes from which derived ones have an attribute that a class lacks; of too many, none is told.

        A derived class of one base has it from where that has it: only those of several are asked one by one.
        """
        derived, numbers = self._find_derived(scope), self._numbers
        with_field = numbers.find_with_field(name, list_fields) if derived else 0
        defining = numbers.find_defining(name)
        if not (derived and with_field | defining):
            return []
        found = dict.fromkeys(self._list_few(derived & with_field))
        if derived & with_field and not found:
            return []
        for each in numbers.list_classes(derived & (defining | numbers.mixed)):
            owner = self.find(each, name)
            if owner is not None:
                found[owner] = None
            if len(found) > self._most:
                return []
        return list(found)

    def _walk_bases(self, scope: Scope) -> Iterator[Scope]:
        seen: set[Scope] = set()
        waiting = [scope]
        while waiting:
            each = waiting.pop()
            if each not in seen:
                seen.add(each)
                yield each
                waiting += reversed(self.facts(each).bases)


class ClassNumbers:
    """Numbers of classes, so that sets of them are numbers of one bit a class; and which of those have a name."""

    def __init__(self, facts: Callable[[Scope], ClassFacts]) -> None:
        self._facts = facts
        self._classes: list[Scope] = []
        self._numbers: dict[Scope, int] = {}
        self._defining: dict[str, list[int]] = {}
        self._with_field: dict[str, list[int]] = {}
        self._masks: dict[str, tuple[int, int]] = {}  # of names that were asked for: how many define it, and their bits
        self._read = 0  # classes whose fields are known
        self.mixed = 0  # those of several bases

    def forget(self) -> None:
        """Forget all numbers."""
        for held in (self._classes, self._numbers, self._defining, self._with_field, self._masks):
            held.clear()
        self._read = self.mixed = 0

    def mask(self, scope: Scope) -> int:
        """Give the bit of a class; it and all its bases have numbers then."""
        if scope not in self._numbers:
            self._add(scope)
        return 1 << self._numbers[scope]

    def _add(self, scope: Scope) -> None:
        waiting = [scope]
        while waiting:
            each = waiting.pop()
            if each in self._numbers:
                continue
            bit = 1 << len(self._classes)
            self._numbers[each] = len(self._classes)
            self._classes.append(each)
            bases = self._facts(each).bases
            waiting += bases
            self.mixed |= bit if len(bases) > 1 else 0
            for name in each.names:
                self._defining.setdefault(name, []).append(self._numbers[each])

    def find_defining(self, name: str) -> int:
        """Find the classes that define a name in their body."""
        numbers = self._defining.get(name, [])
        count, found = self._masks.get(name, (0, 0))
        if count < len(numbers):
            found = _join_bits(numbers[count:], found)
            self._masks[name] = len(numbers), found
        return found

    def find_with_field(self, name: str, list_fields: Callable[[Scope], Collection[str]]) -> int:
        """Find the classes whose methods assign to an attribute of self."""
        while self._read < len(self._classes):
            for each in list_fields(self._classes[self._read]):
                self._with_field.setdefault(each, []).append(self._read)
            self._read += 1
        return _join_bits(self._with_field.get(name, ()))

    def list_classes(self, numbers: int) -> Iterator[Scope]:
        """Give the classes of some numbers."""
        return (self._classes[number] for number in list_bits(numbers))


def _is_abstract(name: str) -> bool:
    module, _, last = name.rpartition(".")
    return last in ("ABC", "ABCMeta") or module == "collections.abc"


def _join_bits(numbers: Iterable[int], found: int = 0) -> int:
    for number in numbers:
        found |= 1 << number
    return found


def place_class(scope: Scope) -> tuple[str, int]:
    """Give where a class stands, to order classes by."""
    return scope.module.path, scope.head[0]
