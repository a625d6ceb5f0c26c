"""The write to a Neo4j server: all or nothing for whoever reads, though a first load takes many transactions.

- The main transaction locks the store's node from the first moment to the last: a second writer waits, and where this
  process dies the server ends the transaction and with it the lock. It is asked before each batch whether it is there.
- A source that is complete is changed inside the main transaction, so that its commit shows everything at once.
- A source that is loaded for the first time is written in batches of their own, each whole files or rows. Its state is
  `loading`, and no reader shows the nodes of such a source, until the main transaction makes it `ready`. What a
  build that died has loaded stays hidden, and the next build of the source goes on from there.
- A source that is removed is hidden by the main transaction and deleted in batches afterwards, under the lock too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pkg.errors import StoreError
from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.batches import (
    Batch,
    describe_build,
    describe_source,
    list_vectors,
    make_name,
    measure_unit,
    name_fragment,
    name_source,
    name_unit,
)
from pkg.graph.neo4j.neo4j_audits import put_audit
from pkg.graph.neo4j.neo4j_docstrings import cut_changes, put_docstrings
from pkg.graph.neo4j.neo4j_links import cut_links, delete_loose, put_links, put_notes, release_links
from pkg.graph.omissions import Omission
from pkg.graph.sqlite_rows import check_replaced
from pkg.model import EMBEDDED_LABELS, Audit, Label, Leak, Source
from pkg.units import DocstringChange, UnitGraph, UnitLinks, format_id, hash_key

if TYPE_CHECKING:
    import numpy.typing as npt
    from neo4j import Record, Result

    from pkg.graph.neo4j.session import Runner

BATCH_BYTES = 4_000_000  # of one message: enough to spread its costs, little enough for the server's memory
LINKS_AT_ONCE = 10_000  # NAMES relationships made in one transaction of a first load
LOADING, READY, DELETING = "loading", "ready", "deleting"

Work = Callable[["Runner"], Any]
RunBatch = Callable[[Work], Any]  # runs work in a managed transaction of its own


class Neo4jWriter:
    """Collect units and put them in batches; Neo4jStore opens and ends the main transaction around it."""

    def __init__(self, main: Runner, run_batch: RunBatch, packed: bool = False) -> None:
        """Start a write inside an open transaction.

        `packed` says that the server and the driver know vectors as a type, in which they travel fastest.
        """
        self._main = main
        self._packed = packed
        self._run_batch = run_batch
        self._states: dict[str, str] = {}
        self._before: dict[str, dict[str, Any]] = {}  # sources as they were
        self._units: dict[str, UnitGraph] = {}  # by id, not put yet
        self._size = 0
        self._touched: set[str] = set()  # sources whose nodes have changed
        self.loaded: set[str] = set()  # sources that become ready with this write
        self.dimension: int | None = None  # of the vectors of a new encoder
        self._replaced = 0  # vectors of it that were put
        self.deleted: list[str] = []  # sources to delete when this write has ended
        self.changed = False

    def put_source(
        self,
        source: Source,
        fingerprint: str = "",
        skipped: Sequence[Omission] = (),
        stages: Mapping[str, float] | None = None,
    ) -> None:
        """Add or update a source: the fingerprint of its input, what was left out, CPU seconds of each build stage.

        A StoreError where it was removed in the same write.
        """
        if source.name in self.deleted:
            raise StoreError(f"source '{source.name}' was removed in this very write; build it in another")
        state = self._find_state(source.name)
        shown, notes = describe_source(source), describe_build(fingerprint, skipped, stages)
        before = self._before.get(source.name, {})
        if state == READY:
            self.changed = self.changed or any(before.get(key) != value for key, value in shown.items())
            self._put_source(self._main, shown | notes)
            return
        if before and before["kind"] != source.kind:  # of another root, what has the same content is kept
            while self._run_batch(lambda run: delete_nodes(run, source.name)):
                pass
        self.changed = True
        self.loaded.add(source.name)
        self._states[source.name] = LOADING
        self._before[source.name] = shown
        self._run_batch(lambda run: self._put_source(run, shown | notes | {"state": LOADING}))

    def _put_source(self, run: Runner, properties: dict[str, Any]) -> None:
        run.run(cypher.PUT_SOURCE, id=properties["id"], properties=properties).consume()

    def _find_state(self, source: str) -> str | None:
        """Tell whether a source is ready or loading; None when there is none."""
        if source not in self._states:
            found = self._main.run(cypher.GET_SOURCE_STATE, id=name_source(source)).single()
            if found is None or found["source"].get("state") == DELETING:
                return None
            self._before[source] = dict(found["source"])
            self._states[source] = found["source"]["state"]
        return self._states[source]

    def _check_source(self, source: str) -> None:
        if source in self.deleted or self._find_state(source) is None:
            raise StoreError(f"no source '{source}' in the store; expected put_source before its files")

    def _run(self, source: str, work: Work) -> Any:
        """Run work where it belongs: in the main transaction for a source that readers see, else in its own."""
        if self._states[source] == READY:
            return work(self._main)
        self._main.run(cypher.PING).consume()  # fails where the main transaction, and with it the lock, is lost
        return self._run_batch(work)

    def put_fingerprint(self, source: str, path: str, fingerprint: str) -> None:
        """Note that a file was touched though its content is the same; this alone makes no new generation."""
        self._check_source(source)
        ids = name_units(source, path)
        parameters = {"source": source, "ids": ids, "fingerprint": fingerprint}
        self._run(source, lambda run: run.run(cypher.PUT_FINGERPRINT, **parameters).consume())

    def replace_file(self, unit: UnitGraph) -> None:
        """Put one file or row in the place of what the source held at its path."""
        self._check_source(unit.source)
        identity = name_unit(unit)
        if identity in self._units or any(other.source != unit.source for other in self._units.values()):
            self.flush()
        self._units[identity] = unit
        self._size += measure_unit(unit)
        self._touch(unit.source)
        if self._size >= BATCH_BYTES:
            self.flush()

    def _touch(self, source: str) -> None:
        self._touched.add(source)
        self.changed = True

    def delete_file(self, source: str, path: str) -> None:
        """Remove one file or row and all that only it contains."""
        self._check_source(source)
        self.flush()
        ids = name_units(source, path)
        if self._run(source, lambda run: _delete_units(run, ids)):
            self._touch(source)

    def delete_source(self, source: str) -> None:
        """Remove a source with everything in it."""
        self._check_source(source)
        self.flush()
        properties = {"id": name_source(source), "state": DELETING}
        self._put_source(self._main, properties)
        self.deleted.append(source)
        self.loaded.discard(source)
        self._touched.discard(source)
        self.changed = True

    def flush(self) -> None:
        """Put the units that are still in memory."""
        if not self._units:
            return
        units, self._units, self._size = list(self._units.values()), {}, 0
        self._run(units[0].source, lambda run: _put_units(run, units, self._packed))

    def missing_names(self, source: str, first: str = "", limit: int = 4096) -> list[str]:
        """List function names of a source, from `first` on, that have no FunctionName node yet, in their order."""
        self._check_source(source)
        self.flush()
        parameters = {"source": source, "first": first, "limit": limit}
        return [record["name"] for record in self._fetch(source, cypher.MISSING_NAMES, parameters)]

    def put_names(self, source: str, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
        """Add the FunctionName nodes that are missing, with their vectors.

        vectors: by name, each float16 [dimension].
        """
        self._check_source(source)
        if not vectors:
            return
        rows = list_vectors(np.stack(list(vectors.values())), self._packed)
        names = [make_name(source, name, row) for name, row in zip(vectors, rows, strict=True)]
        statement = cypher.PUT_PACKED_NAMES if self._packed else cypher.PUT_NAMES
        self._touch(source)
        self._run(source, lambda run: run.run(statement, names=names).consume())

    def put_encoder(self, encoder: str, dimension: int) -> None:
        """Name another encoder; by the end of the write every node with a vector must get one of it.

        All of it is in the main transaction, as a change of a source is: what is there is seen until it commits.
        """
        self.deleted += [record["name"] for record in self._main.run(cypher.DROP_LOADING)]
        self._main.run(cypher.CHANGE_ENCODER, encoder=encoder, dimension=dimension).consume()
        self.dimension, self._replaced, self.changed = dimension, 0, True

    def put_vectors(self, label: Label, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
        """Put the vectors of nodes of a label, by id, in the place of those that they have.

        vectors: each float16 [dimension].
        """
        if not vectors:
            return
        statement = cypher.PUT_PACKED_VECTORS if self._packed else cypher.PUT_VECTORS
        rows = list_vectors(np.stack(list(vectors.values())), self._packed)
        parameters = {"rows": [list(row) for row in zip(vectors, rows, strict=True)]}
        self._replaced += self._main.run(statement.format(label=label.value), **parameters).single(strict=True)["count"]

    def _check_replaced(self) -> None:
        """Refuse to end with vectors of two encoders."""
        ready = [record["name"] for record in self._main.run(cypher.LIST_READY)]
        total = sum(self._count(label, name) for name in ready for label in EMBEDDED_LABELS)
        check_replaced(self._replaced, total)

    def put_links(self, source: str, links: Iterable[UnitLinks]) -> None:
        """Put what units refer to in the place of what was resolved for them before; all ends exist by the end.

        Links that are equal to what is stored, in whatever order, make no new generation.
        """
        self._check_source(source)
        self.flush()
        for batch in cut_links(links):
            if self._run(source, lambda run: put_links(run, source, batch)):  # noqa: B023
                self._touch(source)

    def put_notes(self, source: str, notes: Mapping[str, bytes]) -> None:
        """Put notes of units whose links were put before and stay as they are; this alone makes no new generation."""
        self._check_source(source)
        self.flush()
        for batch in cut_links(UnitLinks(path, notes=text) for path, text in notes.items()):
            self._run(source, lambda run: put_notes(run, source, batch))  # noqa: B023

    def put_docstrings(self, source: str, changes: Iterable[DocstringChange]) -> None:
        """Let functions have docstrings that were written for them, or none any more; their ids and links stay.

        A StoreError names a fragment or a function that the store does not have.
        """
        self._check_source(source)
        self.flush()
        for batch in cut_changes(changes):
            if self._run(source, lambda run: put_docstrings(run, source, batch, self._packed)):  # noqa: B023
                self.changed = True

    def put_audit(self, audit: Audit, marks: Mapping[str, Collection[Leak]]) -> None:
        """Mark what shows leaked code in the place of all marks of the benchmark that was audited (A-16).

        A StoreError where the store does not have a node. Only sources that readers see are marked.
        """
        self.flush()
        self.changed = put_audit(self._main, audit, marks) or self.changed

    def finish(self) -> None:
        """Put what is left, link or delete function names, and delete calls and libraries that nothing refers to."""
        self.flush()
        if self.dimension is not None:
            self._check_replaced()
        for source in sorted(self._touched):
            self._finish_names(source)
            self._run(source, lambda run: delete_loose(run, source))  # noqa: B023

    def publish(self) -> None:
        """Make the loaded sources ready, count what the changed ones hold, and raise the generation."""
        for source in sorted(self._touched | self.loaded):
            counts = {count_key(label): self._count(label, source) for label in cypher.GRAPH_LABELS[1:]}
            self._put_source(self._main, {"id": name_source(source), "state": READY} | counts)
        if self.changed:
            self._main.run(cypher.RAISE_GENERATION).consume()

    def _count(self, label: Label, source: str) -> int:
        found = self._main.run(cypher.COUNT_OF_SOURCE.format(label=label.value), source=source).single(strict=True)
        return int(found["count"])

    def _finish_names(self, source: str) -> None:
        limit = {"source": source, "limit": LINKS_AT_ONCE}
        while self._fetch(source, cypher.LINK_NAMES, limit)[0]["count"] == LINKS_AT_ONCE:
            pass
        self._run(source, lambda run: run.run(cypher.DELETE_ORPHAN_NAMES, source=source).consume())

    def _fetch(self, source: str, statement: str, parameters: dict[str, Any]) -> list[Record]:
        found: list[Record] = self._run(source, lambda run: list(run.run(statement, **parameters)))
        return found


def count_key(label: Label) -> str:
    """Name the property of a source that counts its nodes of a label."""
    return f"count_{label.value}"


def delete_nodes(run: Runner, source: str) -> int:
    """Delete some thousand nodes of a source, the source itself not; give how many."""
    for label in (cypher.FRAGMENT, cypher.LINKS, *(each.value for each in cypher.GRAPH_LABELS[1:])):
        found = run.run(cypher.DELETE_SOME.format(label=label), source=source).single(strict=True)
        if found["count"]:
            return int(found["count"])
    return 0


def name_units(source: str, path: str) -> list[str]:
    """Give the ids that a file or a row at a path has."""
    return [format_id(hash_key(source, path, label.value)) for label in cypher.UNIT_LABELS]


def _put_units(run: Runner, units: list[UnitGraph], packed: bool) -> None:
    """Put whole units in the place of what stood at their paths."""
    ids = [name_unit(unit) for unit in units]
    gone = _release(run, ids)
    keys = sorted({name_fragment(unit.source, part.key) for unit in units for part in unit.parts})
    found = {record["id"]: record["lacks_terms"] for record in run.run(cypher.FIND_FRAGMENTS, ids=keys)}
    old = {key for key in _list_brought(units) if found.get(key)} - gone.keys()
    stored = found.keys() - gone.keys() - old
    _loosen(run, old)
    batch = Batch(units, stored, packed)
    if batch.missing:
        raise StoreError(f"fragment {batch.missing[0]} was announced as stored, and is not; run the build again")
    run.run(cypher.put_batch(bool(gone or old), packed), **batch.parameters()).consume()
    if batch.again:
        run.run(cypher.HOLD_AGAIN, again=batch.again).consume()
    run.run(cypher.CONTAIN_UNITS, source=name_source(units[0].source), ids=ids).consume()
    _delete_gone(run, gone, batch.ids)


def _list_brought(units: list[UnitGraph]) -> set[str]:
    """List the fragments that units bring with them."""
    return {name_fragment(unit.source, part.key) for unit in units for part in unit.parts if part.fragment is not None}


def _loosen(run: Runner, fragments: set[str]) -> None:
    """Take fragments of an older version apart, which other rows still hold: their nodes are about to be put anew."""
    if fragments:
        tops = run.run(cypher.LIST_TOPS, fragments=sorted(fragments)).single(strict=True)["tops"]
        inside = _by_id(run.run(cypher.RELEASE_INSIDE, tops=tops))
        run.run(cypher.LOOSEN, elements=list(inside.values())).consume()


def _delete_units(run: Runner, ids: list[str]) -> bool:
    gone = _release(run, ids)
    _delete_gone(run, gone, set())
    return bool(gone)


def _release(run: Runner, ids: list[str]) -> dict[str, str]:
    """Take units apart and give what nothing holds any more, the units among them: id -> element.

    Nodes are kept for now: those whose id comes again keep their other relationships.
    """
    units = [record["unit"] for record in run.run(cypher.FIND_UNITS, ids=ids)]
    if not units:
        return {}
    release_links(run, units, ids)
    fragments = _by_id(run.run(cypher.RELEASE_FRAGMENTS, units=units))
    tops = run.run(cypher.RELEASE_TOPS, units=units, fragments=list(fragments)).single(strict=True)["tops"]
    inside = _by_id(run.run(cypher.RELEASE_INSIDE, tops=tops))
    run.run(cypher.LOOSEN, elements=list(inside.values())).consume()
    return fragments | inside | _by_id(run.run(cypher.GET_IDS, elements=units))


def _by_id(result: Result) -> dict[str, str]:
    return dict(result.single(strict=True)["found"])


def _delete_gone(run: Runner, gone: dict[str, str], kept: set[str]) -> None:
    elements = [element for identity, element in gone.items() if identity not in kept]
    for statement in (cypher.CLEAR_ELEMENTS, cypher.DELETE_ELEMENTS) if elements else ():
        run.run(statement, elements=elements).consume()
