"""Fixtures of all frameworks; the tests are skipped unless `make test-integrations` has installed them."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from mail_graph import build_mail_graph

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"  # read when Haystack is imported
FRAMEWORKS = ("haystack", "langchain_tests", "llama_index", "neo4j_graphrag")
collect_ignore_glob = ["test_*.py"] if None in map(find_spec, FRAMEWORKS) else []


@pytest.fixture
def anyio_backend() -> str:
    """Run coroutines with asyncio only, as the frameworks do."""
    return "asyncio"


@pytest.fixture
def address(tmp_path: Path) -> str:
    """Build the graph and return its address."""
    return build_mail_graph(tmp_path)
