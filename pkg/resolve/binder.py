"""Bind the sites of a repository to what they call, each with the rule that bound it and how sure that is (A-12)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from pkg.resolve.abstract_values import CONTAINER, EMPTY, Values
from pkg.resolve.attributes import FALLBACK
from pkg.resolve.call_sites import CallSites, ImplicitCalls
from pkg.resolve.callees import CalleeFinder
from pkg.resolve.class_cache import BaseFinder
from pkg.resolve.containers import Written
from pkg.resolve.dependency_graph import DependencyGraph
from pkg.resolve.dependency_record import Patch
from pkg.resolve.evaluate import Evaluator
from pkg.resolve.hierarchy import ClassSnapshot
from pkg.resolve.outcomes import Library, Outcome, Target, Unbound, settle
from pkg.resolve.repository_files import Files
from pkg.resolve.resolution_context import Following
from pkg.resolve.scope_model import Scope, Site, Store
from pkg.resolve.sites import list_sites
from pkg.resolve.special_methods import Properties, SpecialCalls
from pkg.resolve.special_names import ITEMS, find_answered
from pkg.resolve.summary import find_properties
from pkg.units import Code

__all__ = ["Binder", "Library", "Outcome", "Target", "Unbound", "settle"]


class Binder(Evaluator):
    """Bind sites; their outcomes are sets that the solver keeps, like all others."""

    def __init__(self, modules: Files, following: Following = Following.ALL) -> None:
        super().__init__(modules, following)
        self.base_finder = BaseFinder(self.context, self.expressions)
        self.graphs: list[DependencyGraph] = []  # of what was computed to be forgotten
        self._property_names = find_properties(modules.totals)
        self._answered = find_answered(modules.totals.operators)
        properties = Properties(self)
        special_calls = SpecialCalls(self)
        call_sites = CallSites(self, CalleeFinder(self, properties, self._property_names), special_calls)
        implicit = ImplicitCalls(self, call_sites, self._property_names)
        self._rules: dict[Code, Callable[[Site], Iterable[Outcome]]] = {
            Code.CALL: call_sites.bind,
            Code.READ: properties.bind_read,
            Code.ASSIGN: properties.bind_write,
            Code.ERASE: properties.bind_deletion,
            Code.RAISE: implicit.bind_raise,
            Code.DEFINITION: implicit.bind_decorators,
            Code.REQUEST: self.fixtures.bind,
            Code.OPERATE: special_calls.bind_operator,
            Code.ASK: special_calls.bind_question,
            **dict.fromkeys(ITEMS, special_calls.bind_operation),
            **dict.fromkeys((Code.FOR, Code.ASYNC_FOR), special_calls.bind_loop),
            **dict.fromkeys((Code.WITH, Code.ASYNC_WITH), special_calls.bind_context),
        }
        self._sites: dict[str, list[Site]] = {}
        self._quiet: dict[Scope, list[Site]] = {}  # that deliver nothing, by outermost function or module
        self.rest: dict[Site, Values] = {}  # what sites call that deliver nothing, as far as they were asked for
        self.solver.add_rule("site", self._bind_site)
        self.solver.add_rule("rest", self._bind_rest)
        self.solver.add_rule("store", self._put_store)
        self.solver.add_rule("imported", self._derive_imported)

    def release(self) -> None:
        """Let go of what refers to one another: rules, and what they have computed; nothing can be asked afterwards."""
        super().forget()
        self.hierarchy.fill(())
        self.graphs.clear()
        self.context.dataflow.know(None)
        self.solver.release()
        self._rules.clear()
        for held in (self.rest, self._sites, self._quiet, self.context.asked):
            held.clear()

    def list_sites(self, path: str) -> list[Site]:
        """Give the sites of a file, in a fixed order; asked again, the same ones."""
        found = self._sites.get(path)
        if found is None:
            module = self.modules[path]
            is_made = any(scope.kind == "class" and self.hierarchy.find(scope, FALLBACK) for scope in module.scopes)
            makes = self.attributes.makes if is_made else None
            found = list(list_sites(module, self._property_names, self._answered, makes))
            self._sites[path] = found
            for site in found:
                if not site.delivers:
                    self._quiet.setdefault(site.scope.top, []).append(site)
        return found

    def order_classes(self, paths: Collection[str], snapshot: ClassSnapshot | None = None) -> None:
        """Find the bases of the classes of files; of all others it is known."""
        self.hierarchy.fill(self.base_finder.find(paths), snapshot)
        self.forget()

    def find_patches(self, paths: Iterable[str], known: Mapping[str, Sequence[Patch]]) -> None:
        """Find what files assign to attributes of classes and modules from outside; of all others it is known.

        Needs the order of classes.
        """
        self.bindings.find_patches(paths, known)
        self.forget()

    def forget(self) -> None:
        """Forget what was computed, but for the files behind it: more is known now of classes and of names in them."""
        self.graphs.append(DependencyGraph(self.context))
        super().forget()

    def _bind_site(self, site: Site) -> Values:
        return frozenset(self._rules[site.code](site))

    def _bind_rest(self, top: Scope) -> Values:
        """Bind the sites of an outermost function or module that deliver nothing: nobody reads them, so one set does.

        Needs the sites of its file to be listed.
        """
        for site in self._quiet.get(top, ()):
            self.rest[site] = self.solver.share(self._bind_site(site))
        return EMPTY

    def _derive_imported(self, root: Scope, place: int) -> Values:
        """Give what a name stands for that is imported from a module of the repository."""
        path = root.module.path
        record = root.module.imports[place]
        found = self.map.find_import(path, record)
        is_named = found and record.name not in (None, "*")
        return self.imports.derive_named(found, record) if is_named else EMPTY

    def _put_store(self, store: Store) -> Values:
        """Follow an assignment to an item into the containers that it may be of; nobody reads the set itself."""
        scope, module, binding = store.scope, store.scope.module, store.binding
        target = self.context.trees.parse(module, store.start, store.end)
        value = self.context.trees.parse(module, binding.start, binding.end)
        if not isinstance(target, ast.Subscript) or value is None or binding.path:
            return EMPTY
        keys = self.expressions.visit(scope, target.slice, store.start)
        for container in self.expressions.visit(scope, target.value, store.start):
            if container[0] == CONTAINER:
                self.containers.put(container, keys, Written(scope, binding.start, value))
        return EMPTY
