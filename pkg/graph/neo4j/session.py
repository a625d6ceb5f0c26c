"""Connect to a Neo4j server, run statements, read one generation of the graph, and lock it for a write.

The main transaction of a write locks the store's node: its end, including the death of its process, releases the lock.
The server does not apply a commit atomically, so a writer increments a counter before and after it, each time in a
separate transaction. An odd or changed number tells readers of the commit.
"""

from __future__ import annotations

import logging
import os
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pkg.errors import NodeNotFoundError, StoreChangedError, StoreError, StoreLockedError, StoreVersionError
from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.address import Address, is_exposed
from pkg.graph.neo4j.faults import translate_faults, was_ended

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction, Record, Result, Session, Transaction


class Runner:
    """Run statements in a transaction or session.

    The driver formats all parameters for its log even if logging is off, which for a list of vectors takes ten times as
    long as sending it. And analysed code must not be logged.
    """

    def __init__(self, inner: ManagedTransaction | Transaction | Session) -> None:
        self._inner = inner

    def run(self, statement: str, /, **parameters: Any) -> Result:
        """Send a statement; parameters that are lists are not logged."""
        hidden = {name: _Unlogged(each) if isinstance(each, list) else each for name, each in parameters.items()}
        return self._inner.run(statement, hidden)


class _Unlogged(list[Any]):
    """A list whose representation is its length."""

    def __repr__(self) -> str:
        return f"[{len(self)} items]"


OLDEST_VERSION = (5, 23)  # supports all of cypher.py
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 30.0  # limit of a connection to a port that does not answer
RETRY_SECONDS = 20.0  # limit of retries of transient faults

AskPassword = Callable[[str], str]


