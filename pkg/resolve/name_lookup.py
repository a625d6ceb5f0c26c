"""Names: which scope binds them, and which of their bindings count (A-12)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.resolve.abstract_values import Values
from pkg.resolve.resolution_context import Context
from pkg.resolve.scope_model import Binding, Scope
from pkg.units import Code

NAMELESS = frozenset(("setter", "deleter", "getter", "overload"))
"""Decorators under which a definition gives its name no value."""


class Names:
    """Look names up where they stand."""

    def __init__(self, context: Context) -> None:
        self._solver = context.solver
        self._owners: dict[tuple[Scope, str], Scope] = {}
        self._final: dict[tuple[Scope, str], Sequence[Binding]] = {}

    def forget(self) -> None:
        """Forget the scopes that names belong to, which are found again when they are asked for."""
        self._owners.clear()
        self._final.clear()

    def look_up(self, scope: Scope, name: str) -> Values:
        """Give the values of a name where it stands."""
        owner = self.find_owner(scope, name)
        if owner.parent is None and scope.owner is not owner:
            return self.derive(owner, name)
        return self._solver.get(("variable", owner, name))

    def derive(self, scope: Scope, name: str) -> Values:
        """Give the values that a name of a module or class has when its code has run."""
        is_final = scope.stars or len(scope.names.get(name, ())) > 1
        return self._solver.get(("final" if is_final else "variable", scope, name))

    def find_owner(self, scope: Scope, name: str) -> Scope:
        """Find the scope that a name belongs to; the module's where none binds it."""
        if scope.parent is None:
            return scope
        found = self._owners.get((scope, name))
        if found is None:
            found = self._owners[scope, name] = scope.find_owner(name)
        return found

    def list_final(self, scope: Scope, name: str) -> Sequence[Binding]:
        """Give the bindings of a name that count when the code of its scope has run; of many, they are known again."""
        if len(scope.names.get(name, ())) < 2:
            return list_final(scope, name)
        found = self._final.get((scope, name))
        if found is None:
            found = self._final[scope, name] = list_final(scope, name)
        return found


def list_final(scope: Scope, name: str) -> Sequence[Binding]:
    """Give the bindings of a name that count when the code of its module, class or function has run.

    One that stands in no branch puts an end to those before it.
    """
    found = scope.names.get(name, ())
    if len(found) < 2 or scope.kind not in ("module", "class", "function"):
        return found
    ordered = sorted(found, key=lambda each: each.at)
    last = max((i for i, each in enumerate(ordered) if stands_alone(scope, each)), default=0)
    return ordered[last:]


def stands_alone(scope: Scope, binding: Binding) -> bool:
    """Tell whether a binding stands in no branch: at the margin of its module, class or function."""
    if binding.code == Code.ANNOTATE:
        return False
    if binding.scope is not None and not NAMELESS.isdisjoint(binding.scope.decorator_names):
        return False
    text = scope.module.text
    return text.rfind(b"\n", 0, binding.at) + 1 + scope.margin >= binding.at
