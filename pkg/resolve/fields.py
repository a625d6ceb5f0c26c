"""Assignments to attributes, by the class whose methods make them to self, and those that code elsewhere makes."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pkg.resolve.context import Context
from pkg.resolve.lookup_order import Order, Stretches
from pkg.resolve.model import Scope, Store


class Fields:
    """Where the attributes of objects are assigned to, beside the bodies of their classes."""

    def __init__(self, context: Context) -> None:
        self._files = context.modules
        self._stretches = Stretches(self.list_names)

    def list_names(self, scope: Scope) -> Collection[str]:
        """Give the attributes of self that the methods of a class assign to."""
        return scope.module.fields.get(scope, ())

    def find_owners(self, order: Order, name: str) -> list[Scope]:
        """Find the classes of an order whose methods assign to an attribute of self."""
        return [link.scope for link in self._stretches.find_links(order, name)]

    def list_own(self, scope: Scope, name: str) -> list[Store]:
        """Give the assignments to an attribute of self in the methods of a class."""
        found = scope.module.fields.get(scope)
        return found.get(name, []) if found is not None else []

    def count_foreign(self, name: str) -> int:
        """Count the assignments to an attribute of something else than the first parameter of a method."""
        return self._files.totals.foreign[name]

    def list_foreign(self, name: str) -> Iterator[Store]:
        """Give those assignments."""
        for path in self._files.list_assigning(name):
            yield from self._files[path].fields[None][name]
