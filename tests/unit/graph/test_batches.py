"""Batches send the nodes of units by label, relationships between positions, and each text once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from contract.units import FILES, READER, prepare
from hypothesis import given
from hypothesis import strategies as st

from pkg.graph.neo4j.batches import Batch, make_name, measure_unit, name_fragment, name_source, name_unit
from pkg.graph.neo4j.cypher import FRAGMENT, HOLDS, PIECE_LABELS, STRUCTURE, UNIT_LABELS
from pkg.graph.sqlite_rows import unpack_text
from pkg.model import EMBEDDED_LABELS, Label
from pkg.units import Part, UnitGraph

LABELS = [*(label.value for label in (*UNIT_LABELS, *PIECE_LABELS)), FRAGMENT]
TYPES = [*(each.value for each in STRUCTURE), HOLDS]
TEXTS = ["", "x = 1\n", READER, "def f():\n    return 1\n\n\ndef g():\n    return f()\n", "class A:\n    pass\n"]


def list_nodes(parameters: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the nodes with their labels in the order of the positions in relationships."""
    return [(label, node) for label in LABELS for node in parameters[label.lower()]]


def list_edges(parameters: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return relationships as label and name, type, label and name."""
    nodes = list_nodes(parameters)
    ends = [f"{label}:{node.get('qualname', node.get('path', ''))}" for label, node in nodes]
    return [(ends[a], kind, ends[b], nodes[b][1]["source"]) for kind in TYPES for a, b, _ in parameters[kind]]


def test_every_node_of_a_file_is_sent_once_under_its_label() -> None:
    units = prepare("demo", FILES)
    parameters = Batch(units, set()).parameters()
    sent = {label: len(parameters[label.lower()]) for label in LABELS}
    rows = [node.label for unit in units for part in unit.parts if part.fragment for node in part.fragment.nodes]
    expected = {label.value: rows.count(label) for label in PIECE_LABELS}
    assert sent == expected | {"File": 2, "Row": 0, FRAGMENT: 2}
    assert len({node["id"] for _, node in list_nodes(parameters)}) == sum(sent.values())


def test_relationships_connect_nested_nodes() -> None:
    edges = list_edges(Batch(prepare("demo", {"a.py": READER}), set()).parameters())
    assert ("File:a.py", "HOLDS", "Fragment:", "demo") in edges
    assert ("File:a.py", "CONTAINS", "Class:Reader", "demo") in edges
    assert ("Class:Reader", "CONTAINS", "Function:Reader.read", "demo") in edges
    assert ("Function:Reader.read", "HAS_BODY", "Block:Reader.read", "demo") in edges
    assert ("Block:Reader.read", "CHILD", "Block:Reader.read", "demo") in edges
    assert [kind for _, kind, _, _ in edges].count("IMPORTS") == 2


@given(st.lists(st.sampled_from(TEXTS), max_size=4))
def test_every_piece_is_reached_from_its_file_and_carries_its_text(texts: list[str]) -> None:
    units = prepare("demo", {f"{number}.py": text for number, text in enumerate(texts)})
    parameters = Batch(units, set()).parameters()
    nodes = list_nodes(parameters)
    reached = {b for kind in TYPES for _, b, _ in parameters[kind]}
    assert reached == {place for place, (label, _) in enumerate(nodes) if label not in ("File", "Row")}
    stored = {node["id"]: unpack_text(node["text"]) for label, node in nodes if label == FRAGMENT}
    for label, node in nodes:
        if label in {each.value for each in PIECE_LABELS}:
            text = stored[node["fragment"]]
            assert text[node["start"] : node["end"]].decode() == node["content"]
            assert (label in {each.value for each in EMBEDDED_LABELS}) == ("embedding" in node)


def test_a_body_that_two_rows_share_is_sent_once_and_held_by_both() -> None:
    body = "def area(width, height):\n    return width * height\n"
    parameters = Batch(prepare("demo", {"row-1": body, "row-2": body}, Label.ROW), set()).parameters()
    assert (len(parameters["row"]), len(parameters["function"]), len(parameters[FRAGMENT.lower()])) == (2, 1, 1)
    assert len(parameters[HOLDS]) == 2
    assert len(parameters["CONTAINS"]) == 2


def test_a_stored_fragment_is_held_again_and_not_sent() -> None:
    unit = prepare("demo", {"a.py": READER})[0]
    stored = name_fragment("demo", unit.parts[0].key)
    batch = Batch([unit], {stored})
    assert batch.again == [(name_unit(unit), stored, 1)]
    assert batch.ids == {name_unit(unit)}


def test_a_missing_fragment_is_reported() -> None:
    unit = prepare("demo", {"a.py": READER})[0]
    hollow = replace(unit, parts=(Part(unit.parts[0].key, 1, None),))
    assert Batch([hollow], set()).missing == [name_fragment("demo", unit.parts[0].key)]


def test_ids_of_two_sources_differ() -> None:
    first, second = (Batch(prepare(source, FILES), set()).ids for source in ("first", "second"))
    assert first.isdisjoint(second)
    assert name_source("first") != name_source("second")


def measure_sent(unit: UnitGraph) -> int:
    return sum(len(repr(node)) for _, node in list_nodes(Batch([unit], set()).parameters()))


def test_the_estimated_size_of_a_unit_grows_with_its_message() -> None:
    small, large = (prepare("demo", {"a.py": READER * times})[0] for times in (1, 20))
    growth = measure_unit(large) / measure_unit(small)
    assert growth == pytest.approx(measure_sent(large) / measure_sent(small), rel=0.3)


def test_a_function_name_is_one_node_of_its_source() -> None:
    vector = [float(each) for each in np.ones(3)]
    first, again, other = (make_name(source, "read", vector) for source in ("demo", "demo", "other"))
    assert first == again
    assert first["id"] != other["id"]
    assert first["content_hash"] == other["content_hash"]
