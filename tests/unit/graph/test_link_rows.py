"""Links in the embedded store: recurring texts are stored once, and a first load creates every index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from contract.units import FILES, fill, find_id, prepare, put, put_links

from pkg.graph.embedded import sql
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.model import Edge, Label, RelationType
from pkg.units import UnboundCall, UnitLinks


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with closing(EmbeddedStore(tmp_path / "graph.db", create=True)) as opened:
        yield opened


def read(store: EmbeddedStore, statement: str) -> list[tuple[object, ...]]:
    """Query the database through a separate connection."""
    path = store.address.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def make_links(store: EmbeddedStore, count: int) -> UnitLinks:
    copy, write = (find_id(store, Label.FUNCTION, name) for name in ("copy", "write"))
    rules = ("scope", "import", "certain")  # a rule may have the name of a confidence
    edges = [Edge(RelationType.CALLS, copy, write, line, rules[line % 3], "certain") for line in range(count)]
    unbound = [UnboundCall(f"{line:016x}", copy, "spawn", line, rules[line % 2]) for line in range(count)]
    return UnitLinks("pack/writer.py", tuple(edges), tuple(unbound), (), b"notes")


def test_recurring_texts_are_stored_once(store: EmbeddedStore) -> None:
    fill(store, FILES)
    for count in (9, 6):
        put_links(store, make_links(store, count))
        assert read(store, "SELECT text FROM term ORDER BY 1") == [("certain",), ("import",), ("scope",)]
    edges = store.edges([RelationType.CALLS])
    assert {(edge.rule, edge.confidence) for edge in edges} == {
        ("scope", "certain"), ("import", "certain"), ("certain", "certain"),
    }  # fmt: skip


def test_links_beyond_one_insert_are_all_stored(store: EmbeddedStore) -> None:
    fill(store, FILES)
    links = make_links(store, 5000)
    put_links(store, links)
    assert set(store.edges([RelationType.CALLS])) == set(links.edges)
    assert store.stats().nodes["Call"] == len(links.unbound)
    put_links(store, links)
    assert store.generation() == 2


def test_a_first_load_creates_every_index_with_or_without_links(store: EmbeddedStore) -> None:
    fill(store, {})
    with store.write() as writer:
        put(writer, "demo", prepare("demo", FILES))
    names = {name for (name,) in read(store, "SELECT name FROM sqlite_master WHERE type = 'index'")}
    assert names >= {*sql.INDEXES, *sql.LINK_INDEXES}


@pytest.mark.parametrize("statement", [sql.EDGES_OUT, sql.EDGES_IN])
def test_neighbours_are_found_by_index(store: EmbeddedStore, statement: str) -> None:
    fill(store, FILES)
    steps = [row[-1] for row in store._connection.execute(f"EXPLAIN QUERY PLAN {statement}", (1,))]
    assert [step for step in steps if str(step).startswith("SCAN")] in (["SCAN edge"], ["SCAN source", "SCAN edge"], [])
