"""What expressions stand for: names through scopes and imports, attributes through classes, results of calls (A-12).

Every name, result, field and item is a set of values (pkg.resolve.abstract_values) that the solver keeps: without
regard to the order of statements and to who calls, so that the answer covers every run.

The parts know each other one way only; where they depend on one another they go through the solver, whose sets are

| kind                                | what it is given | computed in   |
|-------------------------------------|------------------|---------------|
| "variable", "final"                 | scope, name      | bindings.py   |
| "reaching"                          | scope, name, numbers of bindings | bindings.py |
| "narrowed"                          | scope, name, parts: numbers with conditions | bindings.py |
| "stored"                            | scope, place, numbers of assignments | bindings.py |
| "tested"                            | scope, span of a class in a condition | expressions.py |
| "field", "class field", "foreign field" | class, name      | bindings.py   |
| "assigned"                          | assignment from outside | bindings.py |
| "receivers"                         | name             | bindings.py   |
| "alias"                             | scope, name      | annotations.py |
| "object attribute", "class attribute" | value, name    | attributes.py |
| "chosen attribute"                  | value, text      | chosen_attributes.py |
| "registered"                        | function or class | function_values.py    |
| "given"                             | function or class, parameter | function_values.py |
| "argument", "given together"        | call or group of calls, parameter | function_values.py |
| "attribute of many" and the like    | key of a large set (, name) | where it is of one value |
| "spread", "gathered"                | key of a large set | solver.py    |
| "callees of many", "called of many" | key of a large set, name | callees.py, call_sites.py |
| "delegates"                         | function         | delegation.py |
| "item", "written", "keys"           | container (, key) | contents.py  |
| "chosen result"                     | generic function | methods.py    |
| "renamed fixture"                   | module, name     | fixtures.py   |
| "result", "yield"                   | function         | function_values.py    |
| "bases", "patches"                  | class, path of a file | class_cache.py, bindings.py |
| "site", "store", "rest"             | site, assignment, outermost function or module | binder.py |
"""

from __future__ import annotations

from pkg.resolve.annotations import Annotations
from pkg.resolve.attributes import Attributes, Fields
from pkg.resolve.bindings import Bindings, Decorators
from pkg.resolve.chosen_attributes import ChosenAttributes
from pkg.resolve.container_items import Items
from pkg.resolve.containers import Containers
from pkg.resolve.contents import Contents
from pkg.resolve.delegation import Delegation
from pkg.resolve.expressions import Expressions
from pkg.resolve.fixtures import Fixtures
from pkg.resolve.function_values import Parameters, Results
from pkg.resolve.imports import Exports, Imports
from pkg.resolve.library.plugins import Library
from pkg.resolve.library_calls import ContainerCalls, LibraryCalls
from pkg.resolve.methods import Methods
from pkg.resolve.name_lookup import Names
from pkg.resolve.narrowing import Narrowing
from pkg.resolve.place_flow import PlaceFlow
from pkg.resolve.record_classes import Records
from pkg.resolve.repository_files import Files
from pkg.resolve.resolution_context import Context, Following


class Evaluator:
    """Put the parts together that give the values of expressions of a repository."""

    def __init__(self, modules: Files, following: Following = Following.ALL) -> None:
        context = self.context = Context(modules, following)
        self.modules, self.map, self.solver = context.modules, context.map, context.solver
        self.hierarchy = context.hierarchy
        self.names = Names(context)
        exports = Exports(context)
        self.imports = Imports(context, self.names, exports)
        self.methods = Methods(context, self.names)
        fields = Fields(context)
        self.records = Records(context.hierarchy)
        self.attributes = Attributes(context, self.names, self.imports, self.methods, fields, self.records)
        self.containers = Containers(context)
        items = Items(context, self.containers, self.methods)
        annotations = Annotations(context, self.names, self.attributes, self.containers)
        self.container_calls = ContainerCalls(self.containers, items)
        self.library_calls = LibraryCalls(Library(
            self.methods, self.attributes, ChosenAttributes(context, self.attributes), self.containers, items,
            annotations,
        ))  # fmt: skip
        self._narrowing = Narrowing(context, self.names, self.containers)
        self._flow = PlaceFlow(context, self.names, self._narrowing)
        self.expressions = Expressions(
            context, self.names, self.attributes, self.methods, self.containers, items, self.container_calls,
            self.library_calls, self._flow,
        )  # fmt: skip
        self.fixtures = Fixtures(context, self.names, exports, self.imports, self.methods, items)
        self.parameters = Parameters(
            context, self.expressions, annotations, self.containers, items, self.fixtures, self.records
        )
        self.decorators = Decorators(context, self.methods, self.expressions, self.parameters)
        self.bindings = Bindings(
            context, self.names, fields, exports, self.imports, items, annotations, self.expressions, self.parameters,
            self.decorators, self._narrowing,
        )  # fmt: skip
        Delegation(context, self.expressions)
        Results(context, items, annotations, self.expressions)
        Contents(context, self.containers, items, self.expressions, self.parameters)

    def forget(self) -> None:
        """Forget what was computed, to begin anew now that more is known of classes and of names in them."""
        self.solver.forget()
        self.hierarchy.forget()
        self.records.forget()
        self.context.dataflow.forget()
        self.containers.forget()
        self.parameters.forget()
        self._narrowing.forget()
        self._flow.forget()

    def clear_caches(self) -> None:
        """Let go of what would be found again: once all is computed, its memory is wanted for the links."""
        self.context.trees.clear()
        self.names.forget()
        self.expressions.forget()
