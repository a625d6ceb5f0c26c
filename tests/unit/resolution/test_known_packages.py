"""A neighbouring package changes no link inside another (A-12)."""

from __future__ import annotations

import pytest
from unit.resolution.solving import SOURCE, read_unit

from pkg.local_errors import LocalErrors
from pkg.resolution.machine import Machine
from pkg.resolution.program import Program
from pkg.resolution.site_links import LinkWriter
from pkg.units import UnitLinks

OWN = {
    "own/__init__.py": "",
    "own/inner/__init__.py": "",
    "own/shapes.py": "class Shape:\n    def area_of(self):\n        return 1\n",
    "own/inner/uses.py": "def use(thing, call):\n    call(use)\n    return thing.area_of()\n",
}
OTHER = "class Other:\n    def area_of(self):\n        return 2\ndef use(thing):\n    return thing.area_of()\n"
BESIDE = {"beside/__init__.py": "", "beside/other.py": OTHER}
TESTS = {"tests/test_own.py": "from own.inner import uses\ndef check(thing):\n    return thing.area_of()\n"}


def resolve(files: dict[str, str]) -> dict[str, UnitLinks]:
    """Resolve files, and return the links of each."""
    machine = Machine(Program({path: read_unit(path, text) for path, text in files.items()}, "", LocalErrors()))
    machine.solve()
    writer = LinkWriter(SOURCE, machine)
    return {path: writer.write(path) for path in files}


@pytest.mark.parametrize("others", [BESIDE, BESIDE | {f"more{i}/a.py": OTHER for i in range(9)}])
def test_links_are_the_same_beside_others(others: dict[str, str]) -> None:
    alone, together = resolve(OWN | TESTS), resolve(OWN | TESTS | others)
    assert {path: together[path] for path in alone} == alone
    assert any(edge.end for edge in alone["own/inner/uses.py"].edges if edge.type.value == "CALLS")


def test_guesses_are_made_among_what_is_imported() -> None:
    links = resolve(OWN | BESIDE | TESTS)["tests/test_own.py"]
    calls = [edge for edge in links.edges if edge.type.value == "CALLS"]
    assert len(calls) == 1