def open_driver(address: Address, ask: AskPassword | None = None) -> Driver:
    """Connect and log in with PKG_NEO4J_USER (neo4j) and PKG_NEO4J_PASSWORD; if that is not set, call `ask`.

    Raise StoreError if the server is down or refuses the log-in.
    """
    import neo4j

    logging.getLogger("neo4j").addHandler(logging.NullHandler())  # translate_faults reports them better
    if is_exposed(address):
        warnings.warn(
            f"{address} is not this machine and the connection is not encrypted: password and code are sent in"
            " plain text; use neo4j+s:// or bolt+s://",
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


def parse_version(text: str) -> tuple[int, ...]:
    """Parse a server's version: 5.26.30 -> (5, 26, 30)."""
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def check_version(address: Address, text: str) -> tuple[int, ...]:
    """Parse a server's version; raise StoreVersionError if it is too old."""
    version = parse_version(text)
    if version < OLDEST_VERSION:
        raise StoreVersionError(
            f"{address} is Neo4j {text}; expected {'.'.join(map(str, OLDEST_VERSION))} or newer (5.26 LTS is tested);"
            " upgrade the server, or use an embedded --store sqlite:///graph.db"
        )
    return version


COMMIT_SECONDS = 30.0  # age at which the mark of a commit expires: a killed writer does not clear it
_STEP = 0.02


@dataclass(frozen=True, slots=True)
class View:
    """Metadata of the generation being read."""

    generation: int
    number: int  # of the last commit; odd during a commit
    encoder: str
    dimension: int
    sources: dict[str, dict[str, Any]]  # properties of complete sources
    version: int  # of the schema
    stamp: str  # identifies this generation; "" if an older PKG wrote it

    @property
    def ready(self) -> list[str]:
        """Return the sorted names of complete sources; nodes of others are not shown."""
        return sorted(self.sources)


class Reader:
    """Reader in read-only sessions, with one view during a snapshot."""

    def __init__(self, driver: Driver, address: Address) -> None:
        self._driver = driver
        self._address = address
        self._view: View | None = None
        self._transaction: Transaction | None = None  # of the snapshot
        self._elements: dict[str, str] = {}  # element ids of nodes seen in the snapshot, by id

    def _open(self) -> Session:
        return self._driver.session(database=self._address.database, default_access_mode="READ")

    def run(self, statement: str, **parameters: Any) -> list[Record]:
        """Run a statement in the transaction of the snapshot, else in a transaction that retries transient faults."""
        return self.send(statement, **parameters)()

    def send(self, statement: str, **parameters: Any) -> Callable[[], list[Record]]:
        """Send a statement; return a function that waits for its records.

        Outside a snapshot this waits itself.
        """
        with translate_faults(self._address):
            if self._transaction is not None:
                return partial(self._receive, Runner(self._transaction).run(statement, **parameters))
            with self._open() as session:
                found = session.execute_read(_fetch, statement, parameters)
        return lambda: found

    def _receive(self, result: Result) -> list[Record]:
        with translate_faults(self._address):
            return list(result)

    def stream(self, statement: str, **parameters: Any) -> Iterator[Record]:
        """Run a statement and yield its records as they arrive."""
        with translate_faults(self._address), self._open() as session:
            yield from Runner(session).run(statement, **parameters)

    @property
    def view(self) -> View:
        """Return the view of the snapshot, or the current one."""
        return self._view or self._load_view()

    def snapshot(self) -> AbstractContextManager[View]:
        """Read one generation in the block; raise StoreChangedError at its end if a write ended meanwhile.

        Neo4j isolates statements, not transactions, so the number of the last commit is compared at the end. The
        transaction of a snapshot only saves the round trips of one transaction per statement.
        """
        return self._begin_snapshot() if self._view is None else nullcontext(self._view)

    @contextmanager
    def _begin_snapshot(self) -> Iterator[View]:
        with self._open() as session:
            with translate_faults(self._address):
                self._transaction = session.begin_transaction()
            try:
                self._view = view = self._load_view()
                try:
                    yield view
                except NodeNotFoundError:
                    self._check_unchanged(view)  # a write may have deleted the node meanwhile
                    raise
                self._check_unchanged(view)
            finally:
                self._end_snapshot()

    def _end_snapshot(self) -> None:
        from neo4j.exceptions import DriverError, Neo4jError

        transaction, self._transaction, self._view = self._transaction, None, None
        self._elements.clear()
        if transaction is not None:
            with suppress(DriverError, Neo4jError):  # its connection is lost, or the server terminated it
                transaction.close()

    def remember_elements(self, found: Iterable[list[Any]]) -> list[list[Any]]:
        """Cache the element id and id of nodes, the first two items of each list; return the remaining items."""
        listed = list(found)
        if self._view is not None:
            self._elements.update((identity, element) for element, identity, *_ in listed)
        return [rest for _, *rest in listed]

    def make_id_parameters(self, ids: Iterable[str]) -> dict[str, list[str]]:
        """Return the parameters that select nodes: by element id, which is faster, where the snapshot has it."""
        wanted = sorted(set(ids))
        elements = [self._elements[each] for each in wanted if each in self._elements]
        return {"elements": elements, "ids": [each for each in wanted if each not in self._elements]}

    def _check_unchanged(self, view: View) -> None:
        found = self.run(cypher.GET_STAMP)[0]
        if (found["generation"] or 0, found["number"]) != (view.generation, view.number):
            raise StoreChangedError(f"a write ended while {self._address} was read; try again to see the new graph")

    def _load_view(self) -> View:
        found = self.run(cypher.GET_VIEW)[0]
        while found["number"] % 2 and found["age"] < COMMIT_SECONDS:
            time.sleep(_STEP)
            found = self.run(cypher.GET_VIEW)[0]
        sources = {source["name"]: source for source in found["sources"]}
        stated = found["generation"] or 0, found["number"], found["encoder"] or "", found["dimension"] or 0
        return View(*stated, sources, found["version"] or 0, found["stamp"] or "")


def _fetch(transaction: ManagedTransaction, statement: str, parameters: dict[str, Any]) -> list[Record]:
    return list(Runner(transaction).run(statement, **parameters))


LOCK_SECONDS = 5.0  # timeout of a wait for another writer

PutMark = Callable[[int], None]


@contextmanager
def hold_lock(driver: Driver, address: Address) -> Iterator[Transaction]:
    """Yield the main transaction, which holds the lock of the store; roll it back unless it was committed.

    Raise StoreLockedError if another process holds the lock for longer than LOCK_SECONDS.
    """
    from neo4j.exceptions import DriverError, Neo4jError

    with driver.session(database=address.database) as session:
        with translate_faults(address, is_writing=True):
            _await_lock(driver, address)
            main = session.begin_transaction()
            _lock(main)
        try:
            yield main
        finally:
            with suppress(DriverError, Neo4jError):  # its connection is lost, or the server terminated it
                main.close()


def _await_lock(driver: Driver, address: Address) -> None:
    """Take and release the lock in a transaction with a timeout on the server."""
    from neo4j.exceptions import Neo4jError

    with driver.session(database=address.database) as session:
        try:
            with session.begin_transaction(timeout=LOCK_SECONDS) as probe:
                _lock(probe)
        except Neo4jError as fault:
            if not was_ended(fault):
                raise
            raise StoreLockedError(
                f"another process is writing {address}; wait for it to end, then try again"
            ) from fault


def _lock(transaction: Transaction) -> None:
    transaction.run(cypher.LOCK_STORE, writer=f"process {os.getpid()}").consume()


def commit_between_marks(main: Transaction, number: int, put_mark: PutMark) -> None:
    """Commit; `number` is the last mark, and put_mark writes the next ones.

    If the connection is lost, the outcome of the commit is unknown: the mark stays, and readers wait until it expires.
    """
    from neo4j.exceptions import Neo4jError

    put_mark(number + 1)
    try:
        main.commit()
    except Neo4jError:
        put_mark(number + 2)
        raise
    with suppress(StoreError):  # the graph is written; the mark expires
        put_mark(number + 2)


def clear_stale_mark(number: int, put_mark: PutMark) -> int:
    """Clear the mark of a killed writer, as the holder of the lock; return the new number."""
    if number % 2:
        put_mark(number + 1)
    return number + number % 2
