"""Marks of audits are properties of nodes until the next audit of the same benchmark."""

from __future__ import annotations

import pytest
from contract.units import FILES, READER, fill, find_id, prepare, put

from pkg.errors import StoreError
from pkg.graph.store import GraphStore
from pkg.model import Audit, Label, Leak

AUDIT = Audit("humaneval", "ab12", 164, 1, 1, {"demo": "first"})
OTHER = Audit("tasks", "cd34", 2, 1, 1, {"demo": "first"})
LEAK = Leak("humaneval", "HumanEval/13", "same_code", 1.0)
NEAR = Leak("humaneval", "HumanEval/72", "similar", 0.7)
OWN = Leak("tasks", "a task of mine", "same_name", 0.25)


def mark(store: GraphStore, audit: Audit, marks: dict[str, list[Leak]]) -> None:
    with store.write() as writer:
        writer.put_audit(audit, marks)


def test_marks_are_a_property_of_the_nodes_and_are_listed(store: GraphStore) -> None:
    fill(store, FILES)
    assert (list(store.leaks()), store.audits()) == ([], ())
    function, body = find_id(store, Label.FUNCTION, "write"), find_id(store, Label.BLOCK, "write:body")
    kind = find_id(store, Label.CLASS, "Reader")
    mark(store, AUDIT, {function: [NEAR, LEAK], body: [LEAK], kind: [LEAK]})
    assert store.generation() == 2
    assert store.audits() == (AUDIT,)
    assert dict(store.leaks()) == {function: (LEAK, NEAR), body: (LEAK,), kind: (LEAK,)}
    node = store.get([function])[0]
    assert node.properties["leaks"] == ["humaneval same_code 1.00 HumanEval/13", "humaneval similar 0.70 HumanEval/72"]
    (line,) = (each for each in store.export() if each.get("id") == body)
    assert line["leaks"] == ["humaneval same_code 1.00 HumanEval/13"]
    assert store.check() == []


def test_an_audit_replaces_only_the_marks_of_its_benchmark(store: GraphStore) -> None:
    fill(store, FILES)
    write, copy = (find_id(store, Label.FUNCTION, name) for name in ("write", "copy"))
    mark(store, AUDIT, {write: [LEAK]})
    mark(store, OTHER, {write: [OWN], copy: [OWN]})
    assert dict(store.leaks()) == {write: (LEAK, OWN), copy: (OWN,)}
    mark(store, AUDIT, {copy: [NEAR]})
    assert dict(store.leaks()) == {write: (OWN,), copy: (NEAR, OWN)}
    assert store.audits() == (AUDIT, OTHER)
    mark(store, OTHER, {})
    assert dict(store.leaks()) == {copy: (NEAR,)}


def test_unchanged_marks_make_no_new_generation(store: GraphStore) -> None:
    fill(store, FILES)
    marks = {find_id(store, Label.FUNCTION, "write"): [LEAK]}
    mark(store, AUDIT, marks)
    before = store.generation()
    mark(store, AUDIT, marks)
    assert store.generation() == before


def test_marks_of_unchanged_files_are_kept_and_of_changed_ones_deleted(store: GraphStore) -> None:
    fill(store, FILES)
    write, find = (find_id(store, Label.FUNCTION, name) for name in ("write", "find_settings"))
    mark(store, AUDIT, {write: [LEAK], find: [LEAK]})
    with store.write() as writer:
        put(writer, "demo", prepare("demo", {"pack/reader.py": READER.replace("return None", "return 0")}))
    assert dict(store.leaks()) == {write: (LEAK,)}


def test_an_unknown_node_cannot_be_marked(store: GraphStore) -> None:
    fill(store, FILES)
    with pytest.raises(StoreError):
        mark(store, AUDIT, {"0123456789abcdef": [LEAK]})
    assert (list(store.leaks()), store.audits(), store.generation()) == ([], (), 1)
