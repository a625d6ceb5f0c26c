"""What tests share: settings (one thread for numpy, examples by profile), a clean environment, a tree and a store.

Fixtures import what they need, because the settings must stand before numpy is imported and examples are counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from toy_models import LetterModel

    from pkg.graph.embedded.embedded_store import EmbeddedStore

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read once, when numpy is first imported

settings.register_profile("default", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=300, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Hide the caller's settings and give each test a data folder of its own."""
    for name in os.environ:
        if name.startswith(("PKG_", "OPENAI_", "VOYAGE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write a small repository."""
    from trees import SHOP, write_tree

    return write_tree(tmp_path / "repo", SHOP)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    """Give an empty store in a file."""
    from trees import open_graph_at

    with closing(open_graph_at(tmp_path / "graph.db")) as opened:
        yield opened


@pytest.fixture
def models() -> Iterator[dict[str, LetterModel]]:
    """Let the registry know toys (toy_models.register_toys); give those that were made, by name."""
    from toy_models import register_toys

    with register_toys() as made:
        yield made
