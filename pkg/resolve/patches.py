"""What code assigns to attributes of classes and modules from outside, which binds a name there (A-12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from pkg.resolve.facts.scope_model import Reference, Scope, refer_to


class Patch(NamedTuple):
    """An assignment to an attribute of a class or module from outside."""

    target: Reference
    name: str
    number: int  # among the assignments of its file to attributes of that name
    value: int  # a hash of the text


class Patches:
    """Know all such assignments: by the file that assigns, and by the name that is bound."""

    def __init__(self, bind: Callable[[Reference, str], None]) -> None:
        self._bind = bind  # a name in a class or module
        self.by_file: dict[str, Sequence[Patch]] = {}
        self._bound: dict[str, dict[Reference, list[tuple[str, Patch]]]] = {}

    def take(self, known: Mapping[str, Sequence[Patch]]) -> None:
        """Take what is known of files already; those of others are put into `by_file`, then all are bound."""
        self.by_file = dict(known)

    def bind(self) -> None:
        """Bind the names that are assigned to, where they are assigned to."""
        for path, patches in self.by_file.items():
            for patch in patches:
                self._bind(patch.target, patch.name)
                self._bound.setdefault(patch.name, {}).setdefault(patch.target, []).append((path, patch))

    def list_bound(self, scope: Scope, name: str) -> Iterable[tuple[str, Patch]]:
        """Give the assignments that bind a name of a module or class, each with its file."""
        return self._bound[name].get(refer_to(scope), ()) if name in self._bound else ()
