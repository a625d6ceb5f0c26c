"""The stores that the contract suite runs against; a further one is one more entry of STORES."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from fakes import FakeStore

from pkg.graph.embedded import EmbeddedStore
from pkg.graph.store import GraphStore

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a hundred small stores need no disk
OpenStore = Callable[[], GraphStore]  # each call gives one more handle on the same graph


def share_fake(folder: Path) -> OpenStore:
    store = FakeStore()
    return lambda: store


def share_embedded(folder: Path) -> OpenStore:
    return lambda: EmbeddedStore(folder / "graph.db", create=True)


STORES: dict[str, Callable[[Path], OpenStore]] = {"embedded": share_embedded, "fake": share_fake}


@pytest.fixture(params=sorted(STORES))
def make_store(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    """Give a function that makes a new, empty store each time, for tests that need several."""
    share, numbers = STORES[request.param], count()
    with TemporaryDirectory(dir=MEMORY) as folder, ExitStack() as opened:
        yield lambda: opened.enter_context(closing(share(Path(folder, str(next(numbers))))()))


@pytest.fixture(params=sorted(STORES))
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """Give a function that opens one and the same graph each time."""
    with ExitStack() as opened:
        share = STORES[request.param](tmp_path)
        yield lambda: opened.enter_context(closing(share()))


@pytest.fixture
def store(open_store: OpenStore) -> GraphStore:
    """Give an empty store."""
    return open_store()


@pytest.fixture
def make_twin(request: pytest.FixtureRequest, store: GraphStore, tmp_path: Path) -> Iterator[OpenStore]:
    """Give a function that makes another, empty store of the same kind."""
    kind = request.node.callspec.params["open_store"]
    with ExitStack() as opened:
        share = STORES[kind](tmp_path / "twin")
        yield lambda: opened.enter_context(closing(share()))
