"""Resolve a repository: read scopes, order classes, bind sites; all of them, or those that a change reaches (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import chain

from pkg.local_errors import LocalErrors
from pkg.resolve import queries as q
from pkg.resolve.all_rules import RULES
from pkg.resolve.binder import Binder
from pkg.resolve.changes.dependencies import Dependencies
from pkg.resolve.changes.dependency_graph import DependencyGraph
from pkg.resolve.changes.dependency_record import DependencyRecord
from pkg.resolve.changes.file_diff import OtherParts
from pkg.resolve.changes.flow_changes import ask_again, find_known, find_receivers
from pkg.resolve.changes.past import Past
from pkg.resolve.changes.reach import Unforeseen, find_dependants, find_reached
from pkg.resolve.facts.file_records import hash_text
from pkg.resolve.facts.repository_files import Files, Units
from pkg.resolve.facts.scope_model import Site
from pkg.resolve.following import Following
from pkg.resolve.sites import list_keys
from pkg.resolve.solver import WorkExceeded
from pkg.units import UnitText

WORK, WORK_OF_SITE = 300_000, 10
"""Sets that may be asked for, in all and for each site: django asks for 8 a site, pandas for 7."""

MOST_SITES = 50_000  # up to which arguments are followed into all functions
MOST = 0.5  # of the files, beyond which it is cheaper to resolve all


@dataclass(slots=True)
class Project:
    """A repository whose names are resolved, in all of its files or in some."""

    binder: Binder
    sites: dict[str, list[Site]] = field(default_factory=dict)  # of the files that are resolved
    other: Mapping[str, OtherParts] = field(default_factory=dict)  # by file that changed, what is not as it was
    graphs: list[DependencyGraph] = field(default_factory=list)  # of what was computed to be forgotten

    def __post_init__(self) -> None:
        self.binder.before_forgetting = lambda context: self.graphs.append(DependencyGraph(context))

    def outcomes(self, site: Site) -> frozenset[tuple[object, ...]]:
        """Give what a site calls."""
        found = self.binder.rest.get(site)
        return self.binder.solver.get(q.SITE, site) if found is None else found

    def list_sites(self) -> Iterator[Site]:
        """Give the sites of the files that are resolved."""
        return chain.from_iterable(self.sites.values())

    @property
    def following(self) -> Following:
        """Tell how far arguments and results were followed: no further than would have ended soon."""
        return self.binder.context.following

    @property
    def is_exact(self) -> bool:
        """Return whether no bound was hit and no rule failed: then what is resolved later comes out the same."""
        return not self.binder.solver.exhausted and not self.errors

    @property
    def errors(self) -> LocalErrors:
        """Return the local errors so far."""
        return self.binder.context.errors

    def find_dependencies(self) -> Dependencies:
        """Tell what the links of each file were worked out from, when all are resolved."""
        self.binder.context.clear_caches()
        return Dependencies(self.binder, self.graphs)

    def bind(self, paths: Iterable[str]) -> None:
        """Resolve files; sites that deliver nothing come last, when hardly anything changes."""
        solver, modules = self.binder.solver, self.binder.modules
        chosen = sorted(paths)
        for path in chosen:
            self.sites[path] = self.binder.list_sites(path)
            for key in list_keys(modules[path], self.sites[path]):
                solver.read(key)
        solver.solve()
        for path in chosen:
            for top in (modules[path].root, *modules[path].outermost):
                solver.get(q.QUIET_SITES, top)
        solver.solve()

    def release(self) -> None:
        """Let go of everything: scopes and what they hold go in circles, and the cycle collector would take long."""
        self.binder.release()
        self.sites.clear()
        self.graphs.clear()
        for module in self.binder.modules.list_read():
            module.release()


def resolve_project(units: Units) -> Project:
    """Resolve files that know each other.

    Where values spread so widely that following them would not end soon, arguments are followed only into functions
    that few call; where that would not end either, neither arguments nor results are followed.
    """
    files = Files(units)
    sites = sum(len(scope.sites) for module in files.values() for scope in module.scopes)
    for following in (Following.ALL, Following.FEW) if sites <= MOST_SITES else (Following.FEW,):
        binder = Binder(files, RULES, following)
        try:
            return _bind_all(binder, sites)
        except WorkExceeded:
            binder.release()
    return _bind_all(Binder(files, RULES, Following.NONE), sites)


def _bind_all(binder: Binder, sites: int) -> Project:
    files, project = binder.modules, Project(binder)
    binder.order_classes(files.keys())
    binder.find_patches(files, {})
    with _limit_work(binder, sites):
        project.bind(files)
    return project


def _limit_work(binder: Binder, sites: int) -> AbstractContextManager[None]:
    """Limit what following arguments and results takes, where they are followed."""
    is_limited = binder.context.following != Following.NONE
    return binder.solver.limit_work(WORK + WORK_OF_SITE * sites) if is_limited else nullcontext()


def resolve_changes(
    units: Units, before: Iterable[UnitText], snapshot: Mapping[str, DependencyRecord], changed: set[str]
) -> Project | None:
    """Resolve again what a change may reach: `changed` are files that are new, other than before, or gone.

    `before` are the files that changed or went, as they were; `snapshot` what is known of every file that was there.
    Nothing where that cannot be told, or is most of the repository. Arguments and results are followed as they were
    last time: whether that would end soon is found out anew when everything is resolved.
    """
    files = Files(units, {path: snapshot[path].summary for path in units if path in snapshot and path not in changed})
    files.fetch(_list_likely(files, snapshot, changed))
    past = Past(snapshot, changed, Files(Units(before)))
    binder = Binder(files, RULES, max((each.following for each in snapshot.values()), default=Following.ALL))
    project = Project(binder)
    try:
        with _limit_work(binder, files.totals.calls.total()):
            if _bind_reached(project, past, find_reached(binder, past)) and project.is_exact:
                return project
    except (Unforeseen, WorkExceeded):
        pass
    project.release()
    return None


def _list_likely(files: Files, snapshot: Mapping[str, DependencyRecord], changed: Iterable[str]) -> list[str]:
    """Give the files that will be read: those from which the files that changed were worked out last time."""
    wanted = {each for path in changed if path in snapshot for each in snapshot[path].reach}
    return [path for path in files if hash_text(path) in wanted]


def _bind_reached(project: Project, past: Past, reached: set[str]) -> bool:
    """Resolve files and what depends on them, until nothing is delivered elsewhere that was not before."""
    modules, snapshot, sites = project.binder.modules, past.snapshot, project.sites
    project.other = past.other
    while reached:
        chosen = {path for path in reached | find_dependants(past, reached) if path in modules}
        if len(chosen | sites.keys()) > MOST * len(modules):
            return False
        settled = (snapshot.keys() & modules.keys()) - chosen - sites.keys()
        project.binder.context.dataflow.know(find_known(project.binder, snapshot, settled))
        new = chosen - sites.keys()
        project.bind(new)
        for path in new & snapshot.keys():
            ask_again(project.binder, path, snapshot[path])
        reached = find_receivers(project.binder, past, sites.keys())
        past.same -= reached
    return True
