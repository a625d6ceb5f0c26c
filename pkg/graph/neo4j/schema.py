"""Constraints and indexes of a graph on a server: creation, repair, and the wait for their population."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from pkg.errors import StoreError
from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.faults import translate_faults
from pkg.model import EMBEDDED_LABELS, Label

if TYPE_CHECKING:
    from neo4j import Driver, Record

    from pkg.graph.neo4j.address import Address
    from pkg.graph.neo4j.session import Reader

INDEX_STEP = 0.2  # seconds between polls of an index

WatchIndex = Callable[[str, float], None]  # name of an index, percentage populated


class Schema:
    """Constraints and indexes of a database; each statement needs a separate transaction."""

    def __init__(self, driver: Driver, address: Address, reader: Reader, watch: WatchIndex | None) -> None:
        self._driver = driver
        self._address = address
        self._reader = reader
        self._watch = watch

    def create(self, is_new: bool) -> None:
        """Create all constraints and indexes except those of vectors; drop them again if this fails for a new graph."""
        try:
            self._run(cypher.list_schema())
        except StoreError:
            if is_new:  # nodes or indexes of others conflict
                self._drop_all(cypher.SHOW_CONSTRAINTS, cypher.DROP_CONSTRAINT)
                self._drop_all(cypher.SHOW_INDEXES, cypher.DROP_INDEX)
            raise

    def upgrade(self, version: int) -> None:
        """Upgrade a graph of an older version to the current one."""
        self._run((*(cypher.UPGRADE if version < 4 else ()), *cypher.list_schema(), *cypher.UPGRADE_4))

    def _drop_all(self, listing: str, drop: str) -> None:
        self._run(drop.format(name=row["name"]) for row in self._reader.run(listing))

    def _run(self, statements: Iterable[str]) -> None:
        with translate_faults(self._address), self._driver.session(database=self._address.database) as session:
            for statement in statements:
                session.run(statement).consume()

    def complete_vectors(self, dimension: int, has_filters: bool) -> None:
        """Create vector indexes that are missing, failed or of another dimension, and wait until all are populated."""
        found = {row["name"]: row for row in self._reader.run(cypher.SHOW_VECTOR_INDEXES)}
        create = cypher.CREATE_FILTERED_INDEX if has_filters else cypher.CREATE_VECTOR_INDEX
        for label in EMBEDDED_LABELS:
            name = cypher.name_vector_index(label)
            if name in found and (found[name]["dimension"] != dimension or found[name]["state"] == "FAILED"):
                self._run([cypher.DROP_INDEX.format(name=name)])
                del found[name]
            if name not in found:
                self._run([create.format(name=name, label=label.value, dimension=dimension)])
        self._await_vectors()

    def _await_vectors(self) -> None:
        while True:
            rows = {row["name"]: row for row in self._reader.run(cypher.SHOW_VECTOR_INDEXES)}
            for label in EMBEDDED_LABELS:
                self._check_vector_index(label, rows.get(cypher.name_vector_index(label)))
            waiting = [row for row in rows.values() if row["state"] != "ONLINE"]
            if not waiting:
                return
            if self._watch is not None:
                self._watch(waiting[0]["name"], waiting[0]["percent"])
            time.sleep(INDEX_STEP)

    def _check_vector_index(self, label: Label, row: Record | None) -> None:
        name = cypher.name_vector_index(label)
        if row is None:
            raise StoreError(
                f"{self._address} has another vector index on the embedding of {label.value} nodes, so that '{name}'"
                " cannot be made; drop the other one, or use another database"
            )
        if row["state"] == "FAILED":
            raise StoreError(
                f"{self._address} could not fill the vector index '{name}' ({row['failure']}); see the logs of the"
                " server and its disk, then run the same again"
            )
