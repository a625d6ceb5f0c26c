"""All rules: each answers some queries, and asks the others by theirs (A-12)."""

from __future__ import annotations

from pkg.resolve.resolution_context import Rule
from pkg.resolve.rules.annotations import Annotations
from pkg.resolve.rules.attributes import Attributes
from pkg.resolve.rules.bases import Bases
from pkg.resolve.rules.bindings import Bindings, Decorators
from pkg.resolve.rules.call_sites import CallSites, ImplicitCalls
from pkg.resolve.rules.callees import CalleeFinder
from pkg.resolve.rules.chosen_attributes import ChosenAttributes
from pkg.resolve.rules.class_tests import ClassTests
from pkg.resolve.rules.container_items import Items
from pkg.resolve.rules.contents import Contents
from pkg.resolve.rules.delegation import Delegation
from pkg.resolve.rules.expressions import Expressions
from pkg.resolve.rules.fixtures import Fixtures
from pkg.resolve.rules.function_values import Parameters, Results
from pkg.resolve.rules.imports import Imports
from pkg.resolve.rules.library import builtin_functions, collection_types, function_tools, held_contexts  # noqa: F401  # their rules are known then
from pkg.resolve.rules.library_calls import ContainerCalls, LibraryCalls
from pkg.resolve.rules.methods import Methods
from pkg.resolve.rules.name_lookup import Names
from pkg.resolve.rules.narrowing import Narrowing
from pkg.resolve.rules.operators import Operators
from pkg.resolve.rules.place_flow import PlaceFlow
from pkg.resolve.rules.special_methods import Properties, SpecialCalls

RULES: tuple[Rule, ...] = (
    Names, Imports, Bases, Attributes, ChosenAttributes, Methods, Delegation, Annotations, Expressions, Operators,
    Narrowing, ClassTests, PlaceFlow, Bindings, Decorators, Parameters, Results, Items, Contents, ContainerCalls,
    LibraryCalls, Fixtures, CalleeFinder, CallSites, ImplicitCalls, SpecialCalls, Properties,
)  # fmt: skip
