"""Open the store at an address: a local file or a server, by default that of the current folder."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pkg.argument_types import check_text
from pkg.default_stores import default_store
from pkg.errors import FILE_SCHEME, SET_SCHEME, StoreError, UsageError, conceal_address, holds_log_in
from pkg.graph.neo4j.address import is_server

if TYPE_CHECKING:
    from collections.abc import Callable

    from pkg.graph.store import GraphStore


_OPTIONS = re.compile(r"\?\w+=[^/]*$")  # such as ?mode=memory, which other programs accept in an address of SQLite


def find_address(store: str | None) -> str:
    """Return the store address: the argument, else PKG_STORE, else the default; raise TypeError for a path."""
    if store is not None:
        check_text("store", store, "an address, such as sqlite:///graph.db")
    return store or os.environ.get("PKG_STORE") or default_store()


def open_store(
    address: str,
    create: bool = False,
    *,
    ask: Callable[[str], str] | None = None,
    watch: Callable[[str, float], None] | None = None,
) -> GraphStore:
    """Open the store at an address: sqlite:///path, sqlite-set:///folder, or neo4j://host[:port][/database].

    ask: called for the password of a server where PKG_NEO4J_PASSWORD is not set.
    watch: called with the name of a server's index and the percentage that is populated while a build waits for it.
    Raise UsageError for an address that holds a password, StoreError for one that names no store and for a store that
    cannot be used: StoreMissingError where there is no graph and create is false.
    """
    if is_server(address):
        from pkg.graph.neo4j.neo4j_store import Neo4jStore

        return Neo4jStore(address, create, ask=ask, watch=watch)
    scheme = SET_SCHEME if address.startswith(SET_SCHEME) else FILE_SCHEME
    path = address.removeprefix(scheme)
    if path in (address, "", ":memory:"):
        raise StoreError(
            f"unknown store address '{conceal_address(address)}'; expected sqlite:///path/to/graph.db,"
            " sqlite-set:///folder or neo4j://host[:port][/database]"
        )
    if _OPTIONS.search(path):
        raise UsageError(
            f"store address '{conceal_address(address)}' holds options; expected the path of a file alone, such as"
            f" {scheme}{path.partition('?')[0]}"
        )
    if holds_log_in(address):
        raise UsageError(
            f"store address '{conceal_address(address)}' holds a user or password; a file has none, and a server's are"
            " expected in PKG_NEO4J_USER and PKG_NEO4J_PASSWORD"
        )
    if scheme == SET_SCHEME:
        from pkg.graph.sets.store_set import StoreSet, refuse_write

        if create:
            raise refuse_write(address)
        return StoreSet(Path(path).expanduser())
    from pkg.graph.embedded.embedded_store import EmbeddedStore

    return EmbeddedStore(Path(path).expanduser(), create)
