"""The write to a Neo4j server: atomic for readers, though a first load takes many transactions.

- The main transaction locks the store's node from begin to end: a second writer waits, and if this process dies, the
  server ends the transaction and releases the lock. Before each batch a statement checks that it still exists.
- A complete source is changed inside the main transaction, whose commit shows all changes at once.
- A source that is loaded for the first time is written in separate transactions, each of whole files or rows. Its state
  is `loading`, and readers ignore its nodes, until the main transaction makes it `ready`. After a killed build the
  loaded part stays hidden, and the next build continues it.
- A removed source is hidden by the main transaction and deleted in batches afterwards, under the lock too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Any

import numpy as np

from pkg.errors import StoreError
from pkg.graph.graph_records import (
    LEAKS,
    Omission,
    describe_change,
    find_generated,
    read_audits,
    replace_leaks,
    write_audits,
)
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
from pkg.graph.neo4j.neo4j_links import cut_links, delete_loose, put_links, put_notes, release_links
from pkg.graph.sqlite_rows import check_replaced
from pkg.model import EMBEDDED_LABELS, Audit, Label, Leak, Source
from pkg.units import GeneratedChange, UnitGraph, UnitLinks, format_id, hash_key

if TYPE_CHECKING:
    import numpy.typing as npt
    from neo4j import Record, Result

    from pkg.graph.neo4j.session import Runner

BATCH_BYTES = 4_000_000  # per message: amortises its costs and fits the server's memory
LINKS_AT_ONCE = 10_000  # NAMES relationships per transaction of a first load
LOADING, READY, DELETING = "loading", "ready", "deleting"

Work = Callable[["Runner"], Any]
RunBatch = Callable[[Work], Any]  # runs work in a separate managed transaction


class Neo4jWriter:
    """Writer that puts units in batches; Neo4jStore begins and ends its main transaction."""

    def __init__(self, main: Runner, run_batch: RunBatch, packed: bool = False) -> None:
        """Start a write inside an open transaction; `packed`: server and driver support vectors as a type."""
        self._main = main
        self._packed = packed
        self._run_batch = run_batch
        self._states: dict[str, str] = {}
        self._before: dict[str, dict[str, Any]] = {}  # properties of sources before the write
        self._units: dict[str, UnitGraph] = {}  # by id, not put yet
        self._size = 0
        self._touched: set[str] = set()  # sources with changed nodes
        self.loaded: set[str] = set()  # sources that become ready with this write
        self.dimension: int | None = None  # of the vectors of a new encoder
        self._replaced = 0  # number of its vectors that were put
        self.deleted: list[str] = []  # sources to delete after this write
        self.changed = False

    def put_source(
        self,
        source: Source,
        fingerprint: str = "",
        skipped: Sequence[Omission] = (),
        stages: Mapping[str, float] | None = None,
    ) -> None:
        """Add or update a source: the fingerprint of its input, its omissions, CPU seconds of each build stage.

        Raise StoreError if it was removed in the same write.
        """
        if source.name in self.deleted:
            raise StoreError(f"source '{source.name}' was removed in this write; build it in another")
        state = self._find_state(source.name)
        shown, notes = describe_source(source), describe_build(fingerprint, skipped, stages)
        before = self._before.get(source.name, {})
        if state == READY:
            self.changed = self.changed or any(before.get(key) != value for key, value in shown.items())
            self._put_source(self._main, shown | notes)
            return
        if before and before["kind"] != source.kind:  # of another root, unchanged content is kept
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
        """Return whether a source is ready or loading; None if there is none."""
        if source not in self._states:
            found = self._main.run(cypher.GET_SOURCE_STATE, id=name_source(source)).single()
            if found is None or found["source"].get("state") == DELETING:
                return None
            self._before[source] = dict(found["source"])
            self._states[source] = found["source"]["state"]
        return self._states[source]

    def _check_source(self, source: str) -> None:
        if source in self.deleted or self._find_state(source) is None:
            raise StoreError(f"no source '{source}' in the store; expected put_source to be called before its files")

    def _run(self, source: str, work: Work) -> Any:
        """Run work in the main transaction for a source that readers see, else in a separate one."""
        if self._states[source] == READY:
            return work(self._main)
        self._main.run(cypher.PING).consume()  # fails if the main transaction, and with it the lock, is lost
        return self._run_batch(work)

    def put_fingerprint(self, source: str, path: str, fingerprint: str) -> None:
        """Store the new fingerprint of a file whose content is unchanged; this alone makes no new generation."""
        self._check_source(source)
        ids = name_units(source, path)
        parameters = {"source": source, "ids": ids, "fingerprint": fingerprint}
        self._run(source, lambda run: run.run(cypher.PUT_FINGERPRINT, **parameters).consume())

    def replace_file(self, unit: UnitGraph) -> None:
        """Replace the file or row at a path of a source."""
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
        """Delete a file or row with all nodes that only it contains."""
        self._check_source(source)
        self.flush()
        ids = name_units(source, path)
        if self._run(source, lambda run: _delete_units(run, ids)):
            self._touch(source)

    def delete_source(self, source: str) -> None:
        """Delete a source with everything in it."""
        self._check_source(source)
        self.flush()
        properties = {"id": name_source(source), "state": DELETING}
        self._put_source(self._main, properties)
        self.deleted.append(source)
        self.loaded.discard(source)
        self._touched.discard(source)
        self.changed = True

    def flush(self) -> None:
        """Put the collected units."""
        if not self._units:
            return
        units, self._units, self._size = list(self._units.values()), {}, 0
        self._run(units[0].source, lambda run: _put_units(run, units, self._packed))

    def missing_names(self, source: str, first: str = "", limit: int = 4096) -> list[str]:
        """Return the sorted function names of a source, from `first` on, without a FunctionName node."""
        self._check_source(source)
        self.flush()
        parameters = {"source": source, "first": first, "limit": limit}
        return [record["name"] for record in self._fetch(source, cypher.MISSING_NAMES, parameters)]

    def put_names(self, source: str, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
        """Add missing FunctionName nodes with their vectors: float16 [dimension] by name."""
        self._check_source(source)
        if not vectors:
            return
        rows = list_vectors(np.stack(list(vectors.values())), self._packed)
        names = [make_name(source, name, row) for name, row in zip(vectors, rows, strict=True)]
        statement = cypher.PUT_PACKED_NAMES if self._packed else cypher.PUT_NAMES
        self._touch(source)
        self._run(source, lambda run: run.run(statement, names=names).consume())

    def put_encoder(self, encoder: str, dimension: int) -> None:
        """Change the encoder; before the write ends, every vector must be replaced by one of the new encoder.

        All of it is in the main transaction: readers see the old vectors until it commits.
        """
        self.deleted += [record["name"] for record in self._main.run(cypher.DROP_LOADING)]
        self._main.run(cypher.CHANGE_ENCODER, encoder=encoder, dimension=dimension).consume()
        self.dimension, self._replaced, self.changed = dimension, 0, True

    def put_vectors(self, label: Label, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
        """Replace the vectors of nodes of a label: float16 [dimension] by id."""
        if not vectors:
            return
        statement = cypher.PUT_PACKED_VECTORS if self._packed else cypher.PUT_VECTORS
        rows = list_vectors(np.stack(list(vectors.values())), self._packed)
        parameters = {"rows": [list(row) for row in zip(vectors, rows, strict=True)]}
        self._replaced += self._main.run(statement.format(label=label.value), **parameters).single(strict=True)["count"]

    def _check_replaced(self) -> None:
        ready = [record["name"] for record in self._main.run(cypher.LIST_READY)]
        total = sum(self._count(label, name) for name in ready for label in EMBEDDED_LABELS)
        check_replaced(self._replaced, total)

    def put_links(self, source: str, links: Iterable[UnitLinks]) -> None:
        """Replace the resolved links of units; their ends must exist when the write ends.

        Links equal to the stored ones, in any order, make no new generation.
        """
        self._check_source(source)
        self.flush()
        for batch in cut_links(links):
            if self._run(source, lambda run: put_links(run, source, batch)):  # noqa: B023
                self._touch(source)

    def put_notes(self, source: str, notes: Mapping[str, bytes]) -> None:
        """Replace the notes of units whose links are unchanged; this alone makes no new generation."""
        self._check_source(source)
        self.flush()
        for batch in cut_links(UnitLinks(path, notes=text) for path, text in notes.items()):
            self._run(source, lambda run: put_notes(run, source, batch))  # noqa: B023

    def put_generated(self, source: str, changes: Iterable[GeneratedChange]) -> None:
        """Set or remove the generated texts of functions, whose ids and links are kept.

        Raise StoreError for an unknown fragment or function.
        """
        self._check_source(source)
        self.flush()
        for batch in cut_changes(changes):
            if self._run(source, lambda run: put_generated(run, source, batch, self._packed)):  # noqa: B023
                self.changed = True

    def put_audit(self, audit: Audit, marks: Mapping[str, Collection[Leak]]) -> None:
        """Replace all marks of the audited benchmark by leaks by node id (A-16).

        Raise StoreError for an unknown node. Only sources that readers see are marked.
        """
        self.flush()
        self.changed = put_audit(self._main, audit, marks) or self.changed

    def finish(self) -> None:
        """Put the remaining units, link or delete function names, and delete unreferenced calls and libraries."""
        self.flush()
        if self.dimension is not None:
            self._check_replaced()
        for source in sorted(self._touched):
            self._finish_names(source)
            self._run(source, lambda run: delete_loose(run, source))  # noqa: B023

    def publish(self) -> None:
        """Make the loaded sources ready, store the node counts of changed ones, and increment the generation."""
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
    """Return the property of a source with the number of its nodes of a label."""
    return f"count_{label.value}"


def delete_nodes(run: Runner, source: str) -> int:
    """Delete a batch of nodes of a source, not the source itself; return how many."""
    for label in (cypher.FRAGMENT, cypher.LINKS, *(each.value for each in cypher.GRAPH_LABELS[1:])):
        found = run.run(cypher.DELETE_SOME.format(label=label), source=source).single(strict=True)
        if found["count"]:
            return int(found["count"])
    return 0


def name_units(source: str, path: str) -> list[str]:
    """Return the ids of a file and of a row at a path."""
    return [format_id(hash_key(source, path, label.value)) for label in cypher.UNIT_LABELS]


def _put_units(run: Runner, units: list[UnitGraph], packed: bool) -> None:
    """Replace the units at their paths."""
    ids = [name_unit(unit) for unit in units]
    gone = _release(run, ids)
    keys = sorted({name_fragment(unit.source, part.key) for unit in units for part in unit.parts})
    found = {record["id"]: record["lacks_terms"] for record in run.run(cypher.FIND_FRAGMENTS, ids=keys)}
    included = ((unit.source, part.key) for unit in units for part in unit.parts if part.fragment is not None)
    old = {key for key in starmap(name_fragment, included) if found.get(key)} - gone.keys()
    stored = found.keys() - gone.keys() - old
    _loosen(run, old)
    batch = Batch(units, stored, packed)
    if batch.missing:
        raise StoreError(f"fragment {batch.missing[0]} is missing in the store; run the build again")
    run.run(cypher.put_batch(bool(gone or old), packed), **batch.parameters()).consume()
    if batch.again:
        run.run(cypher.HOLD_AGAIN, again=batch.again).consume()
    run.run(cypher.CONTAIN_UNITS, source=name_source(units[0].source), ids=ids).consume()
    _delete_gone(run, gone, batch.ids)


def _loosen(run: Runner, fragments: set[str]) -> None:
    """Detach the nodes of fragments of an older version that other rows hold, before they are put again."""
    if fragments:
        tops = run.run(cypher.LIST_TOPS, fragments=sorted(fragments)).single(strict=True)["tops"]
        inside = _by_id(run.run(cypher.RELEASE_INSIDE, tops=tops))
        run.run(cypher.LOOSEN, elements=list(inside.values())).consume()


def _delete_units(run: Runner, ids: list[str]) -> bool:
    gone = _release(run, ids)
    _delete_gone(run, gone, set())
    return bool(gone)


def _release(run: Runner, ids: list[str]) -> dict[str, str]:
    """Detach units; return the unreferenced nodes, including the units: id -> element.

    Nodes are not deleted yet: those whose id is put again keep their other relationships.
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


