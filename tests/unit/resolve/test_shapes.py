"""Every shape of call, import and class of the fixture set is resolved as it is, and nothing else is found."""

from __future__ import annotations

import pytest
from unit.resolve.resolving import resolve_tree
from unit.resolve.shapes import CONFIDENCES, read_shapes

from pkg.model import RelationType
from pkg.resolve.facts import parsed_trees

SHAPES = {f"{shape.category}: {shape.name}": shape for shape in read_shapes()}


@pytest.mark.parametrize("name", SHAPES)
def test_the_calls_of_a_shape_are_found_and_no_others(name: str) -> None:
    shape = SHAPES[name]
    found = resolve_tree(shape.files).pairs(RelationType.CALLS)
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


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_resolved_the_same_when_every_expression_is_parsed_anew(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = resolve_tree(SHAPES[name].files)
    monkeypatch.setattr(parsed_trees, "MAX_TREES", 1)
    assert resolve_tree(SHAPES[name].files) == expected


def rank(confidence: str | None) -> int:
    return CONFIDENCES.index(confidence or "")


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if shape.inherits or shape.overrides])
def test_the_classes_of_a_shape_are_ordered(name: str) -> None:
    resolved, shape = resolve_tree(SHAPES[name].files), SHAPES[name]
    inherits = {(*pair, str(edge.line)) for pair, edge in resolved.pairs(RelationType.INHERITS).items()}
    assert inherits == set(shape.inherits) or not shape.inherits
    assert set(shape.overrides) <= resolved.pairs(RelationType.OVERRIDES).keys()


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if shape.imports])
def test_the_imports_of_a_shape_lead_where_they_should(name: str) -> None:
    resolved, shape = resolve_tree(SHAPES[name].files), SHAPES[name]
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
