"""Attributes that are assigned to beside the bodies of their classes: in methods, and by code elsewhere (A-12)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from pkg.resolve.facts.scope_model import ModuleScopes, Scope, Store
from pkg.resolve.facts.special_names import FALLBACK
from pkg.resolve.hierarchy import Hierarchy
from pkg.resolve.lookup_order import Stretches


class Fields:
    """Where the attributes of objects are assigned to, beside the bodies of their classes."""

    def __init__(
        self, hierarchy: Hierarchy, foreign: Mapping[str, int], list_assigning: Callable[[str], Iterable[ModuleScopes]]
    ) -> None:
        self._hierarchy = hierarchy
        self._foreign = foreign  # how many assignments there are of each name
        self._list_assigning = list_assigning
        self._stretches = Stretches(self.list_names)

    def list_names(self, scope: Scope) -> Collection[str]:
        """Give the attributes of self that the methods of a class assign to."""
        return scope.module.fields.get(scope, ())

    def find_owners(self, scope: Scope, name: str) -> list[Scope]:
        """Find the classes in the order of one whose methods assign to an attribute of self."""
        return [link.scope for link in self._stretches.find_links(self._hierarchy.order(scope), name)]

    def defines(self, scope: Scope, name: str) -> bool:
        """Tell whether a class or one of its bases defines an attribute, in its body or by assignment to self."""
        return self._hierarchy.find(scope, name) is not None or bool(self.find_owners(scope, name))

    def find_lacking(self, scope: Scope, name: str) -> list[Scope]:
        """Find the nearest derived classes that have an attribute which a class lacks."""
        return self._hierarchy.find_lacking(scope, name, self.list_names)

    def makes(self, scope: Scope, name: str) -> bool:
        """Tell whether the objects of a class lack an attribute, and __getattr__ makes it."""
        return self._hierarchy.find(scope, FALLBACK) is not None and not self.defines(scope, name)

    def list_own(self, scope: Scope, name: str) -> list[Store]:
        """Give the assignments to an attribute of self in the methods of a class."""
        found = scope.module.fields.get(scope)
        return found.get(name, []) if found is not None else []

    def count_foreign(self, name: str) -> int:
        """Count the assignments to an attribute of something else than the first parameter of a method."""
        return self._foreign[name]

    def list_foreign(self, name: str) -> Iterator[Store]:
        """Give those assignments."""
        for module in self._list_assigning(name):
            yield from module.fields[None][name]
