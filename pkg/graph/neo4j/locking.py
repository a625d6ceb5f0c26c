"""The lock that a write holds from its first moment to its last, and the marks around its commit.

The lock is that of the store's node, held by the main transaction: whatever ends that transaction, the death of its
process too, gives the lock back. The server applies a commit step by step; so a writer counts up before it and after
it, each in a transaction of its own. Where the number is odd, or another than before, a reader knows of the commit.
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

LOCK_SECONDS = 5.0  # how long to wait for another writer before saying that the store is locked

PutMark = Callable[[int], None]


@contextmanager
def hold_lock(driver: Driver, address: Address) -> Iterator[Transaction]:
    """Give the main transaction, which holds the lock of the store to its end; undo it unless it was committed.

    Raises StoreLockedError where another process holds the lock for longer than LOCK_SECONDS.
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
            with suppress(DriverError, Neo4jError):  # it ended with its connection, or the server ended it
                main.close()


def _await_lock(driver: Driver, address: Address) -> None:
    """Take the lock in a transaction that the server ends when it waits for too long, and give it back."""
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

    Where the connection is lost, nobody knows whether and when the server commits: the mark stays, and readers wait
    until it is too old to be believed.
    """
    from neo4j.exceptions import Neo4jError

    put_mark(number + 1)
    try:
        main.commit()
    except Neo4jError:
        put_mark(number + 2)
        raise
    with suppress(StoreError):  # the graph is written; a mark that stays is passed over in time
        put_mark(number + 2)


def clear_stale_mark(number: int, put_mark: PutMark) -> int:
    """Take away the mark of a writer that died; who holds the lock knows that nobody else commits."""
    if number % 2:
        put_mark(number + 1)
    return number + number % 2
