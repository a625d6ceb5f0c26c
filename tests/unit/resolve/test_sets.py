"""What a name stands for does not depend on what was asked for first, and finding it comes to an end."""

from __future__ import annotations

import sys

import pytest
from unit.resolve.resolving import resolve_tree

from pkg.extract.code_pieces import parse_expression
from pkg.extract.python import extract_unit
from pkg.extract.summary.switch import IS_BOUNDED
from pkg.model import RelationType
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import CONSTANT
from pkg.resolve.facts.repository_files import Units
from pkg.resolve.facts.scopes import build_scopes
from pkg.resolve.origins import Written
from pkg.resolve.project import resolve_project
from pkg.resolve.rules.contents import MAX_WRITTEN
from pkg.units import describe_code


def find_calls(text: str) -> set[tuple[str, str]]:
    return set(resolve_tree({"mod.py": text}).pairs(RelationType.CALLS))


def test_a_base_that_another_class_inherits_is_known_in_the_end() -> None:
    text = (
        "class Base:\n    class Inner:\n        def run(self): pass\n"
        "class Outer(Base): pass\n"
        "class Mine(Outer.Inner): pass\n"
        "def f():\n    Outer.Inner().run()\n"
    )
    assert ("mod.f", "mod.Base.Inner.run") in find_calls(text)


def test_a_slice_that_is_put_into_what_it_is_a_slice_of_comes_to_an_end() -> None:
    text = (
        "def f(): pass\n"
        "heap = [(0, 1, f)]\n"
        "while heap:\n"
        "    first, *rest = heap[0]\n"
        "    heap.append((first, *rest))\n"
        "    heap[0] = heap[2:]\n"
        "    heap[1][0][2]()\n"
    )
    assert ("mod", "mod.f") in find_calls(text)


@pytest.mark.slow
def test_deep_expressions_in_a_long_chain_of_names_stay_within_the_stack() -> None:
    steps = "".join(f"x{place} = x{place + 1}{'.me()' * 45}\n" for place in range(40))
    text = f"class K:\n    def me(self): return self\n    def end(self): pass\n{steps}x40 = K()\nx0.end()\n"
    before = sys.getrecursionlimit()
    assert ("mod", "mod.K.end") in find_calls(text)
    assert sys.getrecursionlimit() == before


def test_containers_and_lambdas_in_defaults_are_told_apart() -> None:
    text = (
        "def f(): pass\n"
        "def g(): pass\n"
        "def one(hooks=[f]):\n    for hook in hooks: hook()\n"
        "def two(hooks=[g]):\n    for hook in hooks: hook()\n"
        "def six(hook=lambda: f()):\n    hook()\n"
    )
    found = find_calls(text)
    assert {("mod.one", "mod.f"), ("mod.two", "mod.g")} <= found
    assert not {("mod.one", "mod.g"), ("mod.two", "mod.f")} & found


def test_names_that_a_module_takes_from_the_all_of_another_are_exported() -> None:
    found = resolve_tree({
        "pack/__init__.py": "from .a import f\nfrom . import a\n__all__ = a.__all__\n",
        "pack/a.py": "__all__ = ['f']\ndef f(): pass\n",
        "use.py": "from pack import *\nf()\n",
    })  # fmt: skip
    assert ("use", "pack.a.f") in found.pairs(RelationType.CALLS)


def test_containers_in_the_arguments_of_decorators_are_told_apart() -> None:
    text = (
        "def f(): pass\n"
        "def g(): pass\n"
        "def mark_one(hooks):\n    hooks[0]()\n    return lambda function: function\n"
        "def mark_two(hooks):\n    hooks[0]()\n    return lambda function: function\n"
        "@mark_one([f])\ndef one(): pass\n"
        "@mark_two([g])\ndef two(): pass\n"
    )
    found = find_calls(text)
    assert {("mod.mark_one", "mod.f"), ("mod.mark_two", "mod.g")} <= found
    assert not {("mod.mark_one", "mod.g"), ("mod.mark_two", "mod.f")} & found


def test_bases_of_one_name_are_ordered_by_where_they_stand() -> None:
    text = (
        "if flag:\n    class Base:\n        def run(self): pass\n"
        "else:\n    class Base:\n        def run(self): pass\n"
        "class Mine(Base):\n    def go(self): super().run()\n"
    )
    found = resolve_tree({f"mod{number}.py": text for number in range(8)})
    for number in range(8):
        first, _ = (identity for identity, name in found.names.items() if name == f"mod{number}.Base.run")
        (edge,) = (edge for edge in found.links[f"mod{number}.py"].edges if edge.type is RelationType.CALLS)
        assert edge.end == first


@pytest.mark.skipif(IS_BOUNDED, reason="looks into the sets of the other resolver")
def test_a_truth_value_is_told_from_the_number_that_it_equals() -> None:
    unit = describe_code("tree", "mod.py", extract_unit(b"def take(value): pass\ntake(1)\ntake(True)\n"))
    binder = resolve_project(Units([unit])).binder
    (take,) = (scope for scope in binder.modules["mod.py"].scopes if scope.kind == "function")
    found = binder.solver.get(q.VARIABLE, take, "value")
    assert sorted(str(value[1]) for value in found if value[0] == CONSTANT) == ["1", "True"]


def test_what_is_put_into_a_container_is_the_same_when_it_is_parsed_anew() -> None:
    scope = build_scopes("mod.py", b"", b"", (), ()).root
    first, again = (parse_expression(b"f(1)") for _ in range(2))
    assert first is not None
    assert again is not None
    assert {Written(scope, 7, first), Written(scope, 7, again)} == {Written(scope, 7, first)}
    assert Written(scope, 7, first) != Written(scope, 9, again)


@pytest.mark.skipif(IS_BOUNDED, reason="looks into the sets of the other resolver")
def test_a_long_table_that_is_written_out_says_nothing_of_what_it_holds_anywhere() -> None:
    long, short = ", ".join(f"'{each}': {each}" for each in range(MAX_WRITTEN + 1)), "'a': 1, 'b': 2"
    text = f"LONG = {{{long}}}\nSHORT = {{{short}}}\ndef f(key):\n    SHORT[key]()\n    LONG[key]()\n    LONG['7']()\n"
    unit = describe_code("tree", "mod.py", extract_unit(text.encode()))
    project = resolve_project(Units([unit]))
    items = [cell.values for key, cell in project.binder.solver.cells.items() if key[0] is q.ITEM]
    assert project.is_exact
    assert sorted(map(len, items)) == [1, 1, 2]
