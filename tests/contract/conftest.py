"""The stores of the contract suite; add another to LOCAL or SERVERS."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from fakes import FakeStore
from neo4j_servers import SERVERS as VERSIONS
from neo4j_servers import open_empty_server, open_on, open_server, read_stamp

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.neo4j.neo4j_store import Neo4jStore
from pkg.graph.store import GraphStore, StoreWriter

HERE = Path(__file__).parent
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # hundreds of small stores need no disk
OpenStore = Callable[[], GraphStore]  # each call returns another handle on the same graph
Fill = Callable[[GraphStore], None]
Hold = Callable[[Fill], GraphStore]


def share_fake(folder: Path) -> OpenStore:
    store = FakeStore()
    return lambda: store


def share_embedded(folder: Path) -> OpenStore:
    return lambda: EmbeddedStore(folder / "graph.db", create=True)


def share_server(version: str, folder: Path) -> OpenStore:
    return open_empty_server(version)


_held: dict[str, tuple[Fill, str]] = {}  # by version: what filled the server last, and the stamp


@contextmanager
def open_filled(kind: str, folder: Path, fill: Fill) -> Iterator[GraphStore]:
    """Open a filled store; on a server that of an earlier test, unless one has written since."""
    version = kind.removeprefix("neo4j-") if kind in SERVERS else None
    if version and version in _held and _held[version] == (fill, read_stamp(version)):
        store: GraphStore = open_on(open_server(version))
    else:
        store, others = STORES[kind](folder)(), dict(_held)
        fill(store)  # not for another server
        _held.update(others)
        if version:
            _held[version] = fill, read_stamp(version)
    with closing(store):
        yield store


LOCAL: dict[str, Callable[[Path], OpenStore]] = {"embedded": share_embedded, "fake": share_fake}
SERVERS: dict[str, Callable[[Path], OpenStore]] = {
    f"neo4j-{version}": partial(share_server, version) for version in VERSIONS
}
STORES = LOCAL | SERVERS

OLDER = {f"neo4j-{version}" for version in VERSIONS[:-1]}
ON_OLDER = frozenset({"test_contract_search.py", "test_contract_writes.py"})
"""Tests that always run on the older server, whose vector search and batches differ; the rest is `full`."""


@pytest.hookimpl(tryfirst=True)  # before tests are selected by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run most of the suite on the older server only with `make test-full`."""
    for item in items:
        if item.path.parent == HERE and item.path.name not in ON_OLDER and _runs_on(item, OLDER):
            item.add_marker(pytest.mark.full)


def _runs_on(item: pytest.Item, stores: Collection[str]) -> bool:
    callspec = getattr(item, "callspec", None)
    return callspec is not None and any(value in stores for value in callspec.params.values() if isinstance(value, str))


HOLDS_SNAPSHOTS = frozenset(LOCAL)
"""Stores that keep the old generation during a snapshot; others raise StoreChangedError."""

_LOCAL = sorted(LOCAL)
_SERVERS = [pytest.param(name, marks=pytest.mark.server) for name in sorted(SERVERS)]


def _make_stores(kind: str) -> Iterator[OpenStore]:
    share, numbers = STORES[kind], count()
    with TemporaryDirectory(dir=MEMORY) as folder, ExitStack() as opened:
        yield lambda: opened.enter_context(closing(share(Path(folder, str(next(numbers))))()))


@pytest.fixture(params=_LOCAL)
def make_local_store(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    """Return a function that creates an empty store, for tests that need hundreds."""
    yield from _make_stores(request.param)


@pytest.fixture(params=_SERVERS)
def make_server_store(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    """Return a function that empties the database of a server, for tests that need a few dozen."""
    yield from _make_stores(request.param)


@pytest.fixture(params=[*_LOCAL, *_SERVERS])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """Return a function that opens the same graph each time."""
    with ExitStack() as opened:
        share = STORES[request.param](tmp_path)
        yield lambda: opened.enter_context(closing(share()))


@pytest.fixture
def store(open_store: OpenStore) -> GraphStore:
    """Return an empty store."""
    return open_store()


@pytest.fixture(autouse=True)
def forget_what_was_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill servers again after any write: notes and fingerprints change without a new stamp."""
    write = Neo4jStore.write

    def forget_and_write(store: Neo4jStore) -> AbstractContextManager[StoreWriter]:
        _held.clear()
        return write(store)

    monkeypatch.setattr(Neo4jStore, "write", forget_and_write)


@pytest.fixture(params=[*_LOCAL, *_SERVERS])
def hold(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Hold]:
    """Return a function that opens a store filled by another function."""
    with ExitStack() as opened:
        yield lambda fill: opened.enter_context(open_filled(request.param, tmp_path, fill))


@pytest.fixture
def holds_snapshots(request: pytest.FixtureRequest, open_store: OpenStore) -> bool:
    """Return whether the store keeps an old generation during a snapshot."""
    return request.node.callspec.params["open_store"] in HOLDS_SNAPSHOTS
