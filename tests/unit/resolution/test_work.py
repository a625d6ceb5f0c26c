"""The counted work of the solver is linear in the size of hard shapes, and equal in each run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from unit.resolution.solving import SOURCE, solve_tree

from pkg.model import RelationType
from pkg.resolution.site_links import LinkWriter

SIZES = (40, 160)
TESTS = str(Path(__file__).parents[2])
PROGRAM = """
import json, sys
from pkg.resolution.site_links import LinkWriter
from pkg.resolution.static_facts import list_consulted
from unit.resolution.solving import SOURCE, solve_tree
files = json.load(sys.stdin)
machine = solve_tree(files)
writer = LinkWriter(SOURCE, machine)
for path in files:
    links = writer.write(path)
    print(*map(repr, links.edges), *map(repr, links.unbound), list_consulted(machine.program.modules[path]), sep="\\n")
"""
GUESSED = """
class First:
    def first_name(self): return 1
class Second(First):
    def second_name(self): return 2
class Third(Second): pass
def use(given):
    given.first_name()
    given.second_name()
"""


def make_ring(size: int) -> str:
    """Write classes in a ring, and a loop of as many assignments from one to the next."""
    classes = "".join(f"class C{i}:\n    def m(self):\n        return C{(i + 1) % size}()\n" for i in range(size))
    return f"{classes}def go():\n    x = C0()\n    while True:\n" + "        x = x.m()\n" * size


def make_recursion(size: int) -> str:
    """Write a function with many loops that calls itself in each."""
    loops = "".join(f"    for a{i} in x.items():\n        x = f(a{i})\n" for i in range(size))
    return f"class A:\n    def items(self):\n        return [self]\ndef f(x):\n{loops}    return x\nf(A())\n"


def make_table(size: int) -> str:
    """Write a table of functions called by key, and a chain that passes each on."""
    functions = "".join(f"def f{i}(x):\n    return x\n" for i in range(size))
    table = ", ".join(f"{i}: f{i}" for i in range(size))
    return f"{functions}TABLE = {{{table}}}\ndef call(key, x):\n    return TABLE[key](call(key, x))\ncall(0, call)\n"


def make_overrides(size: int) -> str:
    """Write many subclasses whose method is called through the base, from many places."""
    classes = "".join(f"class N{i}(Node):\n    def value(self, x):\n        return x\n" for i in range(size))
    calls = "".join(f"def call_{i}(node: Node):\n    return node.value(node)\n" for i in range(size))
    return f"class Node:\n    def value(self, x):\n        return x\n{classes}{calls}"


def make_operators(size: int) -> str:
    """Write classes whose operator gives the next one, added up by one function."""
    classes = "".join(
        f"class V{i}:\n    def __add__(self, o):\n        return V{(i + 1) % size}()\n" for i in range(size)
    )
    calls = "".join(f"add(V{i}(), V{i * 7 % size}())\n" for i in range(size))
    return f"{classes}def add(a, b):\n    c = a + b\n    return c + a + b\n{calls}"


def make_lists(size: int) -> str:
    """Write lists that one function copies, sorts and reads."""
    lists = "".join(f"class L{i}: pass\nv{i} = [L{i}(), L{(i + 1) % size}()]\ntake(list(v{i}))\n" for i in range(size))
    taken = "    for each in sorted(tuple(list(x))):\n        take([each])\n    return x\n"
    return f"def take(x):\n{taken}{lists}"


def spread_ring(size: int) -> dict[str, str]:
    """Write the ring of classes, each in a module."""
    files = {
        f"m{i}.py": f"import m{(i + 1) % size}\nclass C:\n    def m(self):\n        return m{(i + 1) % size}.C()\n"
        for i in range(size)
    }
    return {
        **files,
        "main.py": "import m0\ndef go():\n    x = m0.C()\n    while True:\n" + "        x = x.m()\n" * size,
    }


def spread_calls(size: int) -> dict[str, str]:
    """Write modules that each add to the sum and the table of one function."""
    files = {
        f"f{i}.py": "from table import call\nclass V:\n    def __add__(self, o):\n        return call(V(), o)\n"
        "def f(x):\n    return call(x, V())\ncall(V(), list([V()]))\n"
        for i in range(size)
    }
    imports = "".join(f"import f{i}\n" for i in range(size))
    table = ", ".join(f"{i}: f{i}.f" for i in range(size))
    call = "def call(x, y):\n    for each in y:\n        TABLE[x](each)\n    return x + y\n"
    return {**files, "table.py": f"{imports}TABLE = {{{table}}}\n{call}"}


@pytest.mark.parametrize("make", [make_ring, make_recursion, make_table, make_overrides, make_operators, make_lists])
def test_work_grows_with_the_size_alone(make: Callable[[int], str]) -> None:
    small, large = (solve_tree({"main.py": make(size)}).steps for size in SIZES)
    assert large / small < SIZES[1] / SIZES[0] * 1.25


@pytest.mark.parametrize("spread", [spread_ring, spread_calls])
def test_work_grows_with_the_number_of_modules_alone(spread: Callable[[int], dict[str, str]]) -> None:
    small, large = (solve_tree(spread(size)).steps for size in SIZES)
    assert large / small < SIZES[1] / SIZES[0] * 1.25


def test_each_function_of_a_table_is_called() -> None:
    edges = LinkWriter(SOURCE, solve_tree({"main.py": make_table(SIZES[1])})).write("main.py").edges
    lines = {edge.end for edge in edges if edge.type is RelationType.CALLS and edge.rule != "same module"}
    assert len(lines) >= SIZES[1]


def test_hash_seeds_change_nothing() -> None:
    files = {f"{make.__name__}.py": make(20) for make in (make_ring, make_recursion, make_table, make_overrides)}
    files["guessed.py"] = GUESSED

    def run(seed: str) -> str:
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": TESTS}
        command = [sys.executable, "-c", PROGRAM]
        given = json.dumps(files)
        return subprocess.run(command, input=given, env=environment, capture_output=True, text=True, check=True).stdout

    assert len({run(seed) for seed in "1256"}) == 1


def test_code_packed_after_each_module_has_the_same_links(monkeypatch: pytest.MonkeyPatch) -> None:
    files = spread_calls(8)

    def link() -> list[str]:
        machine = solve_tree(files)
        packed.append(not any(isinstance(code.users, list) for code in machine.program.list_codes()))
        writer = LinkWriter(SOURCE, machine)
        return [repr(writer.list_links(path)) for path in files]

    packed: list[bool] = []
    expected = link()
    monkeypatch.setattr("pkg.resolution.machine._MOST_OPEN", 0)
    assert link() == expected
    assert packed == [False, True]
