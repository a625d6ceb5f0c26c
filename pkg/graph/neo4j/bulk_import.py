"""Write a graph as CSV files for `neo4j-admin database import`, which loads a large graph many times faster (P-10).

Nodes and properties are those of the online write, because both use Batch. Memory is bounded: data that later units
refer to (written fragments, function names) is stored in a temporary database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn
from uuid import uuid4

import numpy as np

from pkg.errors import StoreError
from pkg.graph.graph_records import GENERATED_PROPERTIES, Omission
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
from pkg.graph.neo4j.cypher import FRAGMENT, GRAPH_LABELS, LINKS, STORE
from pkg.graph.neo4j.neo4j_links import make_call
from pkg.graph.neo4j.neo4j_writing import READY, count_key
from pkg.model import EMBEDDED_LABELS, Audit, Label, Leak, RelationType, Source
from pkg.resources import open_scratch
from pkg.units import GeneratedChange, UnitGraph, UnitLinks

if TYPE_CHECKING:
    import numpy.typing as npt


ARRAY_DELIMITER = "\x1f"  # ASCII unit separator: a decorator may contain commas and semicolons

_PIECE = (
    "id", "source", "fragment", "path", "name", "qualname", "kind", "start", "end", "start_line", "end_line",
    "start_col", "position", "content", "content_hash",
)  # fmt: skip
_UNIT = ("id", "source", "path", "name", "fingerprint", "content_hash", "language", "status", "reason")
_COUNTS = tuple(count_key(label) for label in GRAPH_LABELS[1:])
NODE_COLUMNS: dict[str, tuple[str, ...]] = {
    STORE: ("id", "generation", "stamp", "encoder", "dimension", "version", "number"),
    Label.SOURCE.value: (
        "id", "source", "name", "kind", "root", "revision", "package", "fingerprint", "skipped", "stages", "state",
        *_COUNTS,
    ),
    Label.FILE.value: _UNIT,
    Label.ROW.value: _UNIT,
    FRAGMENT: ("id", "source", "key", "text", "calls", "terms"),
    Label.CLASS.value: (*_PIECE, "docstring", "decorators", "bases", "embedding"),
    Label.CONSTANT.value: (*_PIECE, "docstring", "value", "annotation", "embedding"),
    Label.MODULE.value: (*_PIECE, "docstring", "embedding"),
    Label.CHUNK.value: (*_PIECE, "embedding"),
    Label.FACT.value: (*_PIECE, "language", "value", "embedding"),
    Label.FUNCTION.value: (
        *_PIECE, *GENERATED_PROPERTIES, "decorators", "is_async", "embedding",
    ),
    Label.BLOCK.value: (*_PIECE, "depth", "caption", "embedding"),
    Label.IMPORT.value: (*_PIECE, "module", "imported", "alias", "level", "embedding"),
    Label.FUNCTION_NAME.value: ("id", "source", "name", "content_hash", "embedding"),
    Label.LIBRARY.value: ("id", "source", "name", "content_hash"),
    Label.CALL.value: ("id", "source", "expression", "reason", "path", "line"),
    LINKS: ("id", "source", "path", "notes"),
}  # fmt: skip
"""Properties of each label, in the order of the columns."""

_NUMBERS = (
    "generation", "dimension", "version", "number", "start", "end", "start_line", "end_line", "start_col", "position",
    "depth", "level", "line", *_COUNTS,
)  # fmt: skip
_TYPES = dict.fromkeys(_NUMBERS, "long") | {
    "id": "ID", "is_async": "boolean", "docstring_comments": "string[]", "questions": "string[]",
    "decorators": "string[]", "bases": "string[]", "text": "byte[]",
    "calls": "byte[]", "terms": "byte[]", "notes": "byte[]", "embedding": "float[]",
}  # fmt: skip
"""Types of properties that are not texts."""

_ID_SPACES = {LINKS: "ID(links)"}
"""Labels that share ids with other labels, and to which no relationship refers."""

RELATION_HEADER = ":START_ID,:END_ID,line:long,rule,confidence,path\n"

Relation = tuple[str, str, int | None, str | None, str | None, str | None]  # start, end, line, rule, confidence, path


class _Numbers(dict[float, str]):
    """Texts of half-precision numbers, of which there are at most 65,536.

    They have the fewest digits that single precision needs, which makes the import parse a quarter less.
    """

    def __missing__(self, number: float) -> str:
        text = self[number] = str(np.float32(number)).removesuffix(".0")
        return text


_number_texts = _Numbers()
_byte_texts = [str(byte - 256 if byte > 127 else byte) for byte in range(256)]  # Java's bytes are signed


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


_RENDER: dict[str, Callable[[Any], str]] = {
    "ID": _quote,
    "string": _quote,
    "long": str,
    "boolean": lambda value: str(value).lower(),
    "string[]": lambda texts: _quote(ARRAY_DELIMITER.join(texts)),
    "byte[]": lambda data: ARRAY_DELIMITER.join(map(_byte_texts.__getitem__, data)),
    "float[]": lambda numbers: ARRAY_DELIMITER.join(map(_number_texts.__getitem__, numbers)),
}


PART_BYTES = 64 << 20
"""Size from which the rows of a label or type continue in another file, as one file of a large graph would be too large
to copy, compress or send. The import reads the files of a label one after another, so several are no faster: 461 MB
take 41.5 CPU-seconds on two cores, and 42.4 with one file for each label (2026.08.1; 35.5 and 35.2 on 5.26.30)."""


class CsvFiles:
    """A folder of CSV files for each label and each type of relationship, of which the first has the header."""

    def __init__(self, folder: Path, part_bytes: int | None = None) -> None:
        self._folder = folder
        self._part_bytes = part_bytes or PART_BYTES
        self._opened: dict[str, IO[bytes]] = {}  # the last file of each label or type
        self._room: dict[str, int] = {}  # bytes that it may still take
        self.parts: dict[str, list[str]] = {}  # file names of each label and type
        self.nodes: dict[str, int] = {}  # rows written per label
        self.relations: dict[str, int] = {}  # rows written per type
        self.longest = 0  # bytes of the longest row, which must fit the buffer of the import

    def put_nodes(self, label: str, nodes: Iterable[Properties]) -> None:
        """Write nodes of a label."""
        columns = NODE_COLUMNS[label]
        types = [_TYPES.get(name, "string") for name in columns]
        shown = [_ID_SPACES.get(label, kind) if kind == "ID" else kind for kind in types]
        header = ",".join(f"{name}:{kind}" for name, kind in zip(columns, shown, strict=True)) + "\n"
        renders = [(name, _RENDER[kind]) for name, kind in zip(columns, types, strict=True)]
        rows = [_render_row(node, renders) for node in nodes]
        self._write(label, header, rows)
        self.nodes[label] = self.nodes.get(label, 0) + len(rows)

    def put_relations(self, kind: str, relations: Iterable[Relation]) -> None:
        """Write relationships of a type."""
        rows = [_render_relation(relation) for relation in relations]
        self._write(kind, RELATION_HEADER, rows)
        self.relations[kind] = self.relations.get(kind, 0) + len(rows)

    def _write(self, name: str, header: str, rows: list[str]) -> None:
        if name not in self._opened:
            self._open_part(name).write(header.encode())
        file = self._opened[name]
        for row in rows:
            data = row.encode("utf-8", "replace")
            self.longest = max(self.longest, len(data))
            if self._room[name] < min(len(data), self._part_bytes):
                file = self._open_part(name)
            self._room[name] -= len(data)
            file.write(data)

    def _open_part(self, name: str) -> IO[bytes]:
        """Open the next file of a label or type: Function.csv, then Function-2.csv."""
        if name in self._opened:
            self._opened[name].close()
        parts = self.parts.setdefault(name, [])
        parts.append(f"{name}-{len(parts) + 1}.csv" if parts else f"{name}.csv")
        self._room[name] = self._part_bytes
        file = self._opened[name] = (self._folder / parts[-1]).open("wb")
        return file

    def list_paths(self, name: str, folder: Path) -> str:
        """Return the paths of the files of a label or type as the import expects them, header first."""
        return ",".join(str(folder / part) for part in self.parts[name])

    def flush(self) -> None:
        """Flush all files."""
        for file in self._opened.values():
            file.flush()

    def close(self) -> None:
        """Close all files."""
        for file in self._opened.values():
            file.close()


def _render_row(node: Properties, renders: list[tuple[str, Callable[[Any], str]]]) -> str:
    values = ("" if (value := node.get(name)) is None else render(value) for name, render in renders)
    return ",".join(values) + "\n"


def _render_relation(relation: Relation) -> str:
    start, end, line, *facts = relation
    texts = [start, end, "" if line is None else str(line), *("" if fact is None else _quote(fact) for fact in facts)]
    return ",".join(texts) + "\n"


LEAST_BUFFER = 4 << 20  # default buffer of the import, in bytes
SCRIPT, GUIDE = "import.sh", "README.md"
SCHEMAS = {"schema-5.cypher": cypher.CREATE_VECTOR_INDEX, "schema-2026.cypher": cypher.CREATE_FILTERED_INDEX}

_SCRIPT = """\
#!/bin/sh
# Import the files of this folder into a database of a stopped server: sh import.sh [DATABASE]
# The database is overwritten. NEO4J_ADMIN names the tool if it is not on PATH.
set -eu
cd "$(dirname "$0")"
exec "${{NEO4J_ADMIN:-neo4j-admin}}" database import full "${{1:-neo4j}}" \\
    {arguments} \\
    --report-file="${{TMPDIR:-/tmp}}/import.report"
