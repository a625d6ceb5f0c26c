"""Shared fixtures of server tests: an emptied server, a repository, and short timeouts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from disturbed_builds import write_shop
from neo4j import Driver
from neo4j_servers import Server, empty_database

from pkg.graph.neo4j import neo4j_writing, session


@pytest.fixture
def driver(server: Server) -> Iterator[Driver]:
    """Connect to the server without PKG; its database is empty."""
    with server.connect() as driver:
        empty_database(driver)
        yield driver


@pytest.fixture
def hasten(monkeypatch: pytest.MonkeyPatch, server: Server, driver: Driver) -> None:
    """Set batches of one file, short timeouts, and the login."""
    monkeypatch.setattr(neo4j_writing, "BATCH_BYTES", 1)
    monkeypatch.setattr(session, "RETRY_SECONDS", 0.5)
    monkeypatch.setattr(session, "ANSWER_SECONDS", 2.0)
    monkeypatch.setattr(session, "LOCK_SECONDS", 1.0)
    monkeypatch.setenv("PKG_NEO4J_PASSWORD", server.password)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write a small repository."""
    return write_shop(tmp_path)
