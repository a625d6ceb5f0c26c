"""A Neo4j that answers: its address, who may enter, waiting for it and emptying it."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from neo4j import Driver

START_PATIENCE = 120  # seconds; four suffice on an idle machine
ATTEMPT_PATIENCE = 5  # seconds for one question; whoever took the port may accept it and stay silent
DELETE_ALL = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"
LIST_CONSTRAINTS = "SHOW CONSTRAINTS YIELD name"
LIST_INDEXES = "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'"  # those two come with every database
DROP_CONSTRAINT = "DROP CONSTRAINT `{}`"
DROP_INDEX = "DROP INDEX `{}`"


@dataclass
class Server:
    """A running Neo4j: where it answers and who may enter."""

    version: str
    uri: str
    http: str
    user: str = "neo4j"
    password: str = field(default="", repr=False)

    def connect(self, patience: float = 60) -> Driver:
        """Open a driver that waits so many seconds for a connection; close it after use."""
        from neo4j import GraphDatabase

        return GraphDatabase.driver(self.uri, auth=(self.user, self.password), connection_acquisition_timeout=patience)


def await_answer(server: Server, is_running: Callable[[], bool] = lambda: True) -> str:
    """Ask until an answer comes, as long as the server runs; give the last problem when none comes, else nothing."""
    from neo4j.exceptions import AuthError, DriverError, Neo4jError

    deadline, problem = time.monotonic() + START_PATIENCE, f"no connection to {server.uri}"
    while time.monotonic() < deadline and is_running():
        if accepts_connections(server.uri):
            try:
                with server.connect(ATTEMPT_PATIENCE) as driver, driver.session() as session:
                    session.run("RETURN 1").consume()
                return ""
            except AuthError as error:  # asking again would only lock the user out
                return str(error)
            except (DriverError, Neo4jError) as error:
                problem = str(error)
        time.sleep(0.05)
    return problem


def accepts_connections(uri: str) -> bool:
    """Tell whether something listens at an address; a refusal here is cheaper than one through the driver."""
    address = urlsplit(uri)
    try:
        socket.create_connection((address.hostname or "", address.port or 7687), timeout=1).close()
    except OSError:
        return False
    return True


def empty_database(driver: Driver, drop_schema: bool = False) -> None:
    """Delete every node and relationship, in batches; indexes and constraints only when asked."""
    with driver.session() as session:
        session.run(DELETE_ALL).consume()
        if drop_schema:
            for listing, drop in ((LIST_CONSTRAINTS, DROP_CONSTRAINT), (LIST_INDEXES, DROP_INDEX)):
                for name in session.run(listing).value("name"):
                    session.run(drop.format(name.replace("`", "``"))).consume()  # a constraint takes its index along
