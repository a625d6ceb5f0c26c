"""Write what was resolved as relationships: imports, base classes, overrides, calls, and what could not be bound."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator

from pkg.confidence import CERTAIN, POSSIBLE, rank_confidence
from pkg.facts import Code, render_callee
from pkg.graph.resolve.calls import Binder
from pkg.graph.resolve.model import ModuleScopes, Scope, Site
from pkg.graph.resolve.outcomes import Target, Unbound, settle
from pkg.graph.resolve.project import Project
from pkg.graph.resolve.values import CLASS, FUNCTION, LIBRARY, MODULE, Reason
from pkg.graph.unit import (
    UnboundCall,
    UnitLinks,
    UnitText,
    format_id,
    hash_inside,
    hash_key,
    name_library,
)
from pkg.model import Edge, Import, Label, RelationType

UNIQUE_NAME = "only function of this name"
_GUESSED = frozenset((Reason.PARAMETER, Reason.ARGUMENT, Reason.RESULT, Reason.ITEM, Reason.EXPRESSION))
"""Where nothing is known of a receiver, a method of a unique name is better than nothing, and said to be a guess."""
_COMMON = frozenset(
    name for kind in (str, bytes, list, dict, set, int, float, complex, tuple) for name in dir(kind)
) | {"read", "write", "close", "open", "flush", "seek", "readline", "readlines", "run", "send", "start", "main", "next"}
"""Names that builtin objects have as well: unique in a repository says nothing about them."""


class LinkWriter:
    """Write the links of every file of a project."""

    def __init__(self, source: str, units: dict[str, UnitText], project: Project) -> None:
        self._source = source
        self._units = units
        self._binder: Binder = project.binder
        self._project = project
        self._unique = self._find_unique()

    def _find_unique(self) -> dict[str, Scope]:
        """Find the methods whose names no other function or class of the repository has."""
        found: dict[str, list[Scope]] = defaultdict(list)
        for module in self._binder.modules.values():
            for scope in module.scopes:
                if scope.kind in ("function", "class"):
                    found[scope.name].append(scope)
        return {
            name: scopes[0]
            for name, scopes in found.items()
            if len(scopes) == 1 and scopes[0].parent is not None and scopes[0].parent.kind == "class"
            and scopes[0].kind == "function" and name not in _COMMON and not name.startswith("__")
        }  # fmt: skip

    def write(self, path: str) -> UnitLinks:
        """Write the links of one file."""
        module = self._binder.modules[path]
        libraries: dict[str, None] = {}
        edges: dict[Edge, None] = {}
        for edge in (*self._link_imports(module, libraries), *self._link_classes(module)):
            edges[edge] = None
        unbound: list[UnboundCall] = []
        counts: dict[tuple[str, str], int] = {}
        starts = _find_lines(module.text)
        for site in self._project.sites[path]:
            line = bisect_right(starts, site.start)
            owner = self._owner_id(site.scope)
            outcomes = settle(self._project.outcomes(site), site.code)
            targets = [each for each in outcomes if isinstance(each, Target)]
            reasons = sorted(
                {each.reason for each in outcomes if isinstance(each, Unbound)}, key=lambda each: each.value
            )
            if site.code == Code.CALL and reasons and not targets:
                targets = list(self._guess(site, reasons))
            for target in targets:
                end = self._definition_id(target.scope)
                if end is not None:
                    edges[Edge(RelationType.CALLS, owner, end, line, target.rule, target.confidence)] = None
            if site.code == Code.CALL and reasons and not targets:
                unbound.append(self._make_unbound(site, owner, line, reasons[0], counts))
        return UnitLinks(path, tuple(_drop_doubles(edges)), tuple(unbound), tuple(sorted(libraries)))

    def _guess(self, site: Site, reasons: list[Reason]) -> Iterator[Target]:
        text = site.scope.module.text[site.start : site.end]
        _, dot, name = text.rpartition(b".")
        target = self._unique.get(name.strip().decode("utf-8", "replace")) if dot else None
        if target is not None and _GUESSED.intersection(reasons):
            yield Target(target, UNIQUE_NAME, POSSIBLE)

    def _make_unbound(
        self, site: Site, owner: str, line: int, reason: Reason, counts: dict[tuple[str, str], int]
    ) -> UnboundCall:
        expression = render_callee(site.scope.module.text[site.start : site.end])
        position = counts.get((owner, expression), 0)
        counts[owner, expression] = position + 1
        identity = format_id(hash_inside(int(owner, 16), f"call/{expression}[{position}]"))
        return UnboundCall(identity, owner, expression, line, reason.value)

    # Nodes.

    def _file_id(self, path: str) -> str:
        return format_id(hash_key(self._source, path, Label.FILE.value))

    def _definition_id(self, scope: Scope) -> str | None:
        if scope.definition < 0:
            return None
        return self._units[scope.module.path].ids[scope.definition]

    def _owner_id(self, scope: Scope) -> str:
        """Give the function whose code a site is of; code of a module, and of classes in it, is of the file."""
        each: Scope | None = scope.owner
        while each is not None and each.definition < 0:
            each = each.parent.owner if each.parent is not None else None
        found = self._definition_id(each) if each is not None else None
        return found or self._file_id(scope.module.path)

    # Imports.

    def _link_imports(self, module: ModuleScopes, libraries: dict[str, None]) -> Iterator[Edge]:
        ids = self._units[module.path].import_ids
        for place, (identity, record) in enumerate(zip(ids, module.imports, strict=True)):
            found = self._resolve_import(module, place, record, libraries)
            if found is not None:
                end, kind = found
                yield Edge(RelationType.RESOLVES_TO, identity, end, None, kind, CERTAIN)

    def _link_library(self, name: str, kind: str, libraries: dict[str, None]) -> tuple[str, str]:
        top = name.partition(".")[0]
        libraries[top] = None
        return name_library(self._source, top), kind

    def _resolve_import(
        self, importer: ModuleScopes, place: int, record: Import, libraries: dict[str, None]
    ) -> tuple[str, str] | None:
        """Give the node that an import leads to, and its kind of artifact."""
        found = self._binder.map.find_import(importer.path, record)
        if not found:
            kind = "unknown" if record.name else "module"
            return None if record.level else self._link_library(record.module, kind, libraries)
        if record.name is None:
            return (self._file_id(found.module), "module") if found.module is not None else None
        if record.name == "*":
            return (self._file_id(found.module), "unknown") if found.module is not None else None
        values = self._binder.solver.get(("imported", importer.root, place))
        for value in sorted(values, key=str) if len(values) == 1 else ():
            if value[0] in (CLASS, FUNCTION) and self._definition_id(value[1]) is not None:
                return self._definition_id(value[1]) or "", "class" if value[0] == CLASS else "function"
            if value[0] == MODULE:
                return self._file_id(value[1]), "module"
            if (
                value[0] == LIBRARY
                and value[1].replace(".", "").isidentifier()
                and not value[1].startswith("builtins.")
            ):
                return self._link_library(value[1], "unknown" if "." in value[1] else "module", libraries)
        if found.module is None:
            return None
        module = self._binder.modules.get(found.module)
        if module is None or not module.root.binds(record.name):
            return self._file_id(found.module), "unknown"
        return self._pick_definition(module, record.name) or (self._file_id(found.module), "variable")

    def _pick_definition(self, module: ModuleScopes, name: str) -> tuple[str, str] | None:
        """Give the last definition of a name that has several values."""
        for binding in reversed(module.root.names[name]):
            identity = self._definition_id(binding.scope) if binding.scope is not None else None
            if identity is not None and binding.scope is not None:
                return identity, binding.scope.kind
        return None

    # Classes.

    def _link_classes(self, module: ModuleScopes) -> Iterator[Edge]:
        hierarchy = self._binder.hierarchy
        for scope in module.scopes:
            start = self._definition_id(scope) if scope.kind == "class" else None
            if start is None:
                continue
            facts = hierarchy.facts(scope)
            for base, place in zip(facts.bases, facts.places, strict=True):
                end = self._definition_id(base)
                if end is not None:
                    yield Edge(RelationType.INHERITS, start, end, place, None, CERTAIN)
            for name, bindings in scope.names.items():
                owner = hierarchy.find(scope, name, after=scope)
                for binding in bindings if owner is not None else ():
                    yield from self._link_override(binding.scope, owner, name)

    def _link_override(self, method: Scope | None, owner: Scope | None, name: str) -> Iterator[Edge]:
        if method is None or owner is None or method.kind != "function":
            return
        start = self._definition_id(method)
        for binding in owner.names[name]:
            end = self._definition_id(binding.scope) if binding.scope is not None else None
            if start is not None and end is not None and binding.scope is not None and binding.scope.kind == "function":
                yield Edge(RelationType.OVERRIDES, start, end, None, None, CERTAIN)


def _drop_doubles(edges: dict[Edge, None]) -> Iterator[Edge]:
    """Of edges that differ in rule or confidence alone, keep the surest."""
    kept: dict[tuple[RelationType, str, str, int | None], Edge] = {}
    for edge in edges:
        key = edge.type, edge.start, edge.end, edge.line
        before = kept.get(key)
        if before is None or _rank(edge) < _rank(before):
            kept[key] = edge
    return iter(sorted(kept.values(), key=lambda edge: (edge.type.value, edge.start, edge.line or 0, edge.end)))


def _rank(edge: Edge) -> tuple[int, str]:
    return rank_confidence(edge.confidence), edge.rule or ""


def _find_lines(text: bytes) -> list[int]:
    """Give the offset at which each line begins."""
    starts, position = [0], text.find(b"\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find(b"\n", position + 1)
    return starts
