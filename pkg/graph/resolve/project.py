"""Resolve a repository: read scopes, order classes, bind sites; all of them, or those that a change reaches (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain

from pkg.graph.resolve.calls import Binder
from pkg.graph.resolve.changes import Past, Unforeseen, find_changed_names, find_dependants, find_reached
from pkg.graph.resolve.foundations import Foundations
from pkg.graph.resolve.hierarchy import ClassFacts, Hierarchy, place_class
from pkg.graph.resolve.model import ModuleScopes, Scope, Site
from pkg.graph.resolve.receivers import ask_again, find_known, find_receivers
from pkg.graph.resolve.records import Basis
from pkg.graph.resolve.scopes import read_scopes
from pkg.graph.resolve.sites import list_keys
from pkg.graph.resolve.solver import WorkExceeded
from pkg.graph.resolve.values import CLASS, CLASSES, LIBRARY, UNKNOWN, Value
from pkg.graph.unit import UnitText
from pkg.model import Class

WORK, WORK_OF_SITE = 300_000, 10
"""Sets that may be asked for, in all and for each site: django asks for 3 a site, pandas for 8, networkx for 13."""

MOST = 0.5  # of the files, beyond which it is cheaper to resolve all


@dataclass(slots=True)
class Project:
    """A repository whose names are resolved, in all of its files or in some."""

    binder: Binder
    sites: dict[str, list[Site]] = field(default_factory=dict)  # of the files that are resolved

    def outcomes(self, site: Site) -> frozenset[tuple[object, ...]]:
        """Give what a site calls."""
        found = self.binder.rest.get(site)
        return self.binder.solver.get(("site", site)) if found is None else found

    def list_sites(self) -> Iterator[Site]:
        """Give the sites of the files that are resolved."""
        return chain.from_iterable(self.sites.values())

    @property
    def is_plain(self) -> bool:
        """Tell whether arguments and results were not followed, because that would not have ended soon."""
        return self.binder.context.is_plain

    @property
    def is_exact(self) -> bool:
        """Tell whether no bound was hit: then what is resolved again later comes out the same in any order."""
        return not self.is_plain and not self.binder.solver.exhausted

    def found(self) -> Foundations:
        """Tell what the links of each file were worked out from, when all are resolved."""
        self.binder.clear_caches()
        return Foundations(self.binder)

    def bind(self, paths: Iterable[str]) -> None:
        """Resolve files; sites that deliver nothing come last, when hardly anything changes any more."""
        solver, ordered = self.binder.solver, sorted(paths)
        for path in ordered:
            self.sites[path] = self.binder.list_sites(path)
            for key in list_keys(self.binder.modules[path], self.sites[path]):
                solver.get(key)
        solver.solve()
        for path in ordered:
            solver.get(("rest", path))
        solver.solve()

    def release(self) -> None:
        """Let go of everything: scopes and what they hold go in circles, and the cycle collector would take long."""
        self.binder.release()
        self.sites.clear()
        for module in self.binder.modules.values():
            module.release()


def read_modules(units: Iterable[UnitText]) -> dict[str, ModuleScopes]:
    """Read the scopes of files."""
    return {unit.path: read_scopes(unit.path, unit.text, unit.facts, unit.definitions, unit.imports) for unit in units}


def resolve_project(units: Iterable[UnitText]) -> Project:
    """Resolve files that know each other.

    Where values spread so widely that following them would not end soon, arguments and results are not followed.
    """
    modules = read_modules(units)
    with suppress(WorkExceeded):
        return _bind_all(Binder(modules), modules)
    return _bind_all(Binder(modules, is_plain=True), modules)


def _bind_all(binder: Binder, modules: dict[str, ModuleScopes]) -> Project:
    order_classes(binder, modules)
    binder.find_patches()
    if not binder.context.is_plain:
        count = sum(len(scope.sites) for module in modules.values() for scope in module.scopes)
        binder.solver.limit = binder.solver.asked + WORK + WORK_OF_SITE * count
    project = Project(binder)
    project.bind(modules)
    return project


def resolve_changes(
    units: Iterable[UnitText], before: Iterable[UnitText], bases: Mapping[str, Basis], changed: set[str]
) -> Project | None:
    """Resolve again what a change may reach: `changed` are files that are new, other than before, or gone.

    `before` are the files that changed or went, as they were; `bases` what is known of every file that was there.
    Nothing where that cannot be told, or is most of the repository.
    """
    modules = read_modules(units)
    past = Past(bases, read_modules(before))
    try:
        names = find_changed_names(modules, past, changed)
        binder = Binder(modules)
        order_classes(binder, modules)
        binder.find_patches()
        binder.forget()
        reached = find_reached(binder, past, changed, names)
    except Unforeseen:
        return None
    project = Project(binder)
    return project if _bind_reached(project, past, changed | reached) and project.is_exact else None


def _bind_reached(project: Project, past: Past, reached: set[str]) -> bool:
    """Resolve files and what depends on them, until nothing is delivered elsewhere that was not before."""
    modules, bases = project.binder.modules, past.bases
    while reached:
        chosen = {path for path in reached | find_dependants(project.binder, past, reached) if path in modules}
        if len(chosen | project.sites.keys()) > MOST * len(modules):
            return False
        settled = (bases.keys() & modules.keys()) - chosen - project.sites.keys()
        known = {path: bases[path] for path in settled}
        project.binder.context.deliveries.know(find_known(project.binder, known))
        new = chosen - project.sites.keys()
        project.bind(new)
        for path in new & bases.keys():
            ask_again(project.binder, path, bases[path])
        resolved = project.sites.keys() | (bases.keys() - modules.keys())
        reached = find_receivers(project.binder, bases, resolved)
    return True


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
                facts.metaclass = min((each[1] for each in found if each[0] == CLASS), key=place_class, default=None)
            continue
        text = text.partition("[")[0]
        for value in sorted(binder.expressions.evaluate_text(scope.parent or scope, text), key=_order_value):
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
