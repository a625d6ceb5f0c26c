"""A service on a Neo4j server: answers equal those of an embedded graph, in parallel, and after a restart."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from neo4j_servers import VERSIONS, LaunchedServer
from shop_repository import SHOP
from trees import write_tree

import pkg
from pkg.errors import StoreError
from pkg.service.graph_service import GraphService, ServiceOptions

pytestmark = pytest.mark.server

PATIENCE = 60
ASKED: dict[str, dict[str, Any]] = {
    "explore": {"text": "how is the price of an item found"},
    "show": {"name": "find_price"},
    "deps": {"name": "find_price"},
    "impact": {"names": ["add_tax"]},
    "query": {"text": "add the tax to an amount"},
    "outline": {"path": "shop"},
    "map": {},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LaunchedServer]:
    """Launch a separate server, which is killed and started again."""
    server = LaunchedServer(VERSIONS[0], tmp_path_factory.mktemp("neo4j"))
    server.start()
    yield server
    server.kill()


def test_answers_equal_those_of_an_embedded_graph_before_and_after_a_restart(
    server: LaunchedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PKG_NEO4J_USER", server.user)
    monkeypatch.setenv("PKG_NEO4J_PASSWORD", server.password)
    repository, embedded = write_tree(tmp_path / "repo", SHOP), f"sqlite:///{tmp_path}/graph.db"
    for store in (embedded, server.uri):
        pkg.build_graph(repository, store=store)
    expected = {name: GraphService(ServiceOptions(embedded)).run(name, asked).text for name, asked in ASKED.items()}
    service = GraphService(ServiceOptions(server.uri))

    def ask(number: int) -> bool:
        name = list(ASKED)[number % len(ASKED)]
        return service.run(name, ASKED[name]).text == expected[name]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(5 * len(ASKED))))

    server.kill()
    began = time.monotonic()
    with pytest.raises(StoreError) as fault:
        service.run("query", ASKED["query"])
    assert time.monotonic() - began < PATIENCE
    assert server.password not in str(fault.value)

    server.start()
    assert service.run("query", ASKED["query"]).text == expected["query"]
