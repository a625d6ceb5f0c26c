"""The Neo4j servers of the tests, each started on first use and shared by the whole run, and stores on them.

In this order: the server at PKG_TEST_NEO4J_URI (with PKG_TEST_NEO4J_USER and PKG_TEST_NEO4J_PASSWORD), whose data the
tests delete; containers, if testcontainers is installed and a daemon has the image; servers launched from Maven
artifacts. A test that stops or kills its server starts its own with start_server.
"""

from __future__ import annotations

import atexit
import os
import secrets
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import pytest
from neo4j import Driver
from neo4j_process import LOOPBACK, LaunchedServer, Server, Sizing, await_answer, empty_database, start_server

from pkg.errors import StoreError
from pkg.graph.neo4j.neo4j_store import Neo4jStore

__all__ = [
    "NEWEST",
    "NEWEST_FIRST",
    "SERVERS",
    "VERSIONS",
    "LaunchedServer",
    "Server",
    "Sizing",
    "close_servers",
    "empty_database",
    "open_empty_server",
    "open_on",
    "open_server",
    "read_stamp",
    "start_server",
]

VERSIONS = ("5.26.30", "2026.08.1")
"""The long-term release and the newest; also pinned in tests/support/maven/pom.xml."""

# Read on import, because the tests hide every PKG_* variable from the code under test.
URI = os.environ.get("PKG_TEST_NEO4J_URI", "")
USER = os.environ.get("PKG_TEST_NEO4J_USER", "neo4j")
PASSWORD = os.environ.get("PKG_TEST_NEO4J_PASSWORD", "")

SERVERS = ("given",) if URI else VERSIONS  # arguments of open_server, for the parameters of a fixture
NEWEST = SERVERS[-1:]  # for behaviour that the contract suite checks on each version
NEWEST_FIRST = (*NEWEST, *(pytest.param(version, marks=pytest.mark.full) for version in SERVERS[:-1]))
"""Every server, the older ones only in `make test-full`: for slow tests whose behaviour other tests also cover."""


_opened = ExitStack()


@cache
def open_server(version: str) -> Server:
    """Return the server of a version, the same one until close_servers; a given server is used for every version."""
    if URI:
        return open_given(URI, USER, PASSWORD)
    return open_container(version) or launch(version)


def close_servers() -> None:
    """Stop every server started by open_server and remove its data."""
    open_server.cache_clear()
    _opened.close()


atexit.register(close_servers)


def open_given(uri: str, user: str, password: str) -> Server:
    """Return the given server, whatever its version."""
    server = Server("given", uri, "", user, password)
    problem = await_answer(server)
    if problem:
        raise StoreError(
            f"no answer from PKG_TEST_NEO4J_URI {uri} as {user} ({problem}); start it, or check"
            " PKG_TEST_NEO4J_USER and PKG_TEST_NEO4J_PASSWORD"
        )
    return server


def open_container(version: str) -> Server | None:
    """Start a container of a version; None if that is impossible."""
    password = secrets.token_hex()
    container = start_container(version, password, Sizing())
    if container is None:
        return None
    _opened.callback(container.stop)
    return find_server(version, password, container)


def launch(version: str) -> LaunchedServer:
    """Launch a version in a temporary folder; its data need no graceful shutdown."""
    folder = _opened.enter_context(TemporaryDirectory(prefix=f"neo4j-{version}-", ignore_cleanup_errors=True))
    server = start_server(version, Path(folder))
    _opened.callback(server.kill)
    return server


BOLT, HTTP = 7687, 7474


class Container(Protocol):
    """Parts of a testcontainers container used here."""

    ports: dict[str, tuple[str, None]]  # of the container -> address on this machine, any free port

    def with_env(self, key: str, value: str) -> Container:
        """Set an environment variable of the container."""

    def start(self) -> Container:
        """Start it."""

    def stop(self) -> None:
        """Remove it."""

    def get_exposed_port(self, port: int) -> int:
        """Return the port at which one of its ports is published."""


def start_container(version: str, password: str, sizing: Sizing) -> Container | None:
    """Start a container, published only on loopback, pulling its image if needed; None if that is impossible."""
    if find_spec("testcontainers") is None:
        return None
    docker, image = import_module("docker"), f"neo4j:{version}-community"
    try:
        images = docker.from_env().images
        if not images.list(image):
            images.pull(image)
        container: Container = import_module("testcontainers.core.container").DockerContainer(image)
        container.ports = {str(port): (LOOPBACK, None) for port in (BOLT, HTTP)}
        for name, value in render_environment(password, sizing).items():
            container.with_env(name, value)
        return container.start()
    except (docker.errors.DockerException, OSError):  # no daemon, or no image available
        return None


def find_server(version: str, password: str, container: Container) -> Server:
    """Return the server in a container once it answers."""
    bolt, http = (container.get_exposed_port(port) for port in (BOLT, HTTP))
    server = Server(version, f"bolt://{LOOPBACK}:{bolt}", f"http://{LOOPBACK}:{http}", password=password)
    problem = await_answer(server)
    if problem:
        raise StoreError(f"the container of Neo4j {version} is silent ({problem}), expected an answer; see docker logs")
    return server


def render_environment(password: str, sizing: Sizing) -> dict[str, str]:
    """Return the settings as environment variables of the image: dots become underscores, underscores are doubled."""
    return {
        "NEO4J_AUTH": f"neo4j/{password}",
        "NEO4J_server_memory_heap_initial__size": sizing.heap,
        "NEO4J_server_memory_heap_max__size": sizing.heap,
        "NEO4J_server_memory_pagecache_size": sizing.pagecache,
        "NEO4J_dbms_usage__report_enabled": "false",
    }


@cache
def _connect(version: str) -> Driver:
    return open_server(version).connect()


def open_empty_server(version: str) -> Callable[[], Neo4jStore]:
    """Empty the database of a version's server and return a function that opens it."""
    server = open_server(version)
    empty_database(_connect(version))
    return lambda: open_on(server)


def read_stamp(version: str) -> str:
    """Return the unique stamp of the current generation of the graph on a version's server; empty without a graph."""
    records = _connect(version).execute_query("MATCH (s:PkgStore {id: 'store'}) RETURN s.stamp AS stamp").records
    return str(records[0]["stamp"]) if records else ""


def open_on(server: Server, create: bool = True) -> Neo4jStore:
    """Open the store on a server with its own password."""
    os.environ["PKG_NEO4J_USER"] = server.user  # the fixture own_environment restores the old value
    return Neo4jStore(server.uri, create, ask=lambda prompt: server.password)
