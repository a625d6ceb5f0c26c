"""Bind the sites of a repository to what they call, each with the rule that bound it and how sure that is (A-12)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from pkg.resolve import queries as q
from pkg.resolve.abstract_values import EMPTY, Values
from pkg.resolve.facts.repository_files import Files
from pkg.resolve.facts.scope_model import Scope, Site
from pkg.resolve.facts.special_names import FALLBACK, find_answered
from pkg.resolve.following import Following
from pkg.resolve.hierarchy import ClassFacts, ClassSnapshot
from pkg.resolve.patches import Patch
from pkg.resolve.resolution_context import Context, Rule
from pkg.resolve.sites import list_sites


class Binder:
    """Bind sites; their outcomes are sets that the solver keeps, like all others."""

    def __init__(self, modules: Files, rules: Iterable[Rule], following: Following = Following.ALL) -> None:
        context = self.context = Context(modules, following)
        self.modules, self.solver, self.hierarchy = modules, context.solver, context.hierarchy
        self.ordered: set[str] = set()  # files, the bases of whose classes were found
        self.before_forgetting: Callable[[Context], None] | None = None  # for who wants to know what was computed
        self._answered = find_answered(modules.totals.operators)
        self._sites: dict[str, list[Site]] = {}
        self._quiet: dict[Scope, list[Site]] = {}  # that deliver nothing, by outermost function or module
        self.rest: dict[Site, Values] = {}  # what sites call that deliver nothing, as far as they were asked for
        for rule in rules:
            rule(context)
        context.keep(q.QUIET_SITES, self._bind_rest)

    def release(self) -> None:
        """Let go of what refers to one another: rules, and what they have computed; nothing can be asked afterwards."""
        self.before_forgetting = None
        self.context.release()
        for held in (self.rest, self._sites, self._quiet):
            held.clear()

    def list_sites(self, path: str) -> list[Site]:
        """Give the sites of a file, in a fixed order; asked again, the same ones."""
        found = self._sites.get(path)
        if found is None:
            module = self.modules[path]
            is_made = any(scope.kind == "class" and self.hierarchy.find(scope, FALLBACK) for scope in module.scopes)
            makes = self.context.fields.makes if is_made else None
            found = self._sites[path] = []
            with self.context.errors.keep("resolve", path):
                found += list_sites(module, self.context.property_names, self._answered, makes)
            for site in found:
                if not site.delivers:
                    self._quiet.setdefault(site.scope.top, []).append(site)
        return found

    def order_classes(self, paths: Collection[str], snapshot: ClassSnapshot | None = None) -> None:
        """Find the bases of the classes of files, before anything is known of calls; of all others it is known."""
        classes = [scope for path in sorted(paths) for scope in self.modules[path].scopes if scope.kind == "class"]
        for scope in classes:
            self.solver.get(q.BASES, scope)
        self.solver.solve()
        self.ordered.update(paths)
        known = self.context.class_facts
        self.hierarchy.fill([known.get(scope) or ClassFacts(scope, has_unknown=True) for scope in classes], snapshot)
        self.forget()

    def find_patches(self, paths: Iterable[str], known: Mapping[str, Sequence[Patch]]) -> None:
        """Find what files assign to attributes of classes and modules from outside; of all others it is known.

        Needs the order of classes.
        """
        patches = self.context.patches
        patches.take(known)
        paths = sorted(paths)
        for path in paths:
            self.solver.get(q.PATCHES, path)
        self.solver.solve()
        for path in paths:
            patches.by_file.setdefault(path, ())  # where looking for them has failed
        patches.bind()
        self.forget()

    def forget(self) -> None:
        """Forget what was computed, but for the files behind it: more is known now of classes and of names in them."""
        if self.before_forgetting is not None:
            self.before_forgetting(self.context)
        self.context.forget()

    def _bind_rest(self, top: Scope) -> Values:
        """Bind the sites of an outermost function or module that deliver nothing: nobody reads them, so one set does.

        Needs the sites of its file to be listed.
        """
        for site in self._quiet.get(top, ()):
            self.rest[site] = self.solver.share(self._bind_alone(site))
        return EMPTY

    def _bind_alone(self, site: Site) -> Values:
        """Bind a site; one whose rule fails unexpectedly is unknown, and the others of its set are bound."""
        try:
            return self.context.bind_site(site)
        except RecursionError:  # which the solver counts
            raise
        except Exception as fault:
            return self.context.note_fault((q.SITE, site), fault)
