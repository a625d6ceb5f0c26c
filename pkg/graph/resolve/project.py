"""Resolve a whole repository: read scopes, order classes, bind sites (A-12)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from pkg.graph.resolve.calls import Binder
from pkg.graph.resolve.hierarchy import ClassFacts, Hierarchy
from pkg.graph.resolve.model import ModuleScopes, Scope, Site
from pkg.graph.resolve.scopes import read_scopes
from pkg.graph.resolve.solver import WorkExceeded
from pkg.graph.resolve.values import CLASS, CLASSES, LIBRARY, UNKNOWN
from pkg.graph.unit import UnitText
from pkg.model import Class

WORK, WORK_OF_SITE = 100_000, 12
"""Sets that may be asked for, in all and for each site: django asks for 6 a site, networkx would for 44."""


@dataclass(slots=True)
class Project:
    """A repository whose names are resolved."""

    binder: Binder
    sites: list[Site]

    def outcomes(self, site: Site) -> frozenset[tuple[object, ...]]:
        """Give what a site calls."""
        return self.binder.solver.get(("site", site))

    @property
    def is_plain(self) -> bool:
        """Tell whether arguments and results were not followed, because that would not have ended soon."""
        return self.binder.context.is_plain

    def release(self) -> None:
        """Let go of everything: scopes and what they hold go in circles, and the cycle collector would take long."""
        self.binder.forget()
        self.binder.context.trees.forget()
        self.sites.clear()
        for module in self.binder.modules.values():
            module.release()


def resolve_project(units: Iterable[UnitText], paths: Iterable[str] = ()) -> Project:
    """Resolve files that know each other; `paths` are all files that an import may mean.

    Where values spread so widely that following them would not end soon, arguments and results are not followed.
    """
    modules = {
        unit.path: read_scopes(unit.path, unit.text, unit.facts, unit.definitions, unit.imports) for unit in units
    }
    binder = Binder(modules, {*paths, *modules})
    with suppress(WorkExceeded):
        return _bind_all(binder, modules)
    return _bind_all(Binder(modules, {*paths, *modules}, is_plain=True), modules)


def _bind_all(binder: Binder, modules: dict[str, ModuleScopes]) -> Project:
    order_classes(binder, modules)
    binder.find_patches()
    sites = list(binder.list_sites())
    if not binder.context.is_plain:
        binder.solver.limit = binder.solver.asked + WORK + WORK_OF_SITE * len(sites)
    for site in sites:
        binder.solver.get(("site", site))
    for path in sorted(modules):
        for store in modules[path].item_stores:
            binder.solver.get(("store", store))
    binder.solver.solve()
    return Project(binder, sites)


def order_classes(binder: Binder, modules: dict[str, ModuleScopes]) -> Hierarchy:
    """Find the bases of all classes, before anything is known of calls: a base is a name or an attribute of one."""
    classes = [scope for path in sorted(modules) for scope in modules[path].scopes if scope.kind == "class"]
    for scope in classes:
        _find_bases(binder, scope)
    binder.solver.solve()
    binder.hierarchy.fill([_find_bases(binder, scope) for scope in classes])
    binder.forget()
    return binder.hierarchy


def _find_bases(binder: Binder, scope: Scope) -> ClassFacts:
    definition = scope.module.definitions[scope.definition] if scope.definition >= 0 else None
    facts = ClassFacts(scope)
    bases, places, libraries = [], [], []
    for place, text in enumerate(definition.bases if isinstance(definition, Class) else (), 1):
        name, is_keyword, value_text = text.partition("(")[0].partition("[")[0].partition("=")
        if is_keyword:
            if name.strip() == "metaclass":
                found = binder.expressions.evaluate_text(scope.parent or scope, value_text.strip())
                facts.metaclass = min((each[1] for each in found if each[0] == CLASS), key=str, default=None)
            continue
        text = text.partition("[")[0]
        for value in sorted(binder.expressions.evaluate_text(scope.parent or scope, text), key=str):
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
