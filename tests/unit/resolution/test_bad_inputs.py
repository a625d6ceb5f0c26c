"""Resolution of hard trees ends, with the same result in any order of the files."""

from __future__ import annotations

import pytest
from unit.resolution.bad_inputs import make_bad_inputs
from unit.resolution.resolving import resolve_tree

TREES = make_bad_inputs()
SLOW = (  # seconds each
    "a generated class of 5000 methods",
    "a generated file of 5000 lines",
    "a name bound to 1000 functions",
    "a method overridden 1000 times",
)
SEVERAL = [name for name, files in TREES.items() if 1 < len(files) < 60 and name != "a deep chain of attributes"]


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in TREES])
def test_a_bad_tree_is_resolved(name: str) -> None:
    files = TREES[name]
    resolved = resolve_tree(files)
    assert resolved.links.keys() == {path for path in files if path.endswith((".py", ".pyi"))}
    ends = {end for links in resolved.links.values() for edge in links.edges for end in (edge.start, edge.end)}
    assert ends <= resolved.names.keys()


@pytest.mark.parametrize("name", [*SEVERAL, pytest.param("a deep chain of attributes", marks=pytest.mark.slow)])
def test_the_order_of_the_files_does_not_matter(name: str) -> None:
    files = TREES[name]
    assert resolve_tree(dict(reversed(files.items()))) == resolve_tree(files)
