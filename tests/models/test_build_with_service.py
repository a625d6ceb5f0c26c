"""Builds and queries through the real client of a service; interrupted builds resume."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from embedding_server import EmbeddingServer, Reply, answer_well, serve_embeddings
from trees import open_graph_at

from pkg.api import Graph
from pkg.encode.registry import load_encoder
from pkg.errors import EncoderError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.indexing.build_plan import BuildOptions

pytestmark = [pytest.mark.model, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    load_encoder.cache_clear()
    with serve_embeddings() as running:
        yield running


def list_sent(server: EmbeddingServer) -> list[str]:
    return [text for request in server.requests for text in request["input"]]


@pytest.mark.parametrize("kind", ["openai", "voyage"])
def test_a_graph_is_built_and_queried(kind: str, tree: Path, store: EmbeddedStore, server: EmbeddingServer) -> None:
    report = build(str(tree), store, BuildOptions(f"{kind}:m@{server.url}"))
    assert report.written == 3
    assert store.encoder() == (f"{kind}:m@{server.url}", 8)
    assert store.check() == []
    hits = Graph(store).query("total of the items", mode="function", top_k=2).hits
    assert len(hits) == 2
    assert "total of the items" in list_sent(server)


def test_no_text_is_sent_twice(tree: Path, store: EmbeddedStore, server: EmbeddingServer, tmp_path: Path) -> None:
    name = f"openai:m@{server.url}"
    build(str(tree), store, BuildOptions(name))
    assert len(set(list_sent(server))) == len(list_sent(server))
    before = len(server.requests)
    with closing(open_graph_at(tmp_path / "other.db")) as other:
        build(str(tree), other, BuildOptions(name))
    assert len(server.requests) == before


def test_a_failed_build_resumes(tree: Path, store: EmbeddedStore, server: EmbeddingServer) -> None:
    answers = iter([answer_well, answer_well])

    def refuse_later(request: dict[str, Any]) -> Reply:
        answer = next(answers, None)
        return answer(request) if answer else Reply(402, {"error": {"message": "no money left"}})

    server.always = refuse_later
    name = f"openai:m@{server.url}"
    with pytest.raises(EncoderError, match="no money left"):
        build(str(tree), store, BuildOptions(name))
    assert store.sources() == ()
    paid = set(list_sent(EmbeddingServer("", server.requests[:2])))
    server.always = answer_well
    server.requests.clear()
    build(str(tree), store, BuildOptions(name))
    assert paid
    assert paid.isdisjoint(list_sent(server))
