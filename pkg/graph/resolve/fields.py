"""Assignments to attributes, by the class whose methods make them to self, and those that code elsewhere makes."""

from __future__ import annotations

from pkg.graph.resolve.context import Context
from pkg.graph.resolve.model import Scope, Store
from pkg.graph.resolve.names import Names


class Fields:
    """Where the attributes of objects are assigned to, beside the bodies of their classes."""

    def __init__(self, context: Context, names: Names) -> None:
        self._own: dict[Scope, dict[str, list[Store]]] = {}
        self.foreign: dict[str, list[Store]] = {}
        """Assignments by attribute to something else than the first parameter of a method."""
        for module in context.modules.values():
            for name, stores in module.stores.items():
                for store in stores:
                    self._sort(names, name, store)

    def _sort(self, names: Names, name: str, store: Store) -> None:
        owner = _find_class(names, store)
        if owner is None:
            self.foreign.setdefault(name, []).append(store)
        else:
            self._own.setdefault(owner, {}).setdefault(name, []).append(store)

    def list_own(self, scope: Scope, name: str) -> list[Store]:
        """Give the assignments to an attribute of self in the methods of a class."""
        return self._own[scope].get(name, []) if scope in self._own else []


def _find_class(names: Names, store: Store) -> Scope | None:
    """Find the class whose method assigns to an attribute of its first parameter."""
    text = store.scope.module.text[store.start : store.end]
    if b"." in text or b"(" in text:
        return None
    receiver = text.decode("utf-8", "replace")
    method = names.find_owner(store.scope, receiver)
    return method.parent if method.receiver == receiver else None
