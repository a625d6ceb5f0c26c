"""Open Neo4j stores on the servers of the tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

from neo4j import Driver
from neo4j_servers import Server, empty_database, open_server

from pkg.graph.neo4j.neo4j_store import Neo4jStore


@cache
def _connect(version: str) -> Driver:
    return open_server(version).connect()


def open_empty_server(version: str) -> Callable[[], Neo4jStore]:
    """Empty the database of a version's server and give a function that opens it."""
    server = open_server(version)
    empty_database(_connect(version))
    return lambda: open_on(server)


def open_on(server: Server, create: bool = True) -> Neo4jStore:
    """Open the store on a server with its own password."""
    os.environ["PKG_NEO4J_USER"] = server.user  # the fixture own_environment puts back what was there
    return Neo4jStore(server.uri, create, ask=lambda prompt: server.password)
