"""The order in which Python looks attributes up along base classes: linked lists that share their ends (A-12).

The order of a class of one base is that class and the order of its base: one link more, whatever the length. Each link
also knows one that lies further behind, at distances by which every search takes steps in the logarithm of the length.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from itertools import chain

from pkg.resolve.facts.scope_model import Scope

SHORT = 16  # classes up to which looking at each is sooner done than asking what they hold together


class Order:
    """A class and what is looked at after it."""

    __slots__ = (
        "behind",
        "has_metaclass",
        "has_record",
        "has_unseen",
        "is_enumeration",
        "is_mixed",
        "length",
        "metaclasses",
        "rest",
        "scope",
    )

    def __init__(self, scope: Scope, rest: Order | None) -> None:
        self.scope = scope
        self.rest = rest
        self.length: int = 1 if rest is None else rest.length + 1
        self.behind = rest  # where the stretch ends that a search may leap over
        self.is_mixed: bool = rest is not None and rest.is_mixed  # a class in it has several bases
        self.has_unseen: bool = rest is not None and rest.has_unseen  # one has bases outside of the repository
        self.has_metaclass: bool = rest is not None and rest.has_metaclass  # one names it, wherever that is defined
        self.has_record: bool = rest is not None and rest.has_record  # the constructor of one may be made of fields
        self.is_enumeration: bool = rest is not None and rest.is_enumeration
        self.metaclasses: tuple[Scope, ...] = () if rest is None else rest.metaclasses
        if rest is not None:
            second = rest.behind
            if second is not None and rest.stretch == second.stretch:  # two stretches of one length make the next
                self.behind = second.behind

    @property
    def stretch(self) -> int:
        """Count the classes from here to where a search may leap."""
        return self.length if self.behind is None else self.length - self.behind.length

    def list_links(self, end: Order | None = None) -> Iterator[Order]:
        """Give this link and those behind it, up to an end."""
        link: Order | None = self
        while link is not None and link is not end:
            yield link
            link = link.rest

    def __iter__(self) -> Iterator[Scope]:
        return (link.scope for link in self.list_links())


class Stretches:
    """Search orders for the classes that hold something, such as a name; what many hold is known together."""

    def __init__(self, list_own: Callable[[Scope], Collection[Hashable]]) -> None:
        self._list_own = list_own
        self._held: dict[Order, frozenset[Hashable]] = {}

    def forget(self) -> None:
        """Forget what many hold together: classes hold more now."""
        self._held.clear()

    def find_links(self, order: Order | None, wanted: Hashable) -> Iterator[Order]:
        """Give the links whose classes hold something."""
        while order is not None:
            if wanted in self._list_own(order.scope):
                yield order
            order = self.leap(order, wanted)

    def leap(self, order: Order, wanted: Hashable) -> Order | None:
        """Give the next link to look at: behind the stretch, where nothing in that holds what is wanted."""
        if order.stretch < SHORT:
            return order.rest
        held = self._held.get(order)
        if held is None:
            links = order.list_links(order.behind)
            held = frozenset(chain.from_iterable(self._list_own(link.scope) for link in links if link is not order))
            self._held[order] = held
        return order.rest if wanted in held else order.behind


def find_shared_end(one: Order | None, other: Order | None) -> Order | None:
    """Find the longest end that two orders have in common."""
    while one is not other:
        if one is None or other is None:
            return None
        if one.length != other.length:
            longer, shorter = (one, other) if one.length > other.length else (other, one)
            is_far = longer.behind is not None and longer.behind.length >= shorter.length
            one, other = longer.behind if is_far else longer.rest, shorter
        elif one.behind is not other.behind:
            one, other = one.behind, other.behind
        else:
            one, other = one.rest, other.rest
    return one


def merge_orders(
    orders: Sequence[Order], holds: Callable[[Order | None, Scope], bool]
) -> tuple[list[Scope], Order | None] | None:
    """Merge the orders of several bases as Python does (C3): what comes first, and the order that follows.

    Nothing where there is no such order. What all bases end with, and what is left of the longest when the others have
    come to their ends, is not gone through: it follows as it is. `holds` tells whether an order has a class.
    """
    end: Order | None = orders[0]
    for order in orders[1:]:
        end = find_shared_end(end, order)
    bases = [order.scope for order in orders]
    if end is not None and end.scope in bases[:-1]:
        return None  # a base that others are derived from stands before one of those
    longest: Order | None = max(orders, key=lambda each: each.length)
    parts = [[] if each is longest else [link.scope for link in each.list_links(end)] for each in orders]
    parts.append([base for base in bases if end is None or base is not end.scope])
    lead = orders.index(longest) if longest is not None else 0
    merging = _Parts(parts)
    merged: list[Scope] = []
    longest = None if longest is end else longest
    while merging.is_open:
        head = merging.find_head(lead, longest, holds)
        if head is None:
            return None
        merged.append(head)
        merging.take(head)
        if longest is not None and longest.scope is head:
            longest = None if longest.rest is end else longest.rest
    return merged, end if longest is None else longest


class _Parts:
    """The beginnings of orders while they are merged, but for that of the longest, which is told at each question."""

    def __init__(self, parts: Sequence[list[Scope]]) -> None:
        self._parts = parts
        self._places = [0] * len(parts)
        self._first = 0  # of the parts, before which all have come to their ends
        self._left = sum(map(len, parts))
        self._later: dict[Scope, int] = {}  # by class, in how many parts it comes behind the first
        self._heads: dict[Scope, list[int]] = {}
        for place, part in enumerate(parts):
            for each in part[1:]:
                self._later[each] = self._later.get(each, 0) + 1
            if part:
                self._heads.setdefault(part[0], []).append(place)

    @property
    def is_open(self) -> bool:
        """Tell whether a part has not come to its end."""
        return self._left > 0

    def find_head(self, lead: int, longest: Order | None, holds: Callable[[Order | None, Scope], bool]) -> Scope | None:
        """Find the first head that comes later in no part; the longest order stands at the place `lead`."""
        while (
            self._first < len(self._parts) and self._is_done(self._first) and (self._first != lead or longest is None)
        ):
            self._first += 1
        for place in range(self._first, len(self._parts)):
            if place == lead:
                head = longest.scope if longest is not None else None
            else:
                head = None if self._is_done(place) else self._parts[place][self._places[place]]
            if (
                head is not None
                and not self._later.get(head)
                and not (longest is not None and holds(longest.rest, head))
            ):
                return head
        return None

    def _is_done(self, place: int) -> bool:
        return self._places[place] >= len(self._parts[place])

    def take(self, head: Scope) -> None:
        """Take a class out of the parts that it is the head of."""
        for place in self._heads.pop(head, ()):
            self._places[place] += 1
            self._left -= 1
            if not self._is_done(place):
                following = self._parts[place][self._places[place]]
                self._later[following] -= 1
                self._heads.setdefault(following, []).append(place)
