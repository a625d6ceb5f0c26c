"""Stores are compared node by node and relationship by relationship, with a list of differences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fakes import FakeStore
from graphs import add_files, make_store
from hypothesis import given
from hypothesis import strategies as st
from trees import SHOP, change_sealed, open_graph_at, write_tree

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.verify import MAX_LISTED_DIFFERENCES, compare_stores
from pkg.indexing.build import build
from pkg.model import Edge, RelationType
from pkg.units import UnitLinks

TWO = {"a.py": "def f():\n    return g()\n\n\ndef g():\n    return 1\n"}


@pytest.fixture
def first(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with closing(open_graph_at(tmp_path / "first.db")) as store:
        build(str(write_tree(tmp_path / "code", SHOP)), store)
        yield store


@pytest.fixture
def second(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with closing(open_graph_at(tmp_path / "second.db")) as store:
        yield store


def link(store: FakeStore, *lines: int | None) -> None:
    """Link f with g by a call on each line."""
    (start,), (end,) = store.find_name("f"), store.find_name("g")
    edges = tuple(Edge(RelationType.CALLS, start.id, end.id, line) for line in lines)
    with store.write() as writer:
        writer.put_links("demo", [UnitLinks("a.py", edges)])


def test_the_same_input_makes_equal_stores(first: EmbeddedStore, second: EmbeddedStore, tmp_path: Path) -> None:
    build(str(tmp_path / "code"), second)
    found = compare_stores(first, second, vectors=True)
    assert (found.is_equal, found.different, found.differences) == (True, 0, ())
    assert {tally.name: tally.a for tally in found.nodes} == first.stats().nodes
    assert {tally.name: tally.b for tally in found.relations} == second.stats().relations


def test_a_changed_body_is_reported_with_its_position_and_properties(
    first: EmbeddedStore, second: EmbeddedStore, tmp_path: Path
) -> None:
    write_tree(tmp_path / "code", {"shop/prices.py": SHOP["shop/prices.py"].replace("name == item", "name is item")})
    build(str(tmp_path / "code"), second)
    found = compare_stores(first, second)
    assert [(each.label, each.path, each.qualname, each.where, each.properties) for each in found.differences] == [
        ("File", "shop/prices.py", "shop/prices.py", "both", ("content_hash", "parts")),
        ("Function", "shop/prices.py", "find_price", "both", ("content", "content_hash")),
        *[("Block", "shop/prices.py", "find_price", "both", ("content", "content_hash"))] * 3,
    ]
    assert {tally.name: tally.different for tally in found.nodes if tally.different} == {
        "File": 1, "Function": 1, "Block": 3,
    }  # fmt: skip


def test_vectors_are_compared_only_on_request(first: EmbeddedStore, second: EmbeddedStore, tmp_path: Path) -> None:
    build(str(tmp_path / "code"), second)
    change_sealed(tmp_path / "second.db", "UPDATE vector SET data = zeroblob(length(data))")
    assert compare_stores(first, second).is_equal
    found = compare_stores(first, second, vectors=True)
    assert {each.properties for each in found.differences} == {("vector",)}


def test_the_first_differences_are_listed_and_all_are_counted(first: EmbeddedStore, second: EmbeddedStore) -> None:
    second.ensure_schema(*first.encoder())
    found = compare_stores(first, second)
    assert len(found.differences) == MAX_LISTED_DIFFERENCES
    assert {each.where for each in found.differences} == {"a"}
    stats = first.stats()
    assert found.different == sum(stats.nodes.values()) + sum(stats.relations.values())
    assert compare_stores(second, first).different == found.different


def test_another_encoder_is_a_difference(first: EmbeddedStore, second: EmbeddedStore, tmp_path: Path) -> None:
    build(str(tmp_path / "code"), second)
    change_sealed(tmp_path / "second.db", "UPDATE meta SET value = 'neural' WHERE key = 'encoder'")
    (difference,) = compare_stores(first, second).differences
    assert (difference.label, difference.properties) == ("graph", ("encoder",))


def test_a_relationship_is_named_by_both_its_ends() -> None:
    a, b = make_store(TWO), make_store(TWO)
    link(b, 2)
    (difference,) = compare_stores(a, b).differences
    assert (difference.label, difference.path, difference.qualname, difference.where) == (
        "CALLS",
        "a.py",
        "f -> g",
        "b",
    )


def test_a_changed_relationship_is_one_difference() -> None:
    a, b = make_store(TWO), make_store(TWO)
    link(a, 2)
    link(b, 3)
    (difference,) = compare_stores(a, b).differences
    assert (difference.where, difference.properties) == ("both", ("line",))


@given(st.lists(st.none() | st.integers(1, 3), max_size=4))
def test_parallel_relationships_are_equal_in_any_order(lines: list[int | None]) -> None:
    a, b = make_store(TWO), make_store(TWO)
    link(a, *lines)
    link(b, *reversed(lines))
    assert compare_stores(a, b).is_equal
    link(b, *lines, 4)
    assert compare_stores(a, b).different == 1


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["x = 1\n", "def f(): pass\n", "class A: pass\n"])))
def test_a_store_equals_itself_and_differs_by_additions(files: dict[str, str]) -> None:
    tree = {f"{name}.py": text for name, text in files.items()}
    a, b = make_store(tree), make_store(tree)
    assert compare_stores(a, b).is_equal
    add_files(b, {"new.py": "def new(): pass\n"}, "demo")
    found = compare_stores(a, b)
    assert {(each.path, each.where) for each in found.differences if each.label == "File"} == {("new.py", "b")}
