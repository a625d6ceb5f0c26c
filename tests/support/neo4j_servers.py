"""The Neo4j servers that tests run against, each started on first use and shared by the whole run.

In this order: the server at PKG_TEST_NEO4J_URI (with PKG_TEST_NEO4J_USER and PKG_TEST_NEO4J_PASSWORD), whose data the
tests delete; containers, where testcontainers is installed and a daemon has the image; servers launched from Maven
artifacts. A test that stops or kills its server starts one of its own with start_server.
"""

from __future__ import annotations

import atexit
import os
import secrets
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from neo4j_access import Server, await_answer, empty_database
from neo4j_containers import find_server, start_container
from neo4j_process import LaunchedServer, start_server
from neo4j_settings import Sizing

from pkg.errors import StoreError

__all__ = [
    "SERVERS",
    "VERSIONS",
    "LaunchedServer",
    "Server",
    "Sizing",
    "close_servers",
    "empty_database",
    "open_server",
    "start_server",
]

VERSIONS = (
    "5.26.30",
    "2026.08.1",
)  # the long-term release and the newest; pinned in tests/support/maven/pom.xml as well

# Read on import: the tests hide every PKG_* variable from what they run.
URI = os.environ.get("PKG_TEST_NEO4J_URI", "")
USER = os.environ.get("PKG_TEST_NEO4J_USER", "neo4j")
PASSWORD = os.environ.get("PKG_TEST_NEO4J_PASSWORD", "")

SERVERS = ("given",) if URI else VERSIONS  # what open_server takes, for the parameters of a fixture

_opened = ExitStack()


@cache
def open_server(version: str) -> Server:
    """Give the server of a version, the same one until close_servers; a given server serves for every version."""
    if URI:
        return open_given(URI, USER, PASSWORD)
    return open_container(version) or launch(version)


def close_servers() -> None:
    """End every server that open_server started and remove its data."""
    open_server.cache_clear()
    _opened.close()


atexit.register(close_servers)


def open_given(uri: str, user: str, password: str) -> Server:
    """Enter the server that somebody runs, whatever its version."""
    server = Server("given", uri, "", user, password)
    problem = await_answer(server)
    if problem:
        raise StoreError(
            f"no answer from PKG_TEST_NEO4J_URI {uri} as {user} ({problem}); start it, or check"
            " PKG_TEST_NEO4J_USER and PKG_TEST_NEO4J_PASSWORD"
        )
    return server


def open_container(version: str) -> Server | None:
    """Start a container of a version; None where there can be none."""
    password = secrets.token_hex()
    container = start_container(version, password, Sizing())
    if container is None:
        return None
    _opened.callback(container.stop)
    return find_server(version, password, container)


def launch(version: str) -> LaunchedServer:
    """Launch a version in a temporary folder; its data are not worth an end in good order."""
    folder = _opened.enter_context(TemporaryDirectory(prefix=f"neo4j-{version}-", ignore_cleanup_errors=True))
    server = start_server(version, Path(folder))
    _opened.callback(server.kill)
    return server
