"""A server returns the helpers of the embedded store, with few statements for any number of hits (P-06)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import pytest
from neo4j_servers import NEWEST, open_empty_server
from trees import open_graph_at, write_rows

from pkg.encode.registry import load_encoder
from pkg.graph.neo4j.neo4j_store import Neo4jStore
from pkg.graph.neo4j.session import Reader
from pkg.graph.store import GraphStore
from pkg.indexing.build import build
from pkg.retrieval.query import QueryOptions, run_query

PACKAGE = Path(click.__file__).parent
QUESTIONS = ("parse the arguments of a command", "write help text", "ask for confirmation", "complete words in a shell")
ROWS = ("import os\n\ndef load(path):\n    return parse(os.path.join(path))\n", "def parse(text):\n    return text\n")
OPTIONS = (
    QueryOptions(top_k=10, mode="function"),
    QueryOptions(top_k=3, hops=3),
    QueryOptions(top_k=3, mode="function", callers=True),
)

pytestmark = pytest.mark.server


@pytest.fixture(params=NEWEST)
def server(request: pytest.FixtureRequest) -> Iterator[Neo4jStore]:
    with closing(open_empty_server(request.param)()) as store:
        yield store


def fill(store: GraphStore, rows: Path) -> None:
    build(str(PACKAGE), store)
    build(str(rows), store)


def test_helpers_equal_those_of_the_embedded_store(server: Neo4jStore, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", *ROWS)
    fill(server, rows)
    with closing(open_graph_at(tmp_path / "graph.db")) as embedded:
        fill(embedded, rows)
        for options in OPTIONS:
            for question in (*QUESTIONS, "load and parse a path"):
                ours, theirs = (
                    run_query(store, load_encoder("static"), question, options) for store in (embedded, server)
                )
                assert [hit.helpers for hit in ours.hits] == [hit.helpers for hit in theirs.hits]
                assert ours.coverage == theirs.coverage


def test_ten_hits_take_no_more_statements_than_two(
    server: Neo4jStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(server, write_rows(tmp_path / "rows.jsonl", *ROWS))
    asked: list[str] = []
    run = Reader.run

    def count(self: Reader, statement: str, **parameters: Any) -> list[Any]:
        asked.append(statement)
        return run(self, statement, **parameters)

    monkeypatch.setattr(Reader, "run", count)
    counts = []
    for top_k in (2, 10):
        asked.clear()
        for question in QUESTIONS:
            run_query(server, load_encoder("static"), question, QueryOptions(top_k=top_k, source=PACKAGE.name))
        counts.append(len(asked) / len(QUESTIONS))
    assert counts[1] <= counts[0] + 4  # nested functions, and guesses by name, take a few more
    assert counts[1] <= 16  # with those of the fused search: vectors, blocks and outlines of candidates