FUNCTIONS_AT_ONCE = 1_000  # about 3 MB of vectors per message as lists of floats

Row = tuple[str, dict[str, Any], "npt.NDArray[np.float16] | None"]
"""Id of a function, its changed properties, where null removes one, and its new vector [dimension] if it changes."""


def cut_changes(changes: Iterable[GeneratedChange]) -> Iterator[list[GeneratedChange]]:
    """Yield changes in batches by number of functions."""
    batch: list[GeneratedChange] = []
    count = 0
    for each in changes:
        batch.append(each)
        count += len(each.texts)
        if count >= FUNCTIONS_AT_ONCE:
            yield batch
            batch, count = [], 0
    if batch:
        yield batch


def put_generated(run: Runner, source: str, changes: Sequence[GeneratedChange], packed: bool) -> bool:
    """Put a batch; return whether the texts of any function changed.

    Raise StoreError for an unknown fragment or function, and for a function with a docstring in its code.
    """
    fragments = {name_fragment(source, each.key): each for each in changes}
    known = {record["id"] for record in run.run(cypher.FIND_FRAGMENTS, ids=list(fragments))}
    if missing := fragments.keys() - known:
        raise StoreError(f"no fragment {min(missing)} in source '{source}'; run the command again")
    rows = _list_changed(run, fragments.keys() & known, changes)
    if not rows:
        return False
    run.run(cypher.PUT_GENERATED, rows=[[identity, properties] for identity, properties, _ in rows]).consume()
    moved = {identity: vector for identity, _, vector in rows if vector is not None}
    if moved:
        vectors = list_vectors(np.stack(list(moved.values())), packed)
        statement = cypher.PUT_PACKED_VECTORS if packed else cypher.PUT_VECTORS
        parameters = [[identity, vector] for identity, vector in zip(moved, vectors, strict=True)]
        run.run(statement.format(label=Label.FUNCTION.value), rows=parameters).consume()
    run.run(cypher.PUT_TERMS, terms=[[key, each.terms] for key, each in fragments.items()]).consume()
    return True


