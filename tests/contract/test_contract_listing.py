"""Listing all nodes of some labels and relationships of some types equals fetching them one by one."""

from __future__ import annotations

import pytest
from contract.test_contract_links import ONE, ROWS, link_reader, link_row, link_writer
from contract.units import FILES, fill, find_id, put_links

from pkg.graph.store import GraphStore
from pkg.model import Edge, Label, RelationType
from pkg.units import UnitLinks

LINES = ("start", "end", "line", "rule", "confidence")


@pytest.fixture
def filled(store: GraphStore) -> GraphStore:
    """Return a store with a repository and its links, and a corpus whose rows share a function."""
    fill(store, FILES)
    put_links(store, link_reader(store), link_writer(store))
    fill(store, {"row-1": ONE, "row-2": f"\n{ONE}"}, "rows", Label.ROW)
    return store


@pytest.mark.parametrize("source", [None, "demo", "rows", "ghost"])
def test_nodes_are_listed_as_they_are_fetched(filled: GraphStore, source: str | None) -> None:
    for label in Label:
        lines = [line for line in filled.export() if line.get("label") == label.value]
        ids = [line["id"] for line in lines if source in (None, line["source"])]
        found = {node.id: node for node in filled.nodes([label], source)}
        assert list(map(found.get, ids)) == filled.get(ids)
        assert len(found) == len(ids)


def test_nodes_of_several_labels_are_listed_together(filled: GraphStore) -> None:
    found = list(filled.nodes((Label.CLASS, Label.FILE, Label.CALL)))
    assert sorted((node.label.value, node.path) for node in found) == [
        *[("Call", "pack/reader.py")] * 2,
        ("Call", "pack/writer.py"),
        ("Class", "pack/reader.py"),
        ("File", "pack/reader.py"),
        ("File", "pack/writer.py"),
    ]
    assert list(filled.nodes(())) == []


@pytest.mark.parametrize("source", [None, "demo", "rows", "ghost"])
def test_relationships_are_listed_as_they_are_exported(filled: GraphStore, source: str | None) -> None:
    sources = {line["id"]: line["source"] for line in filled.export() if line["type"] == "node"}
    for kind in RelationType:
        lines = [line for line in filled.export() if line.get("name") == kind.value and line["type"] == "relation"]
        expected = [
            Edge(kind, *map(line.get, LINES))  # type: ignore[arg-type]
            for line in lines
            if source in (None, sources[line["start"]])
        ]
        found = list(filled.edges([kind], source))
        assert set(found) == set(expected)
        assert len(found) == len(expected)


def test_relationships_of_several_types_are_listed_together(filled: GraphStore) -> None:
    found = list(filled.edges((RelationType.CALLS, RelationType.IMPORTS), "demo"))
    assert sorted(edge.type.value for edge in found) == ["CALLS"] * 4 + ["IMPORTS"] * 3
    assert list(filled.edges(())) == []


def test_shared_links_of_rows_are_listed_once(store: GraphStore) -> None:
    fill(store, ROWS, label=Label.ROW)
    put_links(store, link_row(store, "row-2", 5), link_row(store, "row-3", 5), UnitLinks("row-1"))
    assert [node.path for node in store.nodes([Label.CALL])] == ["row-2"]
    edge, area = (find_id(store, Label.FUNCTION, name) for name in ("edge", "area"))
    assert list(store.edges([RelationType.CALLS])) == [Edge(RelationType.CALLS, area, edge, 2, "scope", "certain")]
    assert len(list(store.edges([RelationType.UNRESOLVED]))) == 1
