"""Queries and the rules that answer them."""

from __future__ import annotations

from pkg.extract.python import extract_unit
from pkg.resolve import queries
from pkg.resolve.all_rules import RULES
from pkg.resolve.binder import Binder
from pkg.resolve.facts.repository_files import Files, Units
from pkg.resolve.queries import KEPT, Kept, Query
from pkg.units import describe_code


def test_every_query_has_a_name_of_its_own_and_a_rule() -> None:
    declared = {name: each for name, each in vars(queries).items() if isinstance(each, Query)}
    context = Binder(Files(Units([describe_code("tree", "mod.py", extract_unit(b""))])), RULES).context
    assert len({each.name for each in declared.values()}) == len(declared)
    assert set(declared.values()) == {*context._rules, *context.solver._rules}


def test_a_set_is_found_by_the_name_that_its_query_had_when_it_was_written() -> None:
    kept = [each for each in vars(queries).values() if isinstance(each, Kept)]
    assert {each.name: each for each in kept}.items() <= KEPT.items()
