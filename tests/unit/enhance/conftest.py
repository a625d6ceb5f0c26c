"""A store of the fixture `project`, and an empty cache of texts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pkg.enhance.docstring_cache import DocstringCache
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build


@pytest.fixture
def store(tmp_path: Path, project: Path) -> Iterator[EmbeddedStore]:
    with closing(EmbeddedStore(tmp_path / "graph.db", create=True)) as store:
        build(str(project), store)
        yield store


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[DocstringCache]:
    with closing(DocstringCache(tmp_path / "cache" / "docstrings.db")) as cache:
        yield cache
