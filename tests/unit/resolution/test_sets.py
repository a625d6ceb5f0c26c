"""Static values of names do not depend on the order of lookups, and lookups end."""

from __future__ import annotations

import sys

import pytest
from unit.resolution.resolving import resolve_tree

from pkg.model import RelationType


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
