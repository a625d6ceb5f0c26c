"""Names: which scope binds them, and which of their bindings count (A-12)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.resolve import queries as q
from pkg.resolve.abstract_values import Values
from pkg.resolve.facts.binding_order import comes_again, is_passed, list_final
from pkg.resolve.facts.scope_model import Binding, Scope
from pkg.resolve.facts.tested_names import Applied, Part, list_known, list_tests, split_whole
from pkg.resolve.queries import Reaching
from pkg.resolve.resolution_context import Context
from pkg.units import Code


class Names:
    """Look names up where they stand."""

    def __init__(self, context: Context) -> None:
        self._solver = context.solver
        self._owners: dict[tuple[Scope, str], Scope] = {}
        self._final: dict[tuple[Scope, str], Sequence[Binding]] = {}
        self._ordered: dict[tuple[Scope, str], Sequence[Binding]] = {}
        context.caches += (self._owners, self._final, self._ordered)
        context.answer(q.NAME, self.look_up)
        context.answer(q.MEMBER, self.derive)
        context.answer(q.WHOLE_NAME, self.derive_whole)
        context.answer(q.OWNER, self.find_owner)
        context.answer(q.IN_FORCE, self.list_reaching)
        context.answer(q.PICKED, self.pick)

    def look_up(self, scope: Scope, name: str, at: int | None = None) -> Values:
        """Give the values of a name where it stands; `at` tells which of its bindings reach there."""
        if name[:2] == "__":
            name = scope.mangle(name)
        owner = self.find_owner(scope, name)
        parts = self._find_tested(scope, owner, name, at) if at is not None and name in scope.module.tested else None
        if parts:
            return self._solver.hand(q.NARROWED_NAME, owner, name, parts)
        if at is not None and (name in scope.global_names or name in scope.nonlocal_names):
            numbers = self._find_own(scope, owner, name, at)
            if numbers:
                return self._solver.hand(q.REACHING, owner, name, numbers)
        if _is_elsewhere(scope, owner):
            return self.derive(owner, name)
        reaching = self._find_reaching(owner, name, at) if at is not None and scope.runs_in(owner) else None
        if reaching is None:
            return self._solver.hand(q.VARIABLE, owner, name)
        if not reaching and owner.kind == "class":  # Python looks into the module then
            return self.derive(owner.module.root, name)
        return self._solver.hand(q.REACHING, owner, name, reaching)

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
        if _is_elsewhere(scope, owner) or not scope.runs_in(owner):
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
        return self.derive(owner, name) if owner.parent is None else self._solver.hand(q.VARIABLE, owner, name)

    def list_reaching(self, scope: Scope, name: str, at: int) -> tuple[Scope, Sequence[Binding]]:
        """Give the scope that a name belongs to where it stands, and its bindings that count there."""
        name = scope.mangle(name)
        owner = self.find_owner(scope, name)
        if _is_elsewhere(scope, owner):
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
        return self._solver.hand(q.FINAL if is_final else q.VARIABLE, scope, name)

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


def _lasts(owner: Scope, binding: Binding) -> bool:
    """Tell whether a binding counts though others follow: a declared type, and what another function may bind."""
    return binding.code == Code.ANNOTATE or binding.is_foreign(owner)


def _is_elsewhere(scope: Scope, owner: Scope) -> bool:
    """Tell whether code that stands in a scope runs when that of the module, which binds its name, has run."""
    return owner.parent is None and scope.owner is not owner
