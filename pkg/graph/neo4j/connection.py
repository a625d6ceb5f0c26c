"""Reach a Neo4j server: connect, log in, and look at its version."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from pkg.errors import StoreVersionError
from pkg.graph.neo4j.address import Address, is_exposed
from pkg.graph.neo4j.faults import translate_faults

if TYPE_CHECKING:
    from neo4j import Driver

OLDEST = (5, 23)  # the first with all that cypher.py uses; vector indexes came with 5.13
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 30.0  # for a connection as a whole, where something listens and may not answer
RETRY_SECONDS = 20.0  # how long a transient fault is tried again

AskPassword = Callable[[str], str]


def open_driver(address: Address, ask: AskPassword | None = None) -> Driver:
    """Connect and log in with PKG_NEO4J_USER (neo4j) and PKG_NEO4J_PASSWORD; `ask` is called when that is not set.

    Raises StoreError where the server is down, refuses the log-in, or is too old.
    """
    import neo4j

    logging.getLogger("neo4j").addHandler(logging.NullHandler())  # else Python prints what translate_faults says better
    if is_exposed(address):
        warnings.warn(
            f"{address} is not this machine and the connection is not encrypted: password and code travel in the"
            " clear; use neo4j+s:// or bolt+s://",
            stacklevel=2,
        )
    user = os.environ.get("PKG_NEO4J_USER", "neo4j")
    password = os.environ.get("PKG_NEO4J_PASSWORD") or (ask(f"Password of {user} at {address}") if ask else "")
    driver = neo4j.GraphDatabase.driver(
        address.uri,
        auth=(user, password) if password else None,
        connection_timeout=CONNECT_SECONDS,
        connection_acquisition_timeout=ANSWER_SECONDS,
        max_transaction_retry_time=RETRY_SECONDS,
        notifications_min_severity="OFF",
        user_agent="programming-knowledge-graph",
        telemetry_disabled=True,
    )
    try:
        with translate_faults(address):
            driver.verify_connectivity()
    except BaseException:
        driver.close()
        raise
    return driver


def read_version(text: str) -> tuple[int, ...]:
    """Read a server's version: 5.26.30 -> (5, 26, 30)."""
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def check_version(address: Address, text: str) -> tuple[int, ...]:
    """Refuse a server that is too old."""
    version = read_version(text)
    if version < OLDEST:
        raise StoreVersionError(
            f"{address} is Neo4j {text}; expected {'.'.join(map(str, OLDEST))} or newer (5.26 LTS is tested);"
            " upgrade the server, or use an embedded --store sqlite:///graph.db"
        )
    return version