"""

_GUIDE = """\
# A graph of PKG for `neo4j-admin database import`

{nodes:,} nodes and {relations:,} relationships, made with the encoder {encoder} ({dimension} dimensions).
The same files and the same command serve Neo4j 5.26 and 2026; only the last step differs.

1. Stop the server. The import overwrites the database.
2. Import, as the user that runs the server: `sh import.sh`, which is

       neo4j-admin database import full neo4j \\
           {arguments}

3. Start the server and make the constraints and indexes (also in the Browser, by pasting the file):

       cypher-shell -f schema-5.cypher       # Neo4j 5.26 and 2025
       cypher-shell -f schema-2026.cypher    # Neo4j 2026 and later

4. Ask: `pkg query "..." --store bolt://localhost`; and `pkg build PATH --store bolt://localhost` keeps it up to date.
"""


def list_arguments(files: CsvFiles, folder: Path = Path()) -> list[str]:
    """Return the arguments of the import after the name of the database; `folder` is that of the files.

    The format v2 of multiline fields, which takes the names of the files that have them, fails on 460 MB of real code:
    it takes a carriage return inside a text for one outside.
    """
    buffer = max(LEAST_BUFFER, 2 * files.longest)
    return [
        "--overwrite-destination=true",
        "--id-type=string",
        "--multiline-fields=true",
        "--array-delimiter=U+001F",
        f"--read-buffer-size={buffer}",
        *(f"--nodes={label}={files.list_paths(label, folder)}" for label in sorted(files.nodes)),
        *(f"--relationships={kind}={files.list_paths(kind, folder)}" for kind in sorted(files.relations)),
    ]


def list_schema(create_vector_index: str, dimension: int) -> list[str]:
    """Return the statements that create constraints and indexes, and wait until all are populated."""
    vectors = [
        create_vector_index.format(name=cypher.name_vector_index(label), label=label.value, dimension=dimension)
        for label in EMBEDDED_LABELS
    ]
    return [*cypher.list_schema(), *vectors, cypher.AWAIT_INDEXES]


def write_guide(folder: Path, files: CsvFiles, encoder: str, dimension: int) -> None:
    """Write the script, the schema of each version, and the README."""
    arguments = list_arguments(files)
    script = _SCRIPT.format(arguments=" \\\n    ".join(arguments))
    (folder / SCRIPT).write_text(script, encoding="utf-8")
    for name, create in SCHEMAS.items():
        statements = list_schema(create, dimension)
        (folder / name).write_text(";\n".join(statements) + ";\n", encoding="utf-8")
    guide = _GUIDE.format(
        nodes=sum(files.nodes.values()),
        relations=sum(files.relations.values()),
        encoder=encoder,
        dimension=dimension,
        arguments=" \\\n           ".join(arguments),
    )
    (folder / GUIDE).write_text(guide, encoding="utf-8")


ROWS_AT_ONCE = 10_000  # NAMES relationships in memory

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
    """StoreWriter that writes units as CSV files; call finish when all sources are put."""

    def __init__(self, files: CsvFiles) -> None:
        self._files = files
        self._sources: dict[str, Properties] = {}
        self._counts: Counter[tuple[str, str]] = Counter()  # nodes by source and label
        self._scratch = open_scratch(_CREATE)

    def put_source(
        self,
        source: Source,
        fingerprint: str = "",
        skipped: Sequence[Omission] = (),
        stages: Mapping[str, float] | None = None,
    ) -> None:
        """Collect a source, which finish writes with its node counts."""
        notes = describe_build(fingerprint, skipped, stages)
        self._sources[source.name] = describe_source(source) | notes | {"state": READY}

    def replace_file(self, unit: UnitGraph) -> None:
        """Write a file or row; each path of a source may be put once.

        Raise StoreError for a fragment without content that was not written before.
        """
        keys = {name_fragment(unit.source, part.key) for part in unit.parts} if unit.label is Label.ROW else set()
        batch = Batch([unit], {key for key in keys if self._scratch.execute(_IS_HELD, (key,)).fetchone()})
        if batch.missing:
            raise StoreError(f"fragment {batch.missing[0]} was not written; export again")
        parameters = batch.parameters()
        nodes = self._put_nodes(unit.source, parameters)
        relations = {
            kind: [(nodes[a]["id"], nodes[b]["id"], line) for a, b, line in parameters[kind]]
            for kind in cypher.BATCH_TYPES
        }
        for kind, listed in relations.items():
            self._put_relations(kind, listed)
        identity = name_unit(unit)
        self._scratch.execute(_PUT_UNIT, (unit.source, unit.path, identity, unit.label.value))
        self._put_relations(RelationType.CONTAINS.value, [(name_source(unit.source), identity, None)])
        if unit.label is Label.ROW:
            self._store_fragments(identity, nodes, relations)
        for held in batch.again:
            self._hold_again(*held)

    def flush(self) -> None:
        """Flush all files."""
        self._files.flush()

    def _put_nodes(self, source: str, parameters: dict[str, list[Properties]]) -> list[Properties]:
        """Write the nodes of a batch; return them in the order by which its relationships refer to them."""
        nodes: list[Properties] = []
        for label in cypher.BATCH_LABELS:
            listed = parameters[label.lower()]
            if listed:
                self._files.put_nodes(label, listed)
                self._counts[source, label] += len(listed)
            nodes += listed
        functions = parameters[Label.FUNCTION.value.lower()]
        self._scratch.executemany(_PUT_FUNCTION, ((source, node["name"], node["id"]) for node in functions))
        return nodes

    def _put_relations(self, kind: str, relations: Sequence[tuple[str, str, int | None]]) -> None:
        if relations:
            self._files.put_relations(kind, ((*relation, None, None, None) for relation in relations))

    def _store_fragments(
        self, unit: str, nodes: list[Properties], relations: dict[str, list[tuple[str, str, int | None]]]
    ) -> None:
        """Store the fragments of a row with their top-level nodes, because another row may hold them too."""
        by_id = {node["id"]: node for node in nodes}
        self._scratch.executemany(_PUT_HELD, ((fragment,) for _, fragment, _ in relations[cypher.HOLDS]))
        for kind in (RelationType.CONTAINS.value, RelationType.IMPORTS.value):
            tops = (by_id[end] for start, end, _ in relations[kind] if start == unit)
            self._scratch.executemany(_PUT_TOP, ((top["fragment"], top["id"], kind, top["start_line"]) for top in tops))

    def _hold_again(self, unit: str, fragment: str, first_line: int) -> None:
        """Connect another row with a written fragment."""
        self._put_relations(cypher.HOLDS, [(unit, fragment, first_line)])
        for top, kind, line in self._scratch.execute(_GET_TOPS, (fragment,)).fetchall():
            self._put_relations(kind, [(unit, top, first_line + line - 1)])

    def missing_names(self, source: str, first: str = "", limit: int = 4096) -> list[str]:
        """Return the sorted function names of a source, from `first` on, without a FunctionName node."""
        return [name for (name,) in self._scratch.execute(_MISSING, (source, first, limit))]

    def put_names(self, source: str, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
        """Write FunctionName nodes with their vectors: float16 [dimension] by name."""
        names = [make_name(source, name, vector.astype("f4").tolist()) for name, vector in vectors.items()]
        if names:
            self._files.put_nodes(Label.FUNCTION_NAME.value, names)
            self._counts[source, Label.FUNCTION_NAME.value] += len(names)
            self._scratch.executemany(_PUT_NAME, ((source, name["name"], name["id"]) for name in names))

    def put_links(self, source: str, links: Iterable[UnitLinks]) -> None:
        """Write the links of units, each unit once, and their libraries and calls.

        Raise StoreError for a unit that was not written.
        """
        for each in links:
            unit = self._scratch.execute(_GET_UNIT, (source, each.path)).fetchone()
            if unit is None:
                raise StoreError(
                    f"no file or row '{each.path}' in source '{source}'; expected it to be put before its links"
                )
            self._put_relations_of(each)
            ends = {edge.end for edge in each.edges}
            libraries = [make_library(source, name) for name in each.libraries]
            self._put_once(source, Label.LIBRARY, [node for node in libraries if node["id"] in ends])
            path = each.path if unit[1] == Label.FILE.value else None
            self._put_once(source, Label.CALL, [make_call(source, path, call) for call in each.unbound])
            notes = {"id": unit[0], "source": source, "path": each.path, "notes": each.notes}
            self._files.put_nodes(cypher.LINKS, [notes])

    def put_notes(self, source: str, notes: Mapping[str, bytes]) -> None:
        """Raise StoreError: written data cannot be changed."""
        self._refuse(source)

    def put_generated(self, source: str, changes: Iterable[GeneratedChange]) -> None:
        """Raise StoreError: written data cannot be changed."""
        self._refuse(source)

    def put_audit(self, audit: Audit, marks: Mapping[str, Collection[Leak]]) -> None:
        """Raise StoreError: written data cannot be changed."""
        self._refuse(audit.benchmark)

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
        """Write the nodes that are not written yet."""
        new = [node for node in nodes if self._scratch.execute(_PUT_END, (node["id"],)).rowcount]
        if new:
            self._files.put_nodes(label.value, new)
            self._counts[source, label.value] += len(new)

    def put_fingerprint(self, source: str, path: str, fingerprint: str) -> None:
        """Raise StoreError: written data cannot be changed."""
        self._refuse(path)

    def delete_file(self, source: str, path: str) -> None:
        """Raise StoreError: written data cannot be deleted."""
        self._refuse(path)

    def delete_source(self, source: str) -> None:
        """Raise StoreError: written data cannot be deleted."""
        self._refuse(source)

    def _refuse(self, what: str) -> NoReturn:
        raise StoreError(f"'{what}' cannot be changed in files for an import; expected whole sources, each once")

    def finish(self, encoder: str, dimension: int, version: int) -> None:
        """Write the NAMES relationships, the sources and the state of the store, with generation 1."""
        named = self._scratch.execute(_NAMED)
        while rows := named.fetchmany(ROWS_AT_ONCE):
            self._put_relations(RelationType.NAMES.value, [(name, function, None) for name, function in rows])
        for name, source in self._sources.items():
            counts = {count_key(label): self._counts[name, label.value] for label in cypher.GRAPH_LABELS[1:]}
            self._files.put_nodes(Label.SOURCE.value, [source | counts])
        store = {"id": "store", "generation": 1, "stamp": str(uuid4()), "version": version}
        store |= {"encoder": encoder, "dimension": dimension}
        self._files.put_nodes(cypher.STORE, [store, {"id": "commit", "number": 0}])

    def close(self) -> None:
        """Close the temporary database."""
        self._scratch.close()
