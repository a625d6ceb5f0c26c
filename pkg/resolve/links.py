"""Write what was resolved of each file as relationships: imports, base classes, overrides, calls, unbound calls."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping

from pkg.model import CERTAIN, LIKELY, POSSIBLE, Edge, Import, Label, RelationType
from pkg.resolution.module_map import Found
from pkg.resolution.placed_links import drop_doubles, find_lines
from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import CLASS, FUNCTION, LIBRARY, MODULE, Value, Values
from pkg.resolve.duck_types import DuckTypes
from pkg.resolve.facts.scope_model import ModuleScopes, Scope, Site
from pkg.resolve.facts.special_names import FALLBACK
from pkg.resolve.fault_places import find_place
from pkg.resolve.hierarchy import Hierarchy
from pkg.resolve.outcomes import DESCRIPTOR, Outcome, Target, Unbound, settle
from pkg.resolve.resolution_context import Context
from pkg.units import (
    Code,
    UnboundCall,
    UnitLinks,
    UnitText,
    format_id,
    hash_inside,
    hash_key,
    name_library,
    render_callee,
)


class NodeIds:
    """Know the nodes of a project's files and definitions."""

    def __init__(self, source: str, units: Mapping[str, UnitText]) -> None:
        self.source = source
        self._units = units

    def of_file(self, path: str) -> str:
        """Give the id of a file."""
        return format_id(hash_key(self.source, path, Label.FILE.value))

    def of_definition(self, scope: Scope) -> str | None:
        """Give the id of a function or class; nothing for one that is no node."""
        return self._units[scope.module.path].ids[scope.definition] if scope.definition >= 0 else None

    def of_owner(self, scope: Scope) -> str:
        """Give the function whose code a site is of; code of a module, and of classes in it, is of the file."""
        each: Scope | None = scope.owner
        while each is not None and each.definition < 0:
            each = each.parent.owner if each.parent is not None else None
        found = self.of_definition(each) if each is not None else None
        return found or self.of_file(scope.module.path)

    def of_imports(self, path: str) -> list[str]:
        """Give the ids of the imports of a file."""
        return self._units[path].import_ids


def link_classes(hierarchy: Hierarchy, ids: NodeIds, module: ModuleScopes) -> Iterator[Edge]:
    """Give the relationships of the classes of a file."""
    for scope in module.scopes:
        start = ids.of_definition(scope) if scope.kind == "class" else None
        if start is not None:
            yield from _link_bases(hierarchy, ids, scope, start)
            yield from _link_overrides(hierarchy, ids, scope)


def _link_bases(hierarchy: Hierarchy, ids: NodeIds, scope: Scope, start: str) -> Iterator[Edge]:
    facts = hierarchy.facts(scope)
    for base, place in zip(facts.bases, facts.places, strict=True):
        end = ids.of_definition(base)
        if end is not None:
            is_told = facts.places.count(place) == 1
            yield Edge(RelationType.INHERITS, start, end, place, None, CERTAIN if is_told else LIKELY)


def _link_overrides(hierarchy: Hierarchy, ids: NodeIds, scope: Scope) -> Iterator[Edge]:
    for name in scope.names:
        owner = hierarchy.find(scope, name, after=scope)
        ends = list(_list_functions(ids, owner, name)) if owner is not None else []
        for start in _list_functions(ids, scope, name) if ends else ():
            for end in ends:
                yield Edge(RelationType.OVERRIDES, start, end, None, None, CERTAIN)


def _list_functions(ids: NodeIds, scope: Scope, name: str) -> Iterator[str]:
    """Give the functions that a class defines under a name."""
    for binding in scope.names[name]:
        method = binding.scope
        identity = ids.of_definition(method) if method is not None and method.kind == "function" else None
        if identity is not None:
            yield identity


End = tuple[str, str]
"""The id of a node, and the kind of artifact that it is."""


class ImportLinks:
    """Link the imports of one file; the libraries that they lead to are collected."""

    def __init__(self, context: Context, ids: NodeIds, module: ModuleScopes) -> None:
        self._context = context
        self._ids = ids
        self._module = module
        self.libraries: set[str] = set()

    def link(self) -> Iterator[Edge]:
        """Give the relationships of all imports that lead anywhere."""
        ids = self._ids.of_imports(self._module.path)
        for place, (identity, record) in enumerate(zip(ids, self._module.imports, strict=True)):
            ends = list(dict.fromkeys(self._resolve(place, record)))
            for end, kind in ends:
                yield Edge(RelationType.RESOLVES_TO, identity, end, None, kind, CERTAIN if len(ends) == 1 else LIKELY)

    def _resolve(self, place: int, record: Import) -> Iterator[End]:
        found = self._context.map.find_import(self._module.path, record)
        if found and record.name not in (None, "*"):
            values = self._context.solver.get(q.IMPORTED, self._module.root, place)
            end = self._pick_value(values) if len(values) == 1 else None
            if end is not None:
                yield end
                return
        for each in found.list_all():
            end = self._pick_found(each, record)
            if end is not None:
                yield end

    def _pick_found(self, found: Found, record: Import) -> End | None:
        """Give the node of one thing that a module's name leads to; without dots, what leads nowhere is a library."""
        kind = "unknown" if record.name else "module"
        if not found:
            return None if record.level else self._link_library(record.module, kind)
        if record.name is None or record.name == "*":
            return (self._ids.of_file(found.module), kind) if found.module is not None else None
        return self._pick_name(found, record.name)

    def _pick_value(self, values: Iterable[Value]) -> End | None:
        """Give the node of the one value that an imported name stands for."""
        (value,) = values
        if value[0] in (CLASS, FUNCTION):
            identity = self._ids.of_definition(value[1])
            return (identity, "class" if value[0] == CLASS else "function") if identity is not None else None
        if value[0] == MODULE:
            return self._ids.of_file(value[1]), "module"
        if value[0] == LIBRARY and _is_importable(value[1]):
            return self._link_library(value[1], "unknown" if "." in value[1] else "module")
        return None

    def _pick_name(self, found: Found, name: str) -> End | None:
        """Give the last definition of a name of several values or none that is known; else the file that binds it."""
        if found.module is None:
            return None
        file = self._ids.of_file(found.module)
        module = self._context.modules.get(found.module)
        if module is None or not module.root.binds(name):
            return file, "unknown"
        for binding in reversed(module.root.names[name]):
            identity = self._ids.of_definition(binding.scope) if binding.scope is not None else None
            if identity is not None and binding.scope is not None:
                return identity, binding.scope.kind
        return file, "variable"

    def _link_library(self, name: str, kind: str) -> End:
        top = name.partition(".")[0]
        self.libraries.add(top)
        return name_library(self._ids.source, top), kind


