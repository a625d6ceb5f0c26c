"""Write a graph as CSV files for `neo4j-admin database import`, which loads a big graph many times faster (P-10).

The nodes and their properties are those of the online write, because both come from the same Batch. Memory stays
bounded: what later units refer to (fragments that were written, names of functions) is kept in a file without a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn
from uuid import uuid4

from pkg.errors import StoreError
from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.batches import (
    Batch,
    Properties,
    describe_build,
    describe_source,
    make_library,
    make_name,
    name_fragment,
    name_source,
    name_unit,
)
from pkg.graph.neo4j.csv_files import CsvFiles, Relation
from pkg.graph.neo4j.links import make_call
from pkg.graph.neo4j.writing import READY, count_key
from pkg.model import Label, RelationType, Skip, Source
from pkg.scratch import open_scratch
from pkg.units import UnitGraph, UnitLinks

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ROWS_AT_ONCE = 10_000  # relationships from the file of names that are in memory together

_CREATE = """
    CREATE TABLE top (fragment TEXT, id TEXT, kind TEXT, line INTEGER, PRIMARY KEY (fragment, id)) WITHOUT ROWID;
    CREATE TABLE held (fragment TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE function (source TEXT, name TEXT, id TEXT, PRIMARY KEY (source, name, id)) WITHOUT ROWID;
    CREATE TABLE unit (source TEXT, path TEXT, id TEXT, label TEXT, PRIMARY KEY (source, path)) WITHOUT ROWID;
    CREATE TABLE target (id TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE name (source TEXT, name TEXT, id TEXT, PRIMARY KEY (source, name)) WITHOUT ROWID;
"""
_PUT_TOP = "INSERT OR IGNORE INTO top VALUES (?, ?, ?, ?)"
_GET_TOPS = "SELECT id, kind, line FROM top WHERE fragment = ? ORDER BY id"
_PUT_HELD = "INSERT OR IGNORE INTO held VALUES (?)"
_IS_HELD = "SELECT 1 FROM held WHERE fragment = ?"
_PUT_FUNCTION = "INSERT OR IGNORE INTO function VALUES (?, ?, ?)"
_PUT_NAME = "INSERT INTO name VALUES (?, ?, ?)"
_PUT_UNIT = "INSERT INTO unit VALUES (?, ?, ?, ?)"
_GET_UNIT = "SELECT id, label FROM unit WHERE source = ? AND path = ?"
_PUT_END = "INSERT OR IGNORE INTO target VALUES (?)"
_MISSING = """SELECT DISTINCT name FROM function AS f WHERE source = ? AND name >= ?
    AND NOT EXISTS (SELECT 1 FROM name WHERE name.source = f.source AND name.name = f.name) ORDER BY name LIMIT ?"""
_NAMED = """SELECT name.id, function.id FROM name JOIN function USING (source, name)
    ORDER BY source, name, function.id"""


class BulkWriter:
    """Take the units of a build and write them as CSV files; call finish when all sources are put."""

    def __init__(self, files: CsvFiles) -> None:
        self._files = files
        self._sources: dict[str, Properties] = {}
        self._counts: Counter[tuple[str, str]] = Counter()  # nodes by source and label
        self._notes = open_scratch(_CREATE)

    def put_source(
        self,
        source: Source,
        fingerprint: str = "",
        skipped: Sequence[Skip] = (),
        stages: Mapping[str, float] | None = None,
    ) -> None:
        """Note a source, its input and what was left out; it is written at the end, when its nodes are counted."""
        notes = describe_build(fingerprint, skipped, stages)
        self._sources[source.name] = describe_source(source) | notes | {"state": READY}

    def replace_file(self, unit: UnitGraph) -> None:
        """Write one file or row; each path of a source comes once."""
        keys = {name_fragment(unit.source, part.key) for part in unit.parts} if unit.label is Label.ROW else set()
        batch = Batch([unit], {key for key in keys if self._notes.execute(_IS_HELD, (key,)).fetchone()})
        if batch.missing:
            raise StoreError(f"fragment {batch.missing[0]} was announced as written, and is not; export again")
        parameters = batch.parameters()
        nodes = self._put_nodes(unit.source, parameters)
        relations = {
            kind: [(nodes[a]["id"], nodes[b]["id"], line) for a, b, line in parameters[kind]]
            for kind in cypher.BATCH_TYPES
        }
        for kind, listed in relations.items():
            self._put_relations(kind, listed)
        identity = name_unit(unit)
        self._notes.execute(_PUT_UNIT, (unit.source, unit.path, identity, unit.label.value))
        self._put_relations(RelationType.CONTAINS.value, [(name_source(unit.source), identity, None)])
        if unit.label is Label.ROW:
            self._note_fragments(identity, nodes, relations)
        for held in batch.again:
            self._hold_again(*held)

    def flush(self) -> None:
        """Write what is still collected in memory."""
        self._files.flush()

    def _put_nodes(self, source: str, parameters: dict[str, list[Properties]]) -> list[Properties]:
        """Write the nodes of a batch and give them in the order that its relationships count by."""
        nodes: list[Properties] = []
        for label in cypher.BATCH_LABELS:
            listed = parameters[label.lower()]
            if listed:
                self._files.put_nodes(label, listed)
                self._counts[source, label] += len(listed)
            nodes += listed
        functions = parameters[Label.FUNCTION.value.lower()]
        self._notes.executemany(_PUT_FUNCTION, ((source, node["name"], node["id"]) for node in functions))
        return nodes

    def _put_relations(self, kind: str, relations: Sequence[tuple[str, str, int | None]]) -> None:
        if relations:
            self._files.put_relations(kind, ((*relation, None, None, None) for relation in relations))

    def _note_fragments(
        self, unit: str, nodes: list[Properties], relations: dict[str, list[tuple[str, str, int | None]]]
    ) -> None:
        """Note the fragments of a row with what hangs from it: another row may hold them as well."""
        by_id = {node["id"]: node for node in nodes}
        self._notes.executemany(_PUT_HELD, ((fragment,) for _, fragment, _ in relations[cypher.HOLDS]))
        for kind in (RelationType.CONTAINS.value, RelationType.IMPORTS.value):
            tops = (by_id[end] for start, end, _ in relations[kind] if start == unit)
            self._notes.executemany(_PUT_TOP, ((top["fragment"], top["id"], kind, top["start_line"]) for top in tops))

    def _hold_again(self, unit: str, fragment: str, first_line: int) -> None:
        """Let one more row hold a fragment that is written."""
        self._put_relations(cypher.HOLDS, [(unit, fragment, first_line)])
        for top, kind, line in self._notes.execute(_GET_TOPS, (fragment,)).fetchall():
            self._put_relations(kind, [(unit, top, first_line + line - 1)])

    def missing_names(self, source: str, first: str = "", limit: int = 4096) -> list[str]:
        """List function names of a source, from `first` on, that have no FunctionName node yet, in their order."""
        return [name for (name,) in self._notes.execute(_MISSING, (source, first, limit))]

    def put_names(self, source: str, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
        """Write FunctionName nodes with their vectors."""
        names = [make_name(source, name, vector.astype("f4").tolist()) for name, vector in vectors.items()]
        if names:
            self._files.put_nodes(Label.FUNCTION_NAME.value, names)
            self._counts[source, Label.FUNCTION_NAME.value] += len(names)
            self._notes.executemany(_PUT_NAME, ((source, name["name"], name["id"]) for name in names))

    def put_links(self, source: str, links: Iterable[UnitLinks]) -> None:
        """Write what units refer to, each unit once; libraries and calls that several refer to are written once."""
        for each in links:
            unit = self._notes.execute(_GET_UNIT, (source, each.path)).fetchone()
            if unit is None:
                raise StoreError(f"no file or row '{each.path}' in source '{source}'; expected it before its links")
            self._put_relations_of(each)
            ends = {edge.end for edge in each.edges}
            libraries = [make_library(source, name) for name in each.libraries]
            self._put_once(source, Label.LIBRARY, [node for node in libraries if node["id"] in ends])
            path = each.path if unit[1] == Label.FILE.value else None
            self._put_once(source, Label.CALL, [make_call(source, path, call) for call in each.unbound])
            notes = {"id": unit[0], "source": source, "path": each.path, "notes": each.notes}
            self._files.put_nodes(cypher.LINKS, [notes])

    def put_notes(self, source: str, notes: Mapping[str, bytes]) -> None:
        """Refuse: what is written cannot be changed."""
        self._refuse(source)

    def _put_relations_of(self, links: UnitLinks) -> None:
        rows: dict[str, list[Relation]] = {}
        for edge in links.edges:
            facts = (edge.start, edge.end, edge.line, edge.rule, edge.confidence, links.path)
            rows.setdefault(edge.type.value, []).append(facts)
        for call in links.unbound:
            row = (call.owner, call.id, call.line, None, None, links.path)
            rows.setdefault(RelationType.UNRESOLVED.value, []).append(row)
        for kind, listed in rows.items():
            self._files.put_relations(kind, listed)

    def _put_once(self, source: str, label: Label, nodes: list[Properties]) -> None:
        """Write those nodes that are not written yet."""
        new = [node for node in nodes if self._notes.execute(_PUT_END, (node["id"],)).rowcount]
        if new:
            self._files.put_nodes(label.value, new)
            self._counts[source, label.value] += len(new)

    def put_fingerprint(self, source: str, path: str, fingerprint: str) -> None:
        """Refuse: files that are written once hold nothing that could be touched."""
        self._refuse(path)

    def delete_file(self, source: str, path: str) -> None:
        """Refuse: what is written cannot be taken back."""
        self._refuse(path)

    def delete_source(self, source: str) -> None:
        """Refuse: what is written cannot be taken back."""
        self._refuse(source)

    def _refuse(self, what: str) -> NoReturn:
        raise StoreError(f"'{what}' cannot be changed in files for an import; expected whole sources, each once")

    def finish(self, encoder: str, dimension: int, version: int) -> None:
        """Link the names, and write the sources and the state of the store: its first generation."""
        named = self._notes.execute(_NAMED)
        while rows := named.fetchmany(ROWS_AT_ONCE):
            self._put_relations(RelationType.NAMES.value, [(name, function, None) for name, function in rows])
        for name, source in self._sources.items():
            counts = {count_key(label): self._counts[name, label.value] for label in cypher.GRAPH_LABELS[1:]}
            self._files.put_nodes(Label.SOURCE.value, [source | counts])
        store = {"id": "store", "generation": 1, "stamp": str(uuid4()), "version": version}
        store |= {"encoder": encoder, "dimension": dimension}
        self._files.put_nodes(cypher.STORE, [store, {"id": "commit", "number": 0}])

    def close(self) -> None:
        """Forget the notes."""
        self._notes.close()
