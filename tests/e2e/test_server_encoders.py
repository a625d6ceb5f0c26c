"""A change of encoder on a server has the result of the embedded store, including vectors and answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import numpy as np
import pytest
from neo4j_servers import NEWEST, open_empty_server
from trees import write_rows

from pkg.api import Graph
from pkg.errors import EncoderMismatchError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.neo4j.neo4j_store import Neo4jStore
from pkg.graph.verify import compare_stores
from pkg.indexing.build import build
from pkg.indexing.build_plan import BuildOptions
from pkg.model import EMBEDDED_LABELS

PACKAGE = Path(click.__file__).parent
QUESTION = "parse the arguments of a command"

pytestmark = [pytest.mark.server, pytest.mark.usefixtures("models")]


@pytest.fixture(params=NEWEST)
def server(request: pytest.FixtureRequest) -> Iterator[Neo4jStore]:
    with closing(open_empty_server(request.param)()) as store:
        yield store


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with closing(EmbeddedStore(tmp_path / "graph.db", create=True)) as store:
        yield store


def test_a_server_changes_its_encoder_as_the_embedded_store_does(
    server: Neo4jStore, embedded: EmbeddedStore, tmp_path: Path
) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", "import os\ndef add(a, b):\n    return a + b\n", "def add(a, b): pass\n")
    for path in (str(rows), str(PACKAGE)):
        build(path, server, BuildOptions())
        build(path, embedded, BuildOptions("fake"))
    assert Graph(server).query(QUESTION, mode="function").hits
    report = build(str(PACKAGE), server, BuildOptions("fake"))
    assert report.reencoded > 1000
    assert (server.encoder(), server.check()) == (("fake", 256), [])
    assert compare_stores(server, embedded, vectors=True).is_equal
    answers = [Graph(store).query(QUESTION, mode="both", top_k=5).hits for store in (server, embedded)]
    assert [hit.id for hit in answers[0]] == [hit.id for hit in answers[1]]


def test_a_server_with_vectors_of_other_weights_is_not_searched_and_is_encoded_again(
    server: Neo4jStore, embedded: EmbeddedStore, tmp_path: Path
) -> None:
    rows = str(write_rows(tmp_path / "rows.jsonl", "import os\ndef add(a, b):\n    return a + b\n"))
    for store in (server, embedded):
        build(rows, store)
    dimension = server.encoder()[1]
    ids = {label: [node.id for node in server.nodes([label])] for label in EMBEDDED_LABELS}
    with server.write() as writer:
        writer.put_encoder("static", dimension)
        for label, some in ids.items():
            writer.put_vectors(label, dict.fromkeys(some, np.ones(dimension, np.float16)))
    with pytest.raises(EncoderMismatchError, match=r"encoder 'static', made with other weights .* pkg build PATH"):
        Graph(server).query("add two numbers")
    assert build(rows, server).reencoded == sum(map(len, ids.values()))
    assert server.encoder() == embedded.encoder()
    assert compare_stores(server, embedded, vectors=True).is_equal
    assert Graph(server).query("add two numbers").hits
