"""Open the store at an address: a file of the user's own, or a server. Here alone an address becomes a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pkg.errors import StoreError
from pkg.graph.neo4j.address import is_server

if TYPE_CHECKING:
    from collections.abc import Callable

    from pkg.graph.store import GraphStore


def open_store(
    address: str,
    create: bool = False,
    *,
    ask: Callable[[str], str] | None = None,
    watch: Callable[[str, float], None] | None = None,
) -> GraphStore:
    """Open the store at an address: sqlite:///path, or neo4j://host[:port][/database] and its like.

    ask: called for the password of a server that PKG_NEO4J_PASSWORD does not give.
    watch: told the name of a server's index and how much of it is filled, in percent, while a build waits for it.
    """
    if is_server(address):
        from pkg.graph.neo4j.neo4j_store import Neo4jStore

        return Neo4jStore(address, create, ask=ask, watch=watch)
    scheme, _, path = address.partition(":///")
    if scheme != "sqlite" or path in ("", ":memory:"):
        raise StoreError(
            f"unknown store address '{address}'; expected sqlite:///path/to/graph.db or neo4j://host[:port][/database]"
        )
    from pkg.graph.embedded.embedded_store import EmbeddedStore

    return EmbeddedStore(Path(path).expanduser(), create)
