"""Language rules for the meaning of names and attributes, each in several variants (kinds/, read by shapes.py).

Of functions of one name in a file the second is called name#2.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from unit.resolution.resolving import Resolved, resolve_tree
from unit.resolution.shapes import Shape, read_shapes

from pkg.model import RelationType

KINDS = {f"{shape.category}: {shape.name}": shape for shape in read_shapes(Path(__file__).with_name("kinds"))}


def list_pairs(resolved: Resolved, kind: RelationType) -> set[tuple[str, str]]:
    """Return the ends of the edges of a type, definitions of one name numbered."""
    counts: Counter[str] = Counter()
    names = {}
    for identity, name in resolved.names.items():
        counts[name] += 1
        names[identity] = name if counts[name] == 1 else f"{name}#{counts[name]}"
    return {(names[edge.start], names[edge.end]) for edge in resolved.edges(kind)}


@pytest.mark.parametrize("name", KINDS)
def test_what_the_language_says_is_found_and_nothing_else(name: str) -> None:
    shape: Shape = KINDS[name]
    resolved = resolve_tree(shape.files)
    calls = list_pairs(resolved, RelationType.CALLS)
    assert [(start, end) for start, end, _ in shape.must if (start, end) not in calls] == []
    assert [pair for pair in shape.must_not if pair in calls] == []
    assert set(shape.overrides) <= list_pairs(resolved, RelationType.OVERRIDES)


def test_a_private_method_of_a_base_is_not_overridden() -> None:
    text = "class Root:\n    def __own(self): pass\n    def __own__(self): pass\nclass Kid(Root):\n"
    pairs = list_pairs(
        resolve_tree({"main.py": f"{text}    def __own(self): pass\n    def __own__(self): pass\n"}),
        RelationType.OVERRIDES,
    )
    assert pairs == {("main.Kid.__own__", "main.Root.__own__")}


def test_a_method_that_may_not_be_called_is_likely() -> None:
    row = "class Row:\n    def __len__(self): return 1\n"
    text = f"{row}def count(row=None):\n    row = row or Row()\n    if row: pass\n"
    edges = resolve_tree({"main.py": text}).pairs(RelationType.CALLS)
    assert edges["main.count", "main.Row.__len__"].confidence == "likely"
