"""An update of a graph on a server writes only changes, by the server's counters (docs/papers.md, 9.1)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import copytree

import click
import pytest
from neo4j import Driver
from neo4j_servers import NEWEST, open_empty_server, open_server

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.store import GraphStore
from pkg.indexing.build import build
from pkg.indexing.report import BuildReport

PACKAGE = Path(click.__file__).parent
CHANGED = ("globals.py", "exceptions.py")
LIST_ELEMENTS = """MATCH (n:File|Class|Function|Block|Import) WHERE n.source = 'click' AND NOT n.path IN $changed
    RETURN n.id AS id, elementId(n) AS element ORDER BY id"""
TEXT = "\n\ndef added_by_a_test(value):\n    if value:\n        return [value]\n    return []\n"

pytestmark = pytest.mark.server


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return copytree(PACKAGE, tmp_path / "click", ignore=lambda folder, names: {"__pycache__"} & set(names))


@pytest.fixture(params=NEWEST)
def store(request: pytest.FixtureRequest) -> Iterator[GraphStore]:
    with closing(open_empty_server(request.param)()) as store:
        yield store


@pytest.fixture
def driver(store: GraphStore, request: pytest.FixtureRequest) -> Iterator[Driver]:
    with open_server(request.node.callspec.params["store"]).connect() as driver:
        yield driver


def read_commit(driver: Driver) -> frozenset[str]:
    """Return the server's bookmark of its last commit, with the transaction number; reading does not change it."""
    with driver.session() as session:
        session.run("RETURN 1").consume()
        return session.last_bookmarks().raw_values


def list_elements(driver: Driver) -> list[tuple[str, str]]:
    with driver.session() as session:
        rows = session.run(LIST_ELEMENTS, changed=list(CHANGED))
        return [(row["id"], row["element"]) for row in rows]


def change_two_files(tree: Path) -> None:
    for name in CHANGED:
        path = tree / name
        path.write_text(path.read_text(encoding="utf-8") + TEXT, encoding="utf-8")


def build_tree(tree: Path, store: GraphStore) -> BuildReport:
    return build(str(tree), store, source="click")


def test_a_build_changes_the_bookmark_of_the_last_commit(tree: Path, store: GraphStore, driver: Driver) -> None:
    before = read_commit(driver)
    build_tree(tree, store)
    assert read_commit(driver) != before


def test_an_unchanged_tree_writes_nothing(tree: Path, store: GraphStore, driver: Driver) -> None:
    first = build_tree(tree, store)
    before = read_commit(driver)
    again = build_tree(tree, store)
    assert (again.written, again.removed, again.unchanged) == (0, 0, first.written)
    assert read_commit(driver) == before


def test_queries_write_nothing(tree: Path, store: GraphStore, driver: Driver) -> None:
    build_tree(tree, store)
    before = read_commit(driver)
    with store.snapshot():
        assert store.find_name("Context", "click")
        assert store.stats().nodes["File"]
    assert read_commit(driver) == before


def test_two_changed_files_leave_other_nodes_unchanged(tree: Path, store: GraphStore, driver: Driver) -> None:
    build_tree(tree, store)
    before = list_elements(driver)
    change_two_files(tree)
    assert build_tree(tree, store).written == len(CHANGED)
    assert list_elements(driver) == before


def test_two_changed_files_give_the_graph_of_a_new_build(tree: Path, store: GraphStore, tmp_path: Path) -> None:
    build_tree(tree, store)
    change_two_files(tree)
    build_tree(tree, store)
    with closing(EmbeddedStore(tmp_path / "graph.db", create=True)) as fresh:
        build_tree(tree, fresh)
        for ours, theirs in zip(store.export(vectors=True), fresh.export(vectors=True), strict=True):
            assert ours == theirs
