"""What classes are derived from: told from the names of their bases, written for next time, and recalled (A-12)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from pkg.model import Class
from pkg.resolve.abstract_values import CLASS, CLASSES, EMPTY, LIBRARY, UNKNOWN, Value, Values
from pkg.resolve.dependency_record import ClassRow
from pkg.resolve.expressions import Expressions
from pkg.resolve.hierarchy import ClassFacts, Hierarchy, place_class
from pkg.resolve.repository_files import Files
from pkg.resolve.resolution_context import Context
from pkg.resolve.scope_model import ModuleScopes, Reference, Scope, refer_to


class BaseFinder:
    """Find the bases of classes, before anything is known of calls: a base is a name or an attribute of one."""

    def __init__(self, context: Context, expressions: Expressions) -> None:
        self._context = context
        self._expressions = expressions
        self.found: set[str] = set()  # files
        self._facts: dict[Scope, ClassFacts] = {}
        context.solver.add_rule("bases", self._derive_bases)

    def find(self, paths: Collection[str]) -> list[ClassFacts]:
        """Find the bases of the classes of files."""
        solver, files = self._context.solver, self._context.modules
        classes = [scope for path in sorted(paths) for scope in files[path].scopes if scope.kind == "class"]
        for scope in classes:
            solver.get(("bases", scope))
        solver.solve()
        self.found.update(paths)
        return [self._facts[scope] for scope in classes]

    def _derive_bases(self, scope: Scope) -> Values:
        """Follow the bases of a class; nobody reads the set itself."""
        self._facts[scope] = self._find_bases(scope)
        return EMPTY

    def _find_bases(self, scope: Scope) -> ClassFacts:
        definition = scope.module.definitions[scope.definition] if scope.definition >= 0 else None
        facts = ClassFacts(scope)
        bases, places, libraries = [], [], []
        for place, text in enumerate(definition.bases if isinstance(definition, Class) else (), 1):
            name, is_keyword, value_text = text.partition("(")[0].partition("[")[0].partition("=")
            if is_keyword:
                if name.strip() == "metaclass":
                    found = self._expressions.evaluate_text(scope.parent or scope, value_text.strip())
                    classes = (each[1] for each in found if each[0] == CLASS)
                    facts.metaclass = min(classes, key=place_class, default=None)
                continue
            text = text.partition("[")[0]
            for value in sorted(self._expressions.evaluate_text(scope.parent or scope, text), key=_order_value):
                if value[0] in CLASSES and value[1] is not scope and value[1] not in bases:
                    bases.append(value[1])
                    places.append(place)
                elif value[0] == LIBRARY:
                    libraries.append(value[1])
                elif value[0] == UNKNOWN:
                    facts.has_unknown = True
        facts.bases, facts.places = tuple(bases), tuple(places)
        facts.libraries = tuple(
            name for name in libraries if name not in ("builtins.object", "typing.Generic", "typing.Protocol")
        )
        return facts


def _order_value(value: Value) -> tuple[str, int]:
    """Order values by what they are; two classes of one name in a file by where they stand."""
    return str(value), value[1].head[0] if isinstance(value[1], Scope) else 0


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
