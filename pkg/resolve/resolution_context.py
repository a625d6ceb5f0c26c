"""What all rules share: the facts of a repository, the sets, who delivers to them, and the registry of rules (A-12).

A rule knows the context and the queries, and no other rule. What it gives is either kept as a set by the solver, or
given anew each time; the query tells which.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from pkg.resolution.module_map import ModuleMap
from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import Key, Value, Values, unknown
from pkg.resolve.arguments import Arguments
from pkg.resolve.assigned_fields import Fields
from pkg.resolve.containers import Containers
from pkg.resolve.dataflow import Callers, Dataflow
from pkg.resolve.facts.parsed_trees import Trees
from pkg.resolve.facts.repository_files import Files
from pkg.resolve.facts.scope_model import Scope, Site
from pkg.resolve.facts.summary import find_properties
from pkg.resolve.fault_places import describe_unknown, find_place
from pkg.resolve.following import MAX_TOLD, Following
from pkg.resolve.hierarchy import ClassFacts, Hierarchy
from pkg.resolve.outcomes import Outcome
from pkg.resolve.patches import Patches
from pkg.resolve.queries import Answer, Given, Kept, Query
from pkg.resolve.record_classes import Records
from pkg.resolve.solver import FEW, UNLIMITED, Cell, Solver
from pkg.units import Code

Binds = Callable[[Site], Iterable[Outcome]]
"""Give what a site calls."""


class Context:
    """Hold what rules share; each adds itself, and asks the others by their queries."""

    def __init__(self, modules: Files, following: Following = Following.ALL) -> None:
        self.modules = modules
        self.following = following
        self.map = ModuleMap(modules, modules.package)
        self.errors = modules.errors
        few = FEW if following == Following.ALL else UNLIMITED
        self.solver = Solver(unknown(Reason.MANY), few, self.note_fault)
        self.dataflow = Dataflow(self.solver)
        self.callers = Callers(self.dataflow, modules.totals.calls, following)
        self.containers = Containers(self.solver, self.dataflow)
        self.most = UNLIMITED if following == Following.ALL else MAX_TOLD
        self.hierarchy = Hierarchy(most=self.most)
        self.fields = Fields(
            self.hierarchy, modules.totals.foreign, lambda name: map(modules.__getitem__, modules.list_assigning(name))
        )
        self.records = Records(self.hierarchy)
        self.class_facts: dict[Scope, ClassFacts] = {}  # of classes whose bases were found by their names
        self.patches = Patches(modules.bind)
        self.trees = Trees()
        self.caches: list[dict[Any, Any]] = []  # of rules: what would be found again
        self.property_names = find_properties(modules.totals)
        self.asked: dict[str, set[Cell]] = {}  # by name, the sets that ask for an attribute by a text
        self._rules: dict[Query[..., Any], Callable[..., Any]] = {}
        self._binds: dict[Code, Binds] = {}
        self._forgets: list[Callable[[], None]] = [
            self.solver.forget, self.hierarchy.forget, self.records.forget, self.dataflow.forget,
            self.callers.forget, self.containers.forget,
        ]  # fmt: skip
        self.keep(q.SITE, self.bind_site)

    def keep(self, query: Kept[Given], rule: Callable[Given, Values]) -> None:
        """Let a rule compute the sets that answer a query."""
        self.solver.add_rule(query, rule)

    def answer(self, query: Query[Given, Answer], rule: Callable[Given, Answer]) -> None:
        """Let a rule answer a query each time that it is asked."""
        self._rules[query] = rule

    def bind(self, codes: Iterable[Code], rule: Binds) -> None:
        """Let a rule bind the sites of some codes."""
        self._binds.update(dict.fromkeys(codes, rule))

    def ask(self, query: Query[Given, Answer], *given: Given.args, **_: Given.kwargs) -> Answer:
        """Ask for what is not kept."""
        answer: Answer = self._rules[query](*given)
        return answer

    def bind_site(self, site: Site) -> Values:
        """Give what a site calls."""
        return frozenset(self._binds[site.code](site))

    def list_values(self, scope: Scope, start: int, end: int) -> Values:
        """Give the values of the expression at a span one by one."""
        return self.solver.spread(self.ask(q.EXPRESSION, scope, start, end))

    def spell_out(self, scope: Scope, text: bytes, at: int | None = None) -> Values:
        """Give the values of a dotted name one by one."""
        return self.solver.spread(self.ask(q.DOTTED_NAME, scope, text, at))

    def give(self, scope: Scope, call: ast.Call | Site, at: int = 0) -> Arguments:
        """Give the arguments of a call; of a parsed one, `at` is the offset from which its text was."""
        return Arguments(self._rules[q.NODE], self.solver.spread, self.trees, scope, call, at)

    def call_special(self, value: Value, name: str, reason: Reason) -> Values:
        """Give what a special method of an object gives back; unknown where it has none."""
        found = self.ask(q.FIRST_CALL, value, (name,))
        return unknown(reason) if found is None else found

    def note_fault(self, key: Key, fault: Exception) -> Values:
        """Record that a rule failed to compute a set, and return what the set holds instead."""
        self.errors.note(fault, "resolve", *find_place(key, str(key[1]) if len(key) > 1 else ""))
        return describe_unknown(key)

    def note_asked(self, name: str) -> None:
        """Note that the set that is being computed asks for an attribute by a text, before which stands no dot."""
        if self.solver.current is not None:
            self.asked.setdefault(name, set()).add(self.solver.current)

    def clear_caches(self) -> None:
        """Let go of what would be found again: once all is computed, its memory is wanted for the links."""
        self.trees.clear()
        for cache in self.caches:
            cache.clear()

    def forget_with(self, forget: Callable[[], None]) -> None:
        """Let a rule forget what it remembers, whenever all is forgotten."""
        self._forgets.append(forget)

    def forget(self) -> None:
        """Forget what was computed, to begin anew now that more is known of classes and of names in them."""
        for forget in self._forgets:
            forget()

    def release(self) -> None:
        """Let go of the rules, which know what asks them; nothing can be asked afterwards."""
        self.forget()
        self.hierarchy.fill(())
        self.dataflow.know(None)
        self.solver.release()
        self.asked.clear()
        for held in (self._rules, self._binds, self._forgets):
            held.clear()


Rule = Callable[[Context], object]
"""Add something to a context that answers queries or binds sites."""
