"""What classes are derived from: told from the names of their bases, written for next time, and recalled (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pkg.resolve.changes.dependency_record import ClassRow
from pkg.resolve.facts.repository_files import Files
from pkg.resolve.facts.scope_model import ModuleScopes, Reference, Scope, refer_to
from pkg.resolve.hierarchy import ClassFacts, Hierarchy


def describe_classes(hierarchy: Hierarchy, module: ModuleScopes) -> list[ClassRow]:
    """Describe what the classes of a file are derived from."""
    return [_describe_class(hierarchy, scope) for scope in module.scopes if scope.kind == "class"]


def _describe_class(hierarchy: Hierarchy, scope: Scope) -> ClassRow:
    facts = hierarchy.facts(scope)
    _, qualname, number = refer_to(scope)
    return ClassRow(
        qualname, number, tuple(map(refer_to, facts.bases)), facts.places, facts.libraries, facts.has_unknown,
        refer_to(facts.metaclass) if facts.metaclass is not None else None, hierarchy.is_mixed(scope),
    )  # fmt: skip


class ClassCache:
    """The classes of files that need not be read for it: what they are derived from is known."""

    def __init__(self, files: Files, rows: Mapping[str, Sequence[ClassRow]]) -> None:
        self._files = files
        self._rows = {(path, row.qualname, row.number): row for path, listed in rows.items() for row in listed}
        self._derived: dict[Reference, list[Reference]] = {}
        for name, row in self._rows.items():
            for base in row.bases:
                self._derived.setdefault(base, []).append(name)

    def list_missing(self, paths: Iterable[str]) -> list[Reference]:
        """Give the classes of some files that known ones are derived from, and that are no longer there."""
        among = set(paths)
        named = {*self._derived, *(row.metaclass for row in self._rows.values() if row.metaclass is not None)}
        return [name for name in named if name[0] in among and self._files.find(name) is None]

    def find_row(self, scope: Scope) -> ClassRow | None:
        """Give what is known of a class, as it was written."""
        return self._rows.get(refer_to(scope))

    def recall(self, scope: Scope) -> ClassFacts | None:
        """Give what is known of a class."""
        row = self.find_row(scope)
        if row is None:
            return None
        metaclass = self._files.find(row.metaclass) if row.metaclass is not None else None
        bases = tuple(base for base in map(self._files.find, row.bases) if base is not None)
        return ClassFacts(scope, bases, row.places, row.libraries, row.has_unknown, metaclass)

    def list_derived(self, scope: Scope) -> list[Scope]:
        """Give those that are derived from a class directly."""
        names = self._derived.get(refer_to(scope), [])
        self._files.fetch(path for path, *_ in names)
        return [each for each in map(self._files.find, names) if each is not None]
