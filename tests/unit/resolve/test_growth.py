"""The work of a resolution grows as its input does: chains, rings and diamonds of twice the size take twice as much."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.resolve.bad_inputs import Tree

from pkg.extract import condition_facts
from pkg.extract.python import extract_unit
from pkg.resolve import closure, hierarchy
from pkg.resolve.closure import join_reached, list_bits, list_circles
from pkg.resolve.facts import scopes
from pkg.resolve.facts.repository_files import Units
from pkg.resolve.hierarchy import Hierarchy
from pkg.resolve.lookup_order import Order, Stretches
from pkg.resolve.project import resolve_project
from pkg.resolve.rules import place_flow
from pkg.resolve.rules.imports import Exports
from pkg.resolve.rules.narrowing import Narrowing
from pkg.resolve.solver import Cell, Solver
from pkg.units import describe_code

SIZE = 150  # of the smaller trees: far more than what is looked at one by one
FACTOR = 3  # below which work stays where the input doubles; what is quadratic takes four times as much


def assertions_in_a_row(size: int) -> Tree:
    """Let a function test its argument again and again."""
    lines = ["    assert isinstance(x, A)", "    x.run()"] * size
    return {"a.py": "\n".join(["class A:", "    def run(self): pass", "def go(x):", *lines, ""])}


def items_that_are_stored(size: int) -> Tree:
    lines = "".join(f"    t['k{i}'] = f\n    t['k{i}']()\n" for i in range(size))
    return {"a.py": f"def f(): pass\ndef go():\n    t = {{}}\n{lines}"}


def one_attribute_that_is_stored(size: int) -> Tree:
    return {"a.py": "def f(): pass\nclass C:\n    def go(self):\n" + "        self.x = f\n        self.x()\n" * size}


def alternatives(size: int) -> Tree:
    """Let a function test its argument for one class after the other."""
    classes = "".join(f"class A{i}:\n    def run(self): pass\n" for i in range(size))
    tests = "".join(f"    elif isinstance(x, A{i}): x.run()\n" for i in range(1, size))
    return {"a.py": f"{classes}def go(x):\n    if isinstance(x, A0): x.run()\n{tests}"}


def condition_of_tests(size: int) -> Tree:
    tests = " and ".join(["isinstance(x, A)"] * size)
    names = "".join(f"def f{i}(): return f{i - 1}()\n" for i in range(1, size))
    return {"a.py": f"class A:\n    def run(self): pass\ndef go(x):\n    if {tests}: x.run()\ndef f0(): pass\n{names}"}


def chain_of_bases(size: int) -> Tree:
    """Let each class of a chain call what its base defines, what the first defines, and what none does."""
    classes = ["class C0:\n    def m0(self):\n        return 1\n"]
    for i in range(1, size):
        classes.append(
            f"class C{i}(C{i - 1}):\n    def m{i}(self):\n        self.m0()\n        self.lost{i}()\n"
            f"        return self.m{i - 1}()\n"
        )
    return {"main.py": "\n\n".join(classes)}


def chain_of_bases_over_files(size: int) -> Tree:
    files = {"c0.py": "class C0:\n    def go(self):\n        return self.go()\n"}
    for i in range(1, size):
        files[f"c{i}.py"] = (
            f"from c{i - 1} import C{i - 1}\n\n\nclass C{i}(C{i - 1}):\n    def go(self):\n        super().go()\n"
        )
    return files


def chain_of_bases_that_come_later(size: int) -> Tree:
    files = {f"c{i:03}.py": f"from c{i + 1:03} import C{i + 1}\n\n\n" for i in range(size)}
    for i, path in enumerate(files):
        files[path] += f"class C{i}(C{i + 1}):\n    def go(self):\n        super().go()\n"
    return files | {f"c{size:03}.py": f"class C{size}:\n    def go(self):\n        self.go()\n"}


def last_of_a_chain(size: int) -> Tree:
    """Let the last class of a chain call what each of the others defines."""
    classes = ["class C0:\n    def m0(self):\n        pass\n"]
    classes += [f"class C{i}(C{i - 1}):\n    def m{i}(self):\n        pass\n" for i in range(1, size)]
    calls = "".join(f"        self.m{i}()\n" for i in range(size))
    return {"main.py": "\n\n".join([*classes, f"class Last(C{size - 1}):\n    def run(self):\n{calls}"])}


def chain_of_initialisers(size: int) -> Tree:
    classes = ["class C0:\n    def __init__(self, a):\n        self.a = a\n"]
    for i in range(1, size):
        classes.append(
            f"class C{i}(C{i - 1}):\n    def __init__(self, a):\n        super().__init__(a)\n"
            f"        self.a{i} = self.a\n"
        )
    return {"main.py": "\n\n".join(classes)}


def overriding_methods(size: int) -> Tree:
    head = "class C0:\n    def go(self):\n        return self.go()\n"
    return {"main.py": head + "".join(head.replace("C0", f"C{i}(C{i - 1})") for i in range(1, size))}


def wide_diamond(size: int) -> Tree:
    go = "    def go(self):\n        return super().go()\n"
    sides = "".join(f"class W{i}(Base):\n{go}" for i in range(size))
    below = f"class Low({', '.join(f'W{i}' for i in range(size))}):\n{go}"
    return {"main.py": f"class Base:\n    def go(self):\n        pass\n{sides}{below}"}


def deep_diamonds(size: int) -> Tree:
    text, go = "class B0:\n    def go(self):\n        pass\n", "    def go(self):\n        return super().go()\n"
    for i in range(1, size):
        text += f"class L{i}(B{i - 1}):\n{go}class R{i}(B{i - 1}):\n{go}class B{i}(L{i}, R{i}):\n{go}"
    return {"main.py": text}


def classes_with_mixins(size: int) -> Tree:
    text = "class B0:\n    def go(self):\n        pass\n"
    for i in range(1, size):
        text += f"class M{i}:\n    def go(self):\n        return super().go()\nclass B{i}(M{i}, B{i - 1}):\n    pass\n"
    return {"main.py": text}


def ring_of_stars(size: int) -> Tree:
    text = "from m{next} import *\n\n\ndef f{own}():\n    return f{next}()\n"
    return {f"m{i}.py": text.format(own=i, next=(i + 1) % size) for i in range(size)}


def chain_of_stars(size: int) -> Tree:
    files = {f"m{i}.py": f"from m{i - 1} import *\n\n\ndef f{i}():\n    return f0()\n" for i in range(1, size)}
    return files | {"m0.py": "def f0():\n    return 1\n"}


def stars_with_lists(size: int) -> Tree:
    text = (
        "import m{last}\nfrom m{last} import *\n\n__all__ = ['f{own}']\n__all__ += m{last}.__all__\n\n\n"
        "def f{own}():\n    f{last}()\n"
    )
    files = {f"m{i}.py": text.format(own=i, last=i - 1) for i in range(1, size)}
    return files | {"m0.py": "__all__ = ['f0']\n\n\ndef f0():\n    pass\n"}


def re_exports(size: int) -> Tree:
    files = {f"p/m{i}.py": f"from .m{i - 1} import x\n\nx()\n" for i in range(1, size)}
    return files | {"p/__init__.py": "", "p/m0.py": "def x():\n    pass\n"}


def assignments(size: int) -> Tree:
    return {"main.py": "def a0():\n    pass\n" + "".join(f"a{i} = a{i - 1}\na{i}()\n" for i in range(1, size))}


def results_in_a_ring(size: int) -> Tree:
    """Let functions give back the result of the next, and an object of their own class."""
    text = (
        "class T{own}:\n    def go(self):\n        pass\n"
        "def f{own}():\n    if x:\n        return T{own}()\n    return f{next}()\n"
    )
    return {"main.py": "".join(text.format(own=i, next=(i + 1) % size) for i in range(size)) + "f0().go()\n"}


def definitions_of_one_name(size: int) -> Tree:
    return {"main.py": "def f():\n    return g()\n" * size + "def g():\n    return f()\n" * size}


KINDS: list[Callable[[int], Tree]] = [
    chain_of_bases, chain_of_bases_over_files, chain_of_bases_that_come_later, last_of_a_chain, chain_of_initialisers,
    overriding_methods, wide_diamond, deep_diamonds, classes_with_mixins, ring_of_stars, chain_of_stars,
    stars_with_lists, re_exports, assignments, results_in_a_ring, definitions_of_one_name, assertions_in_a_row,
    items_that_are_stored, one_attribute_that_is_stored, alternatives, condition_of_tests,
]  # fmt: skip


@contextmanager
def count_calls(owner: type | object, name: str, counts: dict[str, int]) -> Iterator[None]:
    """Count the calls of a function while it is used."""
    original = getattr(owner, name)

    def counting(*args: object, **kwargs: object) -> object:
        counts[name] = counts.get(name, 0) + 1
        return original(*args, **kwargs)

    with mock.patch.object(owner, name, counting):
        yield


def count_work(files: Tree) -> dict[str, int]:
    """Resolve a tree, and count sets that are computed, links of orders and modules that are looked at."""
    counts: dict[str, int] = {}
    with (
        mock.patch.object(hierarchy, "SHORT", 1),  # every step of a search is a leap
        count_calls(Solver, "_update", counts),
        count_calls(Stretches, "leap", counts),
        count_calls(Order, "__init__", counts),
        count_calls(Hierarchy, "order", counts),
        count_calls(Hierarchy, "_list_next", counts),
        count_calls(Exports, "_list_own", counts),
        count_calls(Narrowing, "_take", counts),
        count_calls(Exports, "_list_sources", counts),
        count_calls(place_flow, "read_place", counts),
        count_calls(place_flow, "is_passed", counts),
        count_calls(scopes, "read_place", counts),
        count_calls(condition_facts, "_is_field", counts),
    ):
        units = Units(describe_code("tree", path, extract_unit(text.encode())) for path, text in files.items())
        project = resolve_project(units)
        found = project.find_dependencies()
        with count_calls(Cell, "list_readers", counts):
            for path in project.sites:
                found.describe(path)
    return counts


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_twice_the_input_is_twice_the_work(kind: Callable[[int], Tree]) -> None:
    small, large = count_work(kind(SIZE)), count_work(kind(2 * SIZE))
    assert small["_update"] > SIZE / 2
    assert {name: count for name, count in large.items() if count > FACTOR * max(small.get(name, 0), 4 * SIZE)} == {}


graphs = st.integers(1, 12).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, size - 1), max_size=4), min_size=size, max_size=size)
)


def reach(graph: list[list[int]], node: int) -> set[int]:
    seen, waiting = {node}, [node]
    while waiting:
        for each in graph[waiting.pop()]:
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return seen


@given(graphs)
@settings(deadline=None)
def test_bits_of_all_that_is_reached_are_joined(graph: list[list[int]]) -> None:
    known: dict[int, int] = {}
    for node in range(len(graph)):
        joined = join_reached(node, graph.__getitem__, lambda each: 1 << each, known)
        assert set(list_bits(joined)) == reach(graph, node)
    assert set(known) == set(range(len(graph)))


@given(graphs)
@settings(deadline=None)
def test_circles_come_after_all_that_they_reach(graph: list[list[int]]) -> None:
    circles = list(list_circles(range(len(graph)), graph.__getitem__))
    assert sorted(node for circle in circles for node in circle) == list(range(len(graph)))
    before: set[int] = set()
    for circle in circles:
        before |= set(circle)
        for node in circle:
            assert reach(graph, node) <= before
            assert set(circle) == {each for each in reach(graph, node) if node in reach(graph, each)}


def test_bits_are_listed_from_the_lowest() -> None:
    assert list(closure.list_bits(1 << 70 | 0b1010_0001)) == [0, 5, 7, 70]
    assert list(closure.list_bits(0)) == []
