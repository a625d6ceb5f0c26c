"""The lock of a write, and the marks around its commit.

The main transaction locks the store's node: its end, including the death of its process, releases the lock. The server
does not apply a commit atomically, so a writer increments a counter before and after it, each time in a separate
transaction. An odd or changed number tells readers of the commit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pkg.errors import StoreError, StoreLockedError
from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.faults import translate_faults, was_ended

if TYPE_CHECKING:
    from neo4j import Driver, Transaction

    from pkg.graph.neo4j.address import Address

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
