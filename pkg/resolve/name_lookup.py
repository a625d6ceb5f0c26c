"""Names: which scope binds them, and which of their bindings count (A-12)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.resolve.abstract_values import Values
from pkg.resolve.resolution_context import Context
from pkg.resolve.scope_model import DEFINITION, IMPORT, Binding, Scope
from pkg.resolve.tested_names import Applied, Part, list_known, list_tests, split_whole
from pkg.units import Code

NAMELESS = frozenset(("setter", "deleter", "getter", "overload"))
"""Decorators under which a definition gives its name no value."""

_STATEMENTS = frozenset((Code.ASSIGN, Code.AUGMENT, Code.ERASE, DEFINITION, IMPORT))
"""Kinds of bindings that are statements of their own."""

Reaching = tuple[int, ...]
"""Bindings of a name by their numbers in the order of the text."""


class Names:
    """Look names up where they stand."""

    def __init__(self, context: Context) -> None:
        self._solver = context.solver
        self._owners: dict[tuple[Scope, str], Scope] = {}
        self._final: dict[tuple[Scope, str], Sequence[Binding]] = {}
        self._ordered: dict[tuple[Scope, str], Sequence[Binding]] = {}

    def forget(self) -> None:
        """Forget the scopes that names belong to, which are found again when they are asked for."""
        self._owners.clear()
        self._final.clear()
        self._ordered.clear()

    def look_up(self, scope: Scope, name: str, at: int | None = None) -> Values:
        """Give the values of a name where it stands; `at` tells which of its bindings reach there."""
        if name[:2] == "__":
            name = scope.mangle(name)
        owner = self.find_owner(scope, name)
        parts = self._find_tested(scope, owner, name, at) if at is not None and name in scope.module.tested else None
        if parts:
            return self._solver.hand(("narrowed", owner, name, parts))
        if at is not None and (name in scope.global_names or name in scope.nonlocal_names):
            numbers = self._find_own(scope, owner, name, at)
            if numbers:
                return self._solver.hand(("reaching", owner, name, numbers))
        if is_elsewhere(scope, owner):
            return self.derive(owner, name)
        reaching = self._find_reaching(owner, name, at) if at is not None and scope.runs_in(owner) else None
        if reaching is None:
            return self._solver.hand(("variable", owner, name))
        if not reaching and owner.kind == "class":  # Python looks into the module then
            return self.derive(owner.module.root, name)
        return self._solver.hand(("reaching", owner, name, reaching))

    def _find_own(self, scope: Scope, owner: Scope, name: str, at: int) -> Reaching:
        """Find the bindings of a name of another scope that alone are in force where this one has just bound it.

        Nothing where anything is called in between, which may bind it as well.
        """
        own = [(number, each) for number, each in enumerate(self._order(owner, name)) if each.within is scope]
        passed = [each for _, each in own if each.end_position <= at and is_passed(scope, each, name, at)]
        if not passed or any(loop[0] <= at < loop[1] and passed[-1].at < loop[0] for loop in scope.loops):
            return ()
        between = scope.module.text[passed[-1].end_position : at]
        is_alone = b"(" not in between and b"yield" not in between and b"await" not in between
        return tuple(number for number, each in own if passed[-1].at <= each.at < at) if is_alone else ()

    def _find_tested(self, scope: Scope, owner: Scope, name: str, at: int) -> tuple[Part, ...]:
        """Give the bindings of a name that may be in force at a position with what was tested of each; none untested.

        Of a name that another function or the module binds the bindings count together.
        """
        known = list_known(scope, owner, name, at) if owner.kind != "class" else []
        if not known:
            return ()
        ordered = self._order(owner, name)
        if is_elsewhere(scope, owner) or not scope.runs_in(owner):
            parts = split_whole(scope, owner, ordered, known)
            return tuple(parts) if parts and parts[0][1] else ()
        numbers = self._find_reaching(owner, name, at)
        if numbers is None:
            numbers = (*((-1,) if name in owner.parameter_names else ()), *range(len(ordered)))
        groups: dict[Applied, list[int]] = {}
        for number in numbers:
            tests = list_tests(owner, ordered[number] if number >= 0 else None, at, known)
            groups.setdefault(tests, []).append(number)
        return tuple((tuple(found), tests) for tests, found in groups.items()) if any(groups) else ()

    def derive_whole(self, owner: Scope, name: str) -> Values:
        """Give whatever a name stands for, without regard to the order of its bindings in a function."""
        return self.derive(owner, name) if owner.parent is None else self._solver.hand(("variable", owner, name))

    def list_reaching(self, scope: Scope, name: str, at: int) -> tuple[Scope, Sequence[Binding]]:
        """Give the scope that a name belongs to where it stands, and its bindings that count there."""
        name = scope.mangle(name)
        owner = self.find_owner(scope, name)
        if is_elsewhere(scope, owner):
            return owner, self.list_final(owner, name)
        reaching = self._find_reaching(owner, name, at) if scope.runs_in(owner) else None
        if reaching is None:
            return owner, owner.names.get(name, ())
        if not reaching and owner.kind == "class":
            return owner.module.root, self.list_final(owner.module.root, name)
        return owner, self.pick(owner, name, reaching)

    def _find_reaching(self, owner: Scope, name: str, at: int) -> Reaching | None:
        """Find the bindings of a name that may be in force at a position of the code of its scope, by their numbers.

        -1 stands for the value that a parameter begins with. Nothing where all count, or none: then it is looked up
        without regard to the order. In modules and classes it is not, so that the order counts in whatever changes.
        """
        is_class, count = owner.kind == "class", len(owner.names.get(name, ()))
        if not count or (count == 1 and not is_class and name not in owner.parameter_names):
            return None
        ordered = self._order(owner, name)
        found = [-1] if name in owner.parameter_names else []
        last: Binding | None = None  # that every way to the position leads through
        for number, binding in enumerate(ordered):
            if binding.is_foreign(owner):
                found.append(number)
            elif binding.end_position <= at:
                if (found or owner.loops) and is_passed(owner, binding, name, at):
                    found = [each for each in found if each >= 0 and _lasts(owner, ordered[each])]
                    last = binding
                found.append(number)
            elif owner.loops and comes_again(owner, binding.at, at, last.at if last is not None else -1):
                found.append(number)
        if owner.kind == "function" and len(found) in (0, len(ordered) + (name in owner.parameter_names)):
            return None
        return tuple(found) if found or is_class else None

    def _order(self, owner: Scope, name: str) -> Sequence[Binding]:
        """Give the bindings of a name in the order of the text."""
        found = self._ordered.get((owner, name))
        if found is None:
            found = self._ordered[owner, name] = sorted(owner.names.get(name, ()), key=lambda each: each.at)
        return found

    def pick(self, owner: Scope, name: str, numbers: Reaching) -> list[Binding]:
        """Give the bindings of some numbers; of an earlier version of a file, there may be fewer."""
        ordered = self._order(owner, name)
        return [ordered[number] for number in numbers if 0 <= number < len(ordered)]

    def derive(self, scope: Scope, name: str) -> Values:
        """Give the values that a name of a module or class has when its code has run."""
        is_final = scope.stars or len(scope.names.get(name, ())) > 1
        return self._solver.hand(("final" if is_final else "variable", scope, name))

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


def is_passed(scope: Scope, binding: Binding, name: str, at: int) -> bool:
    """Tell whether whoever comes from a binding to a position behind it has gone through it: it stands in no branch.

    Or the position stands in the same branch; but there, what was before counts on where the new value is made of it:
    mostly it is something of the same kind.
    """
    if stands_alone(scope, binding):
        return True
    if binding.code not in _STATEMENTS or at >= scope.module.find_block_end(binding.at) or not _gives_value(binding):
        return False
    return name.encode("utf-8", "replace") not in scope.module.text[binding.start : binding.end]


def comes_again(scope: Scope, position: int, at: int, last: int) -> bool:
    """Tell whether a loop leads from a position back to one before it, other than through a third that is passed."""
    return any(
        start <= at < end and start <= position < end and not start <= last < end for start, end in scope.loops
    )  # fmt: skip


def _lasts(owner: Scope, binding: Binding) -> bool:
    """Tell whether a binding counts though others follow: a declared type, and what another function may bind."""
    return binding.code == Code.ANNOTATE or binding.is_foreign(owner)


def is_elsewhere(scope: Scope, owner: Scope) -> bool:
    """Tell whether code that stands in a scope runs when that of the module, which binds its name, has run."""
    return owner.parent is None and scope.owner is not owner


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
    if not _gives_value(binding):
        return False
    text = scope.module.text
    return text.rfind(b"\n", 0, binding.at) + 1 + scope.margin >= binding.at


def _gives_value(binding: Binding) -> bool:
    return binding.scope is None or NAMELESS.isdisjoint(binding.scope.decorator_names)