def _list_changed(run: Runner, fragments: Iterable[str], changes: Sequence[GeneratedChange]) -> list[Row]:
    """Return the functions whose texts change."""
    ids = [identity for each in changes for identity in each.texts]
    found = {
        record["id"]: record["written"]
        for record in run.run(cypher.FIND_GENERATED, ids=ids, fragments=sorted(fragments))
    }
    rows: list[Row] = []
    for each in changes:
        for identity, texts in each.texts.items():
            if identity not in found:
                raise StoreError(f"no function '{identity}' in fragment {each.key:016x}; run the command again")
            before = {name: value for name, value in found[identity].items() if value is not None}
            known, has_own = find_generated(before), before["docstring_source"] == "human"
            changes_of = describe_change(identity, known, texts, has_own)
            if known.docstring is not None and texts.docstring is None:
                changes_of["docstring_source"] = "none"
            if changes_of:
                rows.append((identity, changes_of, each.vectors.get(identity)))
    return rows


NODES_AT_ONCE = 5_000  # about 500 kB per message


def put_audit(run: Runner, audit: Audit, marks: Mapping[str, Collection[Leak]]) -> bool:
    """Replace the marks of a benchmark and its audit; return whether anything changed.

    Raise StoreError for an unknown node.
    """
    before = {record["id"]: list(record["leaks"]) for record in run.run(cypher.LIST_MARKED)}
    rows: list[tuple[str, list[str] | None]] = []
    for identity in sorted(before.keys() | marks.keys()):
        known = before.get(identity, [])
        texts = replace_leaks({LEAKS: known}, audit.benchmark, marks.get(identity, ()))
        if texts != known:
            rows.append((identity, texts or None))  # null removes a property
    for start in range(0, len(rows), NODES_AT_ONCE):
        some = [list(row) for row in rows[start : start + NODES_AT_ONCE]]
        found = run.run(cypher.PUT_LEAKS, rows=some).single(strict=True)["count"]
        if found != len(some):
            raise StoreError(
                f"{len(some) - found:,} of {len(some):,} nodes are missing in the store; run the command again"
            )
    (kept,) = [record["audits"] for record in run.run(cypher.GET_AUDITS)]
    written = write_audits(read_audits(kept), audit)
    if written != kept:
        run.run(cypher.PUT_AUDITS, audits=written).consume()
    return bool(rows) or written != kept
