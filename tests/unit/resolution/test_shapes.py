"""Every call, import and class of the fixture set is resolved as marked, and nothing else."""

from __future__ import annotations

import pytest
from unit.resolution.resolving import Resolved, resolve_tree
from unit.resolution.shapes import CONFIDENCES, Shape, read_shapes

from pkg.model import RelationType

SHAPES = {f"{shape.category}: {shape.name}": shape for shape in read_shapes()}


@pytest.mark.parametrize("category", sorted({shape.category for shape in SHAPES.values()}))
def test_the_links_of_a_shape_are_found_and_no_others(category: str, subtests: pytest.Subtests) -> None:
    for name, shape in SHAPES.items():
        if shape.category == category:
            with subtests.test(name):
                resolved = resolve_tree(shape.files)
                check_calls(shape, resolved)
                check_classes(shape, resolved)
                check_imports(shape, resolved)


def check_calls(shape: Shape, resolved: Resolved) -> None:
    """Check that all calls are found with the required confidence, and no others."""
    found = resolved.pairs(RelationType.CALLS)
    missing = [(start, end) for start, end, _ in shape.must if (start, end) not in found]
    unsure = [
        (start, end, least)
        for start, end, least in shape.must
        if least and (start, end) in found and rank(found[start, end].confidence) > rank(least)
    ]
    assert (missing, unsure) == ([], [])
    assert sorted(found.keys() - shape.allowed) == []
    assert sorted(found.keys() & set(shape.must_not)) == []
    assert [pair for pair in shape.weak if pair in found and found[pair].confidence != "possible"] == []


def rank(confidence: str | None) -> int:
    return CONFIDENCES.index(confidence or "")


def check_classes(shape: Shape, resolved: Resolved) -> None:
    """Check that base classes and overrides are found."""
    inherits = {(*pair, str(edge.line)) for pair, edge in resolved.pairs(RelationType.INHERITS).items()}
    assert inherits == set(shape.inherits) or not shape.inherits
    assert set(shape.overrides) <= resolved.pairs(RelationType.OVERRIDES).keys()


def check_imports(shape: Shape, resolved: Resolved) -> None:
    """Check that imports resolve as marked."""
    found = {(*pair, edge.rule) for pair, edge in resolved.pairs(RelationType.RESOLVES_TO).items()}
    assert set(shape.imports) <= found


def test_what_cannot_be_bound_is_kept_with_its_reason() -> None:
    text = "import os\n\n\ndef run(task, other):\n    task.work()\n    missing()\n    task.work()\n    os.getcwd()\n"
    resolved = resolve_tree({"main.py": text})
    unbound = resolved.unbound()
    assert [(call.expression, call.line) for call in unbound] == [("task.work", 5), ("missing", 6), ("task.work", 7)]
    assert [call.reason for call in unbound] == [
        "parameter without a known type",
        "name that nothing here defines",
        "parameter without a known type",
    ]
    assert len({call.id for call in unbound}) == 3
    assert {resolved.names[call.owner] for call in unbound} == {"main.run"}


def test_a_decorator_with_two_definitions_is_no_certain_call() -> None:
    text = "def mark(f):\n    return f\n\nif __debug__:\n    def mark(f):\n        return f\n\n@mark\ndef run(): pass\n"
    found = resolve_tree({"main.py": text}).pairs(RelationType.CALLS)
    assert found["main", "main.mark"].confidence == "likely"
