"""Every call expression is counted once: bound, possible, unbound for a reason, or of a library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from pkg.extract.parser import parse
from pkg.extract.python import extract_unit
from pkg.local_errors import LocalErrors
from pkg.resolution.machine import Machine
from pkg.resolution.program import Program
from pkg.resolution.site_links import CallCounts, LinkWriter
from pkg.units import UnitLinks, describe_code

PACKAGES = (
    "attr", "click", "grimp", "h11", "iniconfig", "markdown_it", "packaging", "pathspec", "pluggy", "yaml",
)  # fmt: skip
CALLS = Path(__file__).parent / "calls"


def resolve(texts: Mapping[str, bytes]) -> tuple[dict[str, CallCounts], dict[str, UnitLinks]]:
    units = {path: describe_code("tree", path, extract_unit(text)) for path, text in texts.items()}
    errors = LocalErrors()
    machine = Machine(Program(units, "", errors))
    machine.solve()
    writer = LinkWriter("tree", machine)
    links = {path: writer.write(path) for path in sorted(units)}
    assert errors.sorted() == []
    return writer.counts, links


def count_calls(text: bytes) -> int:
    cursor, count = parse(text).walk(), 0
    while True:
        count += cursor.node is not None and cursor.node.type == "call"
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return count


@pytest.mark.parametrize("package", PACKAGES)
def test_each_call_of_a_package_is_counted_once(package: str) -> None:
    spec = find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0])
    texts = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.py"))}
    counts, links = resolve(texts)
    assert {path: counts[path].total for path in texts} == {path: count_calls(text) for path, text in texts.items()}
    assert {path: counts[path].unbound for path in texts} == {path: len(links[path].unbound) for path in texts}


@pytest.mark.parametrize("name", ["python3", "python2", "does_not_parse"])
def test_each_call_is_counted_once_wherever_it_stands(name: str) -> None:
    text = (CALLS / f"{name}.txt").read_bytes()
    counts, _ = resolve({"a.py": b"def f(*a, **k): pass\n" + text})
    assert counts["a.py"].total == count_calls(text)


def test_calls_are_counted_by_what_is_known_of_them() -> None:
    text = b"""
import os

class A:
    def m(self): raise NotImplementedError

class B(A):
    def m(self): pass

def bound(): pass

def use(a: A, given):
    bound()
    os.getcwd()
    given()
    a.nothing()
    len([])
"""
    counts, links = resolve({"a.py": text})
    assert counts["a.py"] == CallCounts(bound=1, possible=0, unbound=2, external=2)
    assert Counter(call.reason for call in links["a.py"].unbound) == {
        "parameter without a known type": 1,
        "attribute that the class does not define": 1,
    }