def _is_importable(name: str) -> bool:
    return name.replace(".", "").isidentifier() and not name.startswith("builtins.")


Settled = tuple[list[Target], list[Reason]]
"""What a site calls, and why it may call something else that is not known."""

DUCK_TYPE = "only class with these attributes"
_ASKED = (FALLBACK, DESCRIPTOR)
_GUESSED = frozenset((
    Reason.PARAMETER, Reason.ARGUMENT, Reason.RESULT, Reason.ITEM, Reason.EXPRESSION, Reason.NOTHING,
))  # fmt: skip
"""Where nothing is known of a receiver, the one class that fits is better than nothing, and said to be a guess."""


class LinkWriter:
    """Write the links of every file of a project."""

    def __init__(
        self, source: str, units: Mapping[str, UnitText], context: Context, sites: Mapping[str, Iterable[Site]],
        outcomes: Callable[[Site], Values],
    ) -> None:  # fmt: skip
        self._ids = NodeIds(source, units)
        self._context = context
        self._sites = sites  # by file
        self._outcomes = outcomes
        self._duck_types = DuckTypes(context.modules, context.hierarchy, context.fields)
        self._settled: dict[tuple[Values, Code], Settled] = {}  # many sites have the same outcomes

    def write(self, path: str) -> UnitLinks:
        """Write the links of one file."""
        module, errors = self._context.modules[path], self._context.errors
        imports, edges = ImportLinks(self._context, self._ids, module), list[Edge]()
        with errors.keep("link", path):
            edges += imports.link()
        with errors.keep("link", path):
            edges += link_classes(self._context.hierarchy, self._ids, module)
        calls = _CallLinks(self._ids, module.text)
        for site in self._sites[path]:
            try:
                targets, reasons = self._settle(site)
                if targets or reasons:
                    calls.add(site, targets, reasons)
            except Exception as fault:
                errors.note(fault, "link", *find_place((site,), path))
        unbound = sorted(calls.unbound, key=lambda each: (each.line, each.id))
        return UnitLinks(
            path, tuple(drop_doubles([*edges, *calls.edges])), tuple(unbound), tuple(sorted(imports.libraries))
        )

    def _settle(self, site: Site) -> Settled:
        """Give what a site calls, and why it may call something else that is not known."""
        outcomes = self._outcomes(site)
        found = self._settled.get((outcomes, site.code))
        if found is None:
            found = self._settled[outcomes, site.code] = _sort_out(settle(outcomes, site.code))
        targets, reasons = found
        is_asked = site.code in (Code.CALL, Code.READ) and not _is_bound(targets)
        if is_asked and _GUESSED.intersection(reasons):
            targets = [*targets, *(Target(each, DUCK_TYPE, POSSIBLE) for each in self._duck_types.find_functions(site))]
        return targets, reasons


def _is_bound(targets: Iterable[Target]) -> bool:
    """Tell whether a target is what a site calls: others are only asked for that."""
    return any(target.rule not in _ASKED for target in targets)


def _sort_out(outcomes: Iterable[Outcome]) -> Settled:
    targets = [each for each in outcomes if isinstance(each, Target)]
    reasons = {each.reason for each in outcomes if isinstance(each, Unbound)}
    return targets, sorted(reasons, key=lambda each: each.value)


class _CallLinks:
    """Collect the calls of one file: those that are bound, and those that could not be."""

    def __init__(self, ids: NodeIds, text: bytes) -> None:
        self._ids = ids
        self._starts = find_lines(text)
        self._equals: dict[tuple[str, str], int] = {}
        self.edges: list[Edge] = []
        self.unbound: list[UnboundCall] = []

    def add(self, site: Site, targets: list[Target], reasons: list[Reason]) -> None:
        """Add what a site calls; a call that leads nowhere but to what is asked for it is unbound for a reason."""
        line = bisect_right(self._starts, site.start)
        owner = self._ids.of_owner(site.scope)
        for target in targets:
            end = self._ids.of_definition(target.scope)
            if end is not None:
                self.edges.append(Edge(RelationType.CALLS, owner, end, line, target.rule, target.confidence))
        if site.code == Code.CALL and reasons and not _is_bound(targets):
            self.unbound.append(self._make_unbound(site, owner, line, reasons[0]))

    def _make_unbound(self, site: Site, owner: str, line: int, reason: Reason) -> UnboundCall:
        expression = render_callee(site.text)
        position = self._equals.get((owner, expression), 0)
        self._equals[owner, expression] = position + 1
        identity = format_id(hash_inside(int(owner, 16), f"call/{expression}[{position}]"))
        return UnboundCall(identity, owner, expression, line, reason.value)
