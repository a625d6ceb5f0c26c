"""A server has the answers of the embedded store: the same nodes for 200 questions on a real package (A-01, P-17)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from neo4j_servers import NEWEST_FIRST, open_empty_server

from pkg.encode.registry import load_encoder
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.neo4j import searching
from pkg.graph.store import GraphStore
from pkg.indexing.build import build
from pkg.model import Label
from pkg.retrieval.helpers import MIN_NAME_COSINE

PACKAGE = Path(hypothesis.__file__).parent  # some 2,000 functions and 3,000 blocks
QUESTIONS = 200
K = 10
OVERLAP = 0.97  # of the ten best; the embedded store is exact, the server's index is not

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    with closing(EmbeddedStore(tmp_path_factory.mktemp("parity") / "graph.db", create=True)) as store:
        build(str(PACKAGE), store)
        yield store


@pytest.fixture(scope="module", params=NEWEST_FIRST)
def server(request: pytest.FixtureRequest) -> Iterator[GraphStore]:
    with closing(open_empty_server(request.param)()) as store:
        build(str(PACKAGE), store)
        yield store


@pytest.fixture(scope="module")
def questions(embedded: EmbeddedStore) -> list[str]:
    """Return first sentences of docstrings, evenly spaced over all functions with one."""
    docstrings = [
        line["docstring"].partition("\n")[0]
        for line in embedded.export()
        if line.get("label") == "Function" and len(line.get("docstring", "").split()) > 3
    ]
    return docstrings[:: max(len(docstrings) // QUESTIONS, 1)][:QUESTIONS]


def test_the_graphs_are_equal_line_by_line(embedded: EmbeddedStore, server: GraphStore) -> None:
    for ours, theirs in zip(embedded.export(vectors=True), server.export(vectors=True), strict=True):
        assert ours == theirs


def test_statistics_are_equal(embedded: EmbeddedStore, server: GraphStore) -> None:
    assert (embedded.stats().nodes, embedded.stats().relations) == (server.stats().nodes, server.stats().relations)


@pytest.mark.parametrize("label", [Label.BLOCK, Label.FUNCTION])
def test_the_ten_best_equal_those_of_the_embedded_store(
    embedded: EmbeddedStore,
    server: GraphStore,
    questions: list[str],
    label: Label,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searching, "EXACT_BELOW", 0)  # so that the index is used instead of a full comparison
    assert len(questions) == QUESTIONS
    encoder, shares = load_encoder("static"), []
    for question in questions:
        vector = np.asarray(encoder.encode([question.encode()])[0], np.float32)
        ours = [match.id for match in embedded.vector_search(label, vector, K).matches]
        theirs = [match.id for match in server.vector_search(label, vector, K).matches]
        assert len(theirs) == len(ours)
        shares.append(len(set(ours) & set(theirs)) / len(ours))
        if set(ours) == set(theirs):
            assert ours == theirs
    print(f"{label.value}: overlap of the ten best {np.mean(shares):.4f}")
    assert np.mean(shares) >= OVERLAP


def test_similar_names_equal_those_of_the_embedded_store(
    embedded: EmbeddedStore, server: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "EXACT_BELOW", 0)
    encoder = load_encoder("static")
    names = sorted(line["name"] for line in embedded.export() if line.get("label") == Label.FUNCTION_NAME.value)
    same = []
    for name in names[:: max(len(names) // QUESTIONS, 1)]:
        vector = encoder.encode([name.encode()])[0]
        if not vector.any():  # a name without words
            continue
        ours, theirs = (
            [
                match.id
                for match in store.vector_search(Label.FUNCTION_NAME, vector, K, threshold=MIN_NAME_COSINE).matches
            ]
            for store in (embedded, server)
        )
        assert ours
        same.append(ours == theirs)
    assert np.mean(same) >= OVERLAP
