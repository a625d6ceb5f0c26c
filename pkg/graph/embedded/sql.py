"""All SQL of the embedded store, as named constants; values are passed as parameters only.

A unit (file or row) consists of parts, a part refers to a fragment of text, and nodes are spans of fragments. Structure
(CONTAINS, HAS_BODY, CHILD, IMPORTS, NAMES) is not stored twice: the view ``edge`` derives it from parents and parts;
resolved links are in ``relation`` and unresolved calls in ``call``, in the order in which a unit's were put. Recurring
texts (rules, reasons) are stored once in ``term``. Node numbers are dense and local to a store; ``id`` is stable. 64-bit
ids are stored as signed integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pkg.model import CONSTANT_KINDS, DECLARATION_LABELS, EMBEDDED_LABELS, FACT_KINDS, Label, RelationType

LABEL_NUMBERS = {label: number for number, label in enumerate(Label)}
LABELS = tuple(Label)

KINDS = (
    "",
    "body",
    "if",
    "for",
    "while",
    "with",
    "try",
    "match",
    "function",
    "method",
    *CONSTANT_KINDS,
    "module",
    *FACT_KINDS,
)
KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
DECLARATION_KINDS: dict[Label, tuple[str, ...]] = {
    Label.CLASS: ("",), Label.CONSTANT: CONSTANT_KINDS, Label.MODULE: ("module",)
}  # fmt: skip
"""Kinds of each declaration label: the kind determines the label."""

TYPE_NUMBERS = {each: number for number, each in enumerate(RelationType)}
_TYPE_NAMES = " ".join(f"WHEN {number} THEN '{each.value}'" for each, number in TYPE_NUMBERS.items())

_CLASS, _FUNCTION = LABEL_NUMBERS[Label.CLASS], LABEL_NUMBERS[Label.FUNCTION]
_NAME, _BLOCK, _IMPORT = LABEL_NUMBERS[Label.FUNCTION_NAME], LABEL_NUMBERS[Label.BLOCK], LABEL_NUMBERS[Label.IMPORT]
_CONSTANT, _FACT = LABEL_NUMBERS[Label.CONSTANT], LABEL_NUMBERS[Label.FACT]
_DECLARED = ", ".join(str(LABEL_NUMBERS[label]) for label in DECLARATION_LABELS)
_EMBEDDED = ", ".join(str(LABEL_NUMBERS[label]) for label in EMBEDDED_LABELS)
_FILE, _LIBRARY, _CALL = LABEL_NUMBERS[Label.FILE], LABEL_NUMBERS[Label.LIBRARY], LABEL_NUMBERS[Label.CALL]

_STRUCTURE = f"""SELECT 'CONTAINS' AS type, source.id AS start, unit.id AS "end", NULL AS line, NULL AS rule, NULL AS confidence,
        unit.source FROM unit JOIN source ON source.number = unit.source
    UNION ALL SELECT CASE node.label WHEN {_IMPORT} THEN 'IMPORTS' ELSE 'CONTAINS' END,
        unit.id, node.id, node.start_line + part.first_line - 1, NULL, NULL, unit.source
        FROM node JOIN fragment ON fragment.number = node.fragment
            AND node.number BETWEEN fragment.first_node AND fragment.last_node
        JOIN part ON part.fragment = fragment.number JOIN unit ON unit.number = part.unit WHERE node.parent IS NULL
    UNION ALL SELECT CASE WHEN node.label = {_FACT} OR (node.label = {_BLOCK} AND parent.label = {_BLOCK}) THEN 'CHILD'
            WHEN node.label <> {_BLOCK} THEN 'CONTAINS' ELSE 'HAS_BODY' END,
        parent.id, node.id, NULL, NULL, NULL, node.source FROM node JOIN node AS parent ON parent.number = node.parent
    UNION ALL SELECT 'NAMES', name.id, node.id, NULL, NULL, NULL, node.source FROM node
        JOIN node AS name ON name.name = node.name AND name.source = node.source AND name.label = {_NAME}
        WHERE node.label = {_FUNCTION}"""
_LINKS = f"""SELECT CASE type {_TYPE_NAMES} END AS type, start, "end", line,
        (SELECT text FROM term WHERE number = rule) AS rule, (SELECT text FROM term WHERE number = confidence) AS confidence,
        unit.source FROM relation JOIN unit ON unit.number = relation.unit
    UNION ALL SELECT 'UNRESOLVED', owner, call.id, line, NULL, NULL, unit.source FROM call JOIN unit ON unit.number = call.unit"""
"""Rows that share a body have equal links, of which readers return one."""

SCHEMA_1 = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE source (number INTEGER PRIMARY KEY, id INTEGER, name TEXT UNIQUE, kind TEXT, root TEXT, revision TEXT,
    fingerprint TEXT, skipped TEXT, stages TEXT);
CREATE TABLE unit (number INTEGER PRIMARY KEY, id INTEGER, source INTEGER, label INTEGER, path TEXT, fingerprint TEXT,
    content_hash TEXT, language TEXT, status TEXT, reason TEXT);
CREATE UNIQUE INDEX unit_path ON unit(source, path);
CREATE UNIQUE INDEX unit_id ON unit(id);
CREATE TABLE fragment (number INTEGER PRIMARY KEY, source INTEGER, key INTEGER, first_node INTEGER, last_node INTEGER,
    text BLOB, words BLOB, calls BLOB);
CREATE UNIQUE INDEX fragment_key ON fragment(key, source);
CREATE TABLE part (unit INTEGER, first_line INTEGER, fragment INTEGER, PRIMARY KEY (unit, first_line, fragment)) WITHOUT ROWID;
CREATE INDEX part_fragment ON part(fragment);
CREATE TABLE node (number INTEGER PRIMARY KEY, id INTEGER, label INTEGER, source INTEGER, fragment INTEGER, parent INTEGER,
    name TEXT, qualname TEXT, kind INTEGER, start INTEGER, "end" INTEGER, start_line INTEGER, end_line INTEGER,
    content_hash INTEGER, properties TEXT);
CREATE TABLE vector (node INTEGER PRIMARY KEY, data BLOB);
CREATE TABLE relation (unit INTEGER, position INTEGER, type INTEGER, start INTEGER, "end" INTEGER, line INTEGER,
    rule INTEGER, confidence INTEGER, PRIMARY KEY (unit, position)) WITHOUT ROWID;
CREATE TABLE call (unit INTEGER, position INTEGER, id INTEGER, owner INTEGER, expression TEXT, line INTEGER, reason INTEGER,
    PRIMARY KEY (unit, position)) WITHOUT ROWID;
CREATE TABLE links (unit INTEGER PRIMARY KEY, notes BLOB);
CREATE TABLE term (number INTEGER PRIMARY KEY, text TEXT);
CREATE VIEW edge(type, start, "end", line, rule, confidence, source) AS
    {_STRUCTURE}
    UNION ALL {_LINKS};
"""

_READ_AGAIN = """
UPDATE fragment SET terms = NULL;
UPDATE unit SET fingerprint = NULL;
UPDATE source SET fingerprint = '';
"""
"""Clears the terms and fingerprints of all units, so that the next build reads all input."""

SCHEMA_2 = f"""
DROP TABLE IF EXISTS words;
ALTER TABLE fragment RENAME COLUMN words TO terms;
{_READ_AGAIN}
"""
"""Terms by field replace the full text of an FTS5 table; the next build reads all input for them."""

SCHEMA_3 = _READ_AGAIN
"""Compound words are split in terms and questions; the next build reads all input."""

SCHEMA_4 = "UPDATE vector SET data = pack_halves(data)"  # a function of pkg.vectors.quantised
"""Vectors are signed bytes with a scale instead of half-precision numbers."""

_IS_WRITTEN = "instr(properties, '\"docstring_model\"')"
"""Condition of functions with a generated docstring; without an index each build would read all nodes."""

_HAS_QUESTIONS = "instr(properties, '\"questions_model\"')"
"""Condition of functions with generated questions, with an index for the same reason."""

_IS_LEAKING = "instr(properties, '\"leaks\"')"
"""Condition of nodes that an audit marked; without an index queries that exclude them would read all nodes."""

INDEXES = {
    "node_id": "CREATE UNIQUE INDEX IF NOT EXISTS node_id ON node(id)",
    "node_parent": "CREATE INDEX IF NOT EXISTS node_parent ON node(parent) WHERE parent IS NOT NULL",
    "node_name": "CREATE INDEX IF NOT EXISTS node_name ON node(label, name, source) WHERE name IS NOT NULL",
    "node_docstring": f"CREATE INDEX IF NOT EXISTS node_docstring ON node(source) WHERE {_IS_WRITTEN}",
    "node_questions": f"CREATE INDEX IF NOT EXISTS node_questions ON node(source) WHERE {_HAS_QUESTIONS}",
    "node_leaks": f"CREATE INDEX IF NOT EXISTS node_leaks ON node(number) WHERE {_IS_LEAKING}",
}
LINK_INDEXES = {
    "relation_start": "CREATE INDEX IF NOT EXISTS relation_start ON relation(start)",
    "relation_end": 'CREATE INDEX IF NOT EXISTS relation_end ON relation("end")',
    "call_id": "CREATE INDEX IF NOT EXISTS call_id ON call(id)",
    "call_owner": "CREATE INDEX IF NOT EXISTS call_owner ON call(owner)",
}
"""Created at the end of a first load, where filling them in order is several times faster and more compact."""

DROP_INDEX = "DROP INDEX IF EXISTS {}"  # formatted with a key of INDEXES or LINK_INDEXES only

SCHEMA_5 = """
ALTER TABLE fragment ADD COLUMN checksum INTEGER;
ALTER TABLE unit ADD COLUMN checksum INTEGER;
ALTER TABLE vector ADD COLUMN checksum INTEGER;
ALTER TABLE links ADD COLUMN notes_checksum INTEGER;
ALTER TABLE links ADD COLUMN checksum INTEGER;
UPDATE vector SET checksum = sum_vector(data);
"""
"""Checksums (pkg.graph.embedded.checksums); pkg.graph.embedded.database_file fills those of the other tables."""

SCHEMA_6 = _READ_AGAIN
"""Constants and modules are nodes, classes have vectors, all have terms; the next build reads all input."""

SCHEMA_7 = "ALTER TABLE source ADD COLUMN package TEXT NOT NULL DEFAULT ''"
"""The package whose folder is the root of a source; the next build finds it."""

SCHEMA_8 = ""
"""Text files have nodes of a new label, which older versions do not know; the next build adds them."""

SCHEMA_9 = f"""
DROP VIEW edge;
CREATE VIEW edge(type, start, "end", line, rule, confidence, source) AS
    {_STRUCTURE}
    UNION ALL {_LINKS};
"""
"""Documents have facts, of a new label; the relationship between two of them is CHILD."""

MIGRATIONS = (SCHEMA_1, SCHEMA_2, SCHEMA_3, SCHEMA_4, SCHEMA_5, SCHEMA_6, SCHEMA_7, SCHEMA_8, SCHEMA_9)
"""Scripts from each schema version to the next; the version of a store is PRAGMA user_version."""

COUNT_TABLES = "SELECT count(*) FROM sqlite_master"
HAS_META = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta' AND sql LIKE '%key%value%'"

LIST_META = "SELECT key, value FROM meta"
GET_META = "SELECT value FROM meta WHERE key = ?"
HOLDS_DATA = "SELECT EXISTS(SELECT 1 FROM meta WHERE key = 'generation') OR EXISTS(SELECT 1 FROM unit)"
DELETE_META = "DELETE FROM meta WHERE key = ?"
PUT_META = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

PUT_SOURCE = """INSERT INTO source (id, name, kind, root, revision, package, fingerprint, skipped, stages)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, root = excluded.root, revision = excluded.revision,
    package = excluded.package, fingerprint = excluded.fingerprint, skipped = excluded.skipped, stages = excluded.stages"""
FIND_SOURCE = "SELECT number FROM source WHERE name = ?"
GET_SOURCE_NAMED = "SELECT kind, root, revision, package FROM source WHERE name = ?"
LIST_SOURCES = "SELECT name, kind, root, revision, package, fingerprint, skipped, stages FROM source ORDER BY name"
DELETE_SOURCE = "DELETE FROM source WHERE number = ?"

LIST_FINGERPRINTS = """SELECT path, coalesce(unit.fingerprint, ''), iif(unit.fingerprint IS NULL, '', content_hash) FROM unit JOIN source ON source.number = unit.source
    WHERE name = ?"""
LIST_SOME_FINGERPRINTS = f"{LIST_FINGERPRINTS} AND path IN (SELECT value FROM json_each(?))"
PUT_FINGERPRINT = (
    """UPDATE unit SET fingerprint = ? WHERE path = ? AND source = (SELECT number FROM source WHERE name = ?)"""
)

FIND_UNIT = "SELECT number, id FROM unit WHERE source = ? AND path = ?"
LIST_UNITS = "SELECT number, id FROM unit WHERE source = ?"
PUT_UNIT = "INSERT INTO unit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)"
SEAL_UNIT = "UPDATE unit SET checksum = ? WHERE number = ?"
DELETE_UNIT = "DELETE FROM unit WHERE number = ?"
PUT_PART = "INSERT OR IGNORE INTO part VALUES (?, ?, ?)"
DELETE_PARTS = "DELETE FROM part WHERE unit = ?"
LIST_PARTS = "SELECT fragment FROM part WHERE unit = ?"

FIND_FRAGMENT = "SELECT number, terms IS NULL FROM fragment WHERE key = ? AND source = ?"
PUT_TERMS = "UPDATE fragment SET terms = ? WHERE number = ?"
RENEW_FRAGMENT = "UPDATE fragment SET first_node = ?, last_node = ?, text = ?, terms = ?, calls = ? WHERE number = ?"
PUT_FRAGMENT = "INSERT INTO fragment VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
SEAL_FRAGMENT = "UPDATE fragment SET checksum = ? WHERE number = ?"
IS_FRAGMENT_USED = "SELECT 1 FROM part WHERE fragment = ? LIMIT 1"
GET_FRAGMENT_RANGE = "SELECT first_node, last_node FROM fragment WHERE number = ?"
DELETE_FRAGMENT = "DELETE FROM fragment WHERE number = ?"
GET_FRAGMENT_TEXT = "SELECT text FROM fragment WHERE number = ?"
GET_FRAGMENT_CALLS = "SELECT calls, first_node FROM fragment WHERE number = ?"

PUT_NODE = "INSERT INTO node VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
PUT_VECTOR = "INSERT INTO vector VALUES (?, ?, ?)"
REPLACE_VECTOR = (
    "UPDATE vector SET data = ?, checksum = ? WHERE node = (SELECT number FROM node WHERE id = ? AND label = ?)"
)
GET_PROPERTIES = "SELECT number, properties FROM node WHERE id = ? AND fragment = ?"
PUT_PROPERTIES = "UPDATE node SET properties = ? WHERE number = ?"
GET_MARKED = "SELECT number, fragment, properties FROM node WHERE id = ? AND fragment IS NOT NULL"
PUT_NODE_VECTOR = "UPDATE vector SET data = ?, checksum = ? WHERE node = ?"
COUNT_ALL_VECTORS = "SELECT count(*) FROM vector"
DELETE_NODES = "DELETE FROM node WHERE number BETWEEN ? AND ?"
DELETE_VECTORS = "DELETE FROM vector WHERE node BETWEEN ? AND ?"
LIST_IDS = "SELECT id FROM node WHERE number BETWEEN ? AND ?"
LIST_UNIT_IDS = "SELECT id FROM unit UNION ALL SELECT id FROM source"
DELETE_RELATIONS = """DELETE FROM relation WHERE (start = ?1 OR "end" = ?1)
    AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = ?1) RETURNING unit"""
HAS_LINKS = "SELECT 1 FROM links LIMIT 1"

PUT_RELATION = "INSERT INTO relation VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
PUT_CALL = "INSERT INTO call VALUES (?, ?, ?, ?, ?, ?, ?)"
PUT_NOTES = """INSERT INTO links (unit, notes, notes_checksum, checksum) VALUES (?, ?, ?, ?)
    ON CONFLICT (unit) DO UPDATE SET notes = excluded.notes, notes_checksum = excluded.notes_checksum,
    checksum = coalesce(excluded.checksum, checksum)"""
SEAL_LINKS = "UPDATE links SET checksum = ? WHERE unit = ?"
PUT_TERM = "INSERT INTO term VALUES (?, ?)"
LIST_TERMS = "SELECT text, number FROM term"
GET_NOTES = "SELECT notes FROM links WHERE unit = ?"
LIST_NOTES = """SELECT unit.path, links.notes FROM links JOIN unit ON unit.number = links.unit
    JOIN source ON source.number = unit.source WHERE source.name = ?"""
GET_LINKS = (
    "SELECT * FROM relation WHERE unit = ? ORDER BY position",
    "SELECT * FROM call WHERE unit = ? ORDER BY position",
)
DELETE_LINKS = tuple(f"DELETE FROM {table} WHERE unit = ?" for table in ("relation", "call", "links"))
ORPHAN_LIBRARIES = f"""SELECT number FROM node WHERE label = {_LIBRARY} AND name IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM relation WHERE relation."end" = node.id)"""
HAS_NODE = "SELECT 1 FROM node WHERE id = ?"
LAST_NUMBERS = """SELECT (SELECT coalesce(max(number), 0) FROM node), (SELECT coalesce(max(number), 0) FROM unit),
    (SELECT coalesce(max(number), 0) FROM fragment)"""
HAS_UNITS = "SELECT 1 FROM unit LIMIT 1"
COUNT_UNITS = "SELECT count(*) FROM unit"

MISSING_NAMES = f"""SELECT DISTINCT name FROM node INDEXED BY node_name WHERE label = {_FUNCTION} AND source = ?1 AND name >= ?2
    AND NOT EXISTS (SELECT 1 FROM node AS known WHERE known.label = {_NAME} AND known.name = node.name AND known.source = ?1)
    ORDER BY name LIMIT ?3"""
ORPHAN_NAMES = f"""SELECT number, id FROM node AS orphan WHERE label = {_NAME} AND name IS NOT NULL AND NOT EXISTS (SELECT 1 FROM node
    WHERE label = {_FUNCTION} AND node.name = orphan.name AND node.source = orphan.source)"""

PENDING_SOURCE = "SELECT name FROM pending.source WHERE EXISTS(SELECT 1 FROM pending.meta WHERE key = 'generation')"
PENDING_DIFFERS = """SELECT 1 FROM pending.meta AS other LEFT JOIN main.meta AS own ON own.key = other.key
    WHERE other.key IN ('encoder', 'dimension') AND own.value IS NOT other.value"""
COPY_SOURCE = """INSERT INTO main.source (id, name, kind, root, revision, fingerprint, skipped, stages, package)
    SELECT id, name, kind, root, revision, fingerprint, skipped, stages, package FROM pending.source"""
PENDING_FRAGMENTS = """SELECT number + :fragment, :source, key, first_node + :node, last_node + :node, text, terms, calls
    FROM pending.fragment ORDER BY number"""
_PENDING_NODE = """SELECT number + :node, id, label, :source, fragment + :fragment, parent + :node, name, qualname, kind,
    start, "end", start_line, end_line, content_hash, properties FROM pending.node"""
PENDING_NODES = f"{_PENDING_NODE} WHERE number BETWEEN :first AND :last ORDER BY number"
PENDING_NAMES = f"{_PENDING_NODE} WHERE fragment IS NULL ORDER BY number"
COPY_VECTORS = "INSERT INTO main.vector SELECT node + :node, data, checksum FROM pending.vector ORDER BY node"
COPY_UNITS = """INSERT INTO main.unit SELECT number + :unit, id, :source, label, path, fingerprint, content_hash, language,
    status, reason, NULL FROM pending.unit ORDER BY number"""
PENDING_UNITS = "SELECT number + :unit FROM pending.unit ORDER BY number"
COPY_PARTS = """INSERT INTO main.part SELECT unit + :unit, first_line, fragment + :fragment FROM pending.part
    ORDER BY unit, first_line, fragment"""
COPY_TERMS = """INSERT INTO main.term SELECT (SELECT coalesce(max(number), 0) FROM main.term) + row_number() OVER
    (ORDER BY number), text FROM pending.term WHERE text NOT IN (SELECT text FROM main.term)"""
MATCH_TERMS = (
    "SELECT other.number, own.number FROM pending.term AS other JOIN main.term AS own ON own.text = other.text"
)
PENDING_NOTES = "SELECT unit + :unit, notes FROM pending.links ORDER BY unit"
PENDING_LINKS = (
    """SELECT unit + :unit, position, type, start, "end", line, find_term(rule), find_term(confidence)
    FROM pending.relation WHERE unit = :number ORDER BY position""",
    """SELECT unit + :unit, position, id, owner, expression, line, find_term(reason)
    FROM pending.call WHERE unit = :number ORDER BY position""",
)
"""Statements on a store attached as pending; :node, :unit and :fragment are added to its numbers (source_copying.py)."""

_NODE_COLUMNS = """node.number, node.id, node.label, source.name, node.fragment, node.parent, node.name, node.qualname, node.kind,
    node.start, node."end", node.start_line, node.end_line, node.content_hash, node.properties"""
_NODE_TABLES = "node JOIN source ON source.number = node.source"
GET_NODE = f"SELECT {_NODE_COLUMNS} FROM {_NODE_TABLES} WHERE node.id = ?"
GET_NUMBERED = f"SELECT {_NODE_COLUMNS} FROM {_NODE_TABLES} WHERE node.number = ?"
LIST_INSIDE = f"""SELECT {_NODE_COLUMNS} FROM {_NODE_TABLES} JOIN fragment ON fragment.number = node.fragment
    WHERE fragment.number = ?2 AND node.number BETWEEN fragment.first_node AND fragment.last_node AND node.number <> ?1
    AND node.start >= ?3 AND node."end" <= ?4 AND (node.start > ?3 OR node."end" < ?4 OR ?5)
    AND node.label <> {_IMPORT} ORDER BY node.start, node."end" DESC, node.number"""
LIST_UNIT_NODES = f"""SELECT {_NODE_COLUMNS} FROM {_NODE_TABLES} JOIN part ON part.fragment = node.fragment
    WHERE part.unit = ? AND node.label <> {_IMPORT} ORDER BY part.first_line, node.start, node."end" DESC, node.number"""
FIND_NAME = f"""SELECT {_NODE_COLUMNS} FROM {_NODE_TABLES} WHERE node.name = ? AND node.label IN ({_CLASS}, {_FUNCTION}, {_CONSTANT})
    AND (?2 IS NULL OR source.name = ?2)"""
EXPORT_NODES = f"SELECT {_NODE_COLUMNS} FROM {_NODE_TABLES} ORDER BY node.label, printf('%016x', node.id)"
LIST_UNIT_TEXTS = """SELECT part.first_line, fragment.number FROM part JOIN fragment ON fragment.number = part.fragment
    WHERE part.unit = ? ORDER BY part.first_line, fragment.key"""
LIST_IMPORTS = f"""SELECT {_NODE_COLUMNS} FROM unit JOIN part ON part.unit = unit.number
    JOIN fragment ON fragment.number = part.fragment
    JOIN node ON node.number BETWEEN fragment.first_node AND fragment.last_node AND node.fragment = fragment.number
    JOIN source ON source.number = node.source WHERE unit.id = ? AND node.label = {_IMPORT}
    ORDER BY node.start_line + part.first_line, printf('%016x', node.id)"""
GET_UNIT_OF = """SELECT unit.path, part.first_line, unit.id FROM part JOIN unit ON unit.number = part.unit
    WHERE part.fragment = ? ORDER BY unit.path, part.first_line LIMIT 1"""
GET_UNIT = """SELECT unit.number, unit.id, unit.label, source.name, unit.path, unit.content_hash, unit.language, unit.status,
    unit.reason FROM unit JOIN source ON source.number = unit.source WHERE unit.id = ?"""
EXPORT_UNITS = """SELECT unit.number, unit.id, unit.label, source.name, unit.path, unit.content_hash, unit.language, unit.status,
    unit.reason FROM unit JOIN source ON source.number = unit.source ORDER BY unit.label, printf('%016x', unit.id)"""
_CALL_COLUMNS = """call.id, source.name, unit.path, call.expression, call.line,
    (SELECT text FROM term WHERE number = call.reason) FROM call JOIN unit ON unit.number = call.unit
    JOIN source ON source.number = unit.source"""
GET_CALL = f"SELECT {_CALL_COLUMNS} WHERE call.id = ? ORDER BY unit.path, call.line LIMIT 1"
EXPORT_CALLS = f"SELECT {_CALL_COLUMNS} ORDER BY printf('%016x', call.id), unit.path, call.line"
GET_FILE_TEXT = f"""SELECT fragment.text FROM source JOIN unit ON unit.source = source.number JOIN part ON part.unit = unit.number
    JOIN fragment ON fragment.number = part.fragment WHERE source.name = ? AND unit.path = ? AND unit.label = {_FILE}"""
LIST_GENERATED = " UNION ".join(
    f"SELECT content_hash, properties FROM node WHERE source = (SELECT number FROM source WHERE name = ?) AND {each}"
    for each in (_IS_WRITTEN, _HAS_QUESTIONS)
)
LIST_LEAKS = f"SELECT id, properties FROM node WHERE {_IS_LEAKING} ORDER BY number"
LIST_FRAGMENTS_OF = f"""SELECT DISTINCT source.name, fragment.key, coalesce((SELECT unit.path FROM part
        JOIN unit ON unit.number = part.unit WHERE part.fragment = fragment.number AND unit.label = {_FILE}), ''),
    fragment.text, fragment.terms FROM json_each(?) AS asked JOIN node ON node.id = asked.value
    JOIN fragment ON fragment.number = node.fragment JOIN source ON source.number = fragment.source
    WHERE node.label IN ({_FUNCTION}, {_DECLARED})"""
GET_SOURCE = "SELECT id, name, kind, root, revision, package FROM source WHERE id = ?"
EXPORT_SOURCES = "SELECT id, name, kind, root, revision, package FROM source ORDER BY printf('%016x', id)"
EXPORT_EDGES = """SELECT type, printf('%016x', start) AS start, printf('%016x', "end") AS "end", line, rule, confidence FROM edge
    ORDER BY type, start, "end", line, rule, confidence"""
EDGES_OUT = 'SELECT type, start, "end", line, rule, confidence FROM edge WHERE start = ?'
EDGES_IN = 'SELECT type, start, "end", line, rule, confidence FROM edge WHERE "end" = ?'
_OF_SOURCE = "source.name = ?{0} OR ?{0} IS NULL"
LIST_NODES = f"""SELECT {_NODE_COLUMNS} FROM {_NODE_TABLES} WHERE (1 << node.label) & ?1 AND ({_OF_SOURCE.format(2)})
    ORDER BY node.number"""
LIST_CALLS = f"SELECT {_CALL_COLUMNS} WHERE {_OF_SOURCE.format(1)} ORDER BY call.id, unit.path, call.line"
_EDGES_OF_SOURCE = f"""SELECT type, start, "end", line, rule, confidence FROM ({{}}) AS edge
    JOIN source ON source.number = edge.source WHERE {_OF_SOURCE.format(1)}"""
LIST_STRUCTURE, LIST_LINKS = (_EDGES_OF_SOURCE.format(edges) for edges in (_STRUCTURE, _LINKS))
_OUTLINE = f"""SELECT node.number, node.id, node.label, source.name,
    (SELECT min(unit.path) FROM part JOIN unit ON unit.number = part.unit WHERE part.fragment = node.fragment),
    node.name, node.qualname, node.kind, node.end_line - node.start_line + 1, node.content_hash,
    {_HAS_QUESTIONS} > 0"""
LIST_OUTLINES = f"""{_OUTLINE} FROM json_each(?) AS asked JOIN node ON node.id = asked.value
    JOIN source ON source.number = node.source WHERE node.label IN ({_FUNCTION}, {_BLOCK}, {_DECLARED})"""
LIST_BLOCKS = f"""WITH RECURSIVE inside(number) AS (
        SELECT node.number FROM json_each(?) AS asked JOIN node ON node.id = asked.value WHERE node.label = {_FUNCTION}
        UNION ALL SELECT node.number FROM inside JOIN node ON node.parent = inside.number AND node.label = {_BLOCK})
    {_OUTLINE} FROM inside JOIN node ON node.number = inside.number JOIN source ON source.number = node.source
    WHERE node.label = {_BLOCK}"""
GET_VECTOR = "SELECT data, (SELECT value FROM meta WHERE key = 'dimension') FROM vector WHERE node = ?"
LIST_VECTORS = """SELECT node.number, node.id, node.content_hash, node.source, coalesce(node.fragment, 0), node.kind, vector.data
    FROM vector JOIN node ON node.number = vector.node WHERE (1 << node.label) & ? AND vector.node > ? ORDER BY vector.node"""
LIST_FRAGMENTS = "SELECT number FROM fragment"
COUNT_VECTORS = """SELECT count(*) FROM vector JOIN node ON node.number = vector.node
    WHERE (1 << node.label) & ? AND vector.node > ?"""

LIST_FRAGMENT_KEYS = "SELECT key, source, number FROM fragment ORDER BY key"
LIST_SORTED_UNITS = "SELECT id, path FROM unit ORDER BY id"
LIST_NODES_OF = """SELECT node.id, node.label FROM json_each(?) AS asked JOIN fragment ON fragment.number = asked.value
    JOIN node ON node.number BETWEEN fragment.first_node AND fragment.last_node JOIN source ON source.number = node.source
    WHERE source.name = ?2 OR ?2 IS NULL"""
_ASKED = "FROM json_each(?) AS asked JOIN"
LOCATE = (
    f"SELECT node.id, coalesce(node.fragment, 0), '' {_ASKED} node ON node.id = asked.value",
    f"SELECT unit.id, 0, '' {_ASKED} unit ON unit.id = asked.value",
    f"""SELECT call.id, 0, min(unit.path) {_ASKED} call ON call.id = asked.value JOIN unit ON unit.number = call.unit
        GROUP BY call.id""",
    f"SELECT source.id, 0, '' {_ASKED} source ON source.id = asked.value",
)
"""Statements that find the nodes of some ids, each with its fragment, and with the path of a call."""
_IDS = "SELECT {0}.id FROM {1} JOIN source ON source.number = {2}.source WHERE (source.name = ?1 OR ?1 IS NULL)"
LIST_SHARED_IDS = {
    Label.FUNCTION_NAME: f"{_IDS.format('node', 'node', 'node')} AND label = {_NAME}",
    Label.LIBRARY: f"{_IDS.format('node', 'node', 'node')} AND label = {_LIBRARY}",
    Label.CALL: _IDS.format("call", "call JOIN unit ON unit.number = call.unit", "unit"),
}

LIST_FRAGMENT_TERMS = "SELECT number, source, terms FROM fragment WHERE terms IS NOT NULL ORDER BY number"
LIST_SOURCE_NUMBERS = "SELECT number, name FROM source ORDER BY number"
FRAGMENTS_AT = "SELECT DISTINCT part.fragment FROM part JOIN unit ON unit.number = part.unit WHERE unit.path GLOB ?"
FRAGMENT_PATHS = "SELECT unit.path, part.fragment FROM part JOIN unit ON unit.number = part.unit"

CHECKSUM = "checksum"  # the key in meta of the sum over what HEAD lists
HEAD = (
    f"SELECT key, value FROM meta WHERE key <> '{CHECKSUM}' ORDER BY key",
    "SELECT * FROM source ORDER BY number",
    "SELECT number, text FROM term ORDER BY number",
    "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name",
)
LIST_FRAGMENT_ROWS = "SELECT number, source, key, first_node, last_node, text, terms, calls, checksum FROM fragment"
LIST_NODE_ROWS = "SELECT * FROM node WHERE number BETWEEN ? AND ? ORDER BY number"
LIST_UNIT_ROWS = "SELECT number, id, source, label, path, content_hash, language, status, reason, checksum FROM unit"
LIST_PART_ROWS = "SELECT unit, first_line, fragment FROM part WHERE unit = ? ORDER BY first_line, fragment"
LIST_LINK_ROWS = "SELECT unit, notes, notes_checksum, checksum FROM links"
LIST_SEALED_VECTORS = "SELECT node, data, checksum FROM vector"
LIST_NAME_ROWS = f"""SELECT source.name, node.* FROM node LEFT JOIN source ON source.number = node.source
    WHERE label IN ({_NAME}, {_LIBRARY}) OR fragment IS NULL"""


class Counts(NamedTuple):
    """Statements that count by label or type, and one that lists partial units."""

    sources: str
    nodes: Sequence[str]
    edges: str
    partial: str


def _make_counts(source: str, of_source: str, of_unit: str) -> Counts:
    """Build the statements from conditions on a row of source, on a row with a source, and on a link."""
    return Counts(
        f"SELECT count(*) FROM source WHERE {source}",
        (
            f"SELECT label, count(*) FROM node WHERE {of_source} GROUP BY label",
            f"SELECT label, count(*) FROM unit WHERE {of_source} GROUP BY label",
            f"SELECT {_CALL}, count(DISTINCT id) FROM call WHERE {of_unit} GROUP BY 1",
        ),
        f"""SELECT type, count(*) FROM ({_STRUCTURE}) WHERE {of_source} GROUP BY type
            UNION ALL SELECT CASE type {_TYPE_NAMES} END, count(*) FROM
                (SELECT DISTINCT type, start, "end", line, rule, confidence FROM relation WHERE {of_unit}) GROUP BY type
            UNION ALL SELECT 'UNRESOLVED', count(*)
                FROM (SELECT DISTINCT owner, id, line FROM call WHERE {of_unit}) GROUP BY 1 ORDER BY 1""",
        f"""SELECT path, coalesce(reason, status) FROM unit
            WHERE (status <> 'ok' OR reason IS NOT NULL) AND {of_source} ORDER BY path""",
    )


_NUMBER = "(SELECT number FROM source WHERE name = :source)"
COUNT_ALL = _make_counts("1", "1", "1")
COUNT_ONE = _make_counts(
    "name = :source", f"source = {_NUMBER}", f"unit IN (SELECT number FROM unit WHERE source = {_NUMBER})"
)
"""Separate statements, because a condition with `OR :source IS NULL` would not use the index."""
SIZES = {
    "texts": "SELECT coalesce(sum(length(text)), 0) FROM fragment",
    "call sites": "SELECT coalesce(sum(length(calls)), 0) FROM fragment",
    "vectors": "SELECT coalesce(sum(length(data)), 0) FROM vector",
    "terms": "SELECT coalesce(sum(length(terms)), 0) FROM fragment",
}
"""Bytes of the output of build stages (P-36): texts and call sites of extract, vectors of encode, terms of store."""
LOOSE = "relationships that lack an end"
LIST_LOOSE_ENDS = """SELECT DISTINCT "end" FROM relation
    WHERE "end" NOT IN (SELECT id FROM node UNION ALL SELECT id FROM unit)"""
CHECKS = {
    "nodes without a fragment": f"""SELECT count(*) FROM node WHERE label NOT IN ({_NAME}, {_LIBRARY})
        AND NOT EXISTS (SELECT 1 FROM fragment WHERE fragment.number = node.fragment)""",
    "fragments without a file or row": """SELECT count(*) FROM fragment
        WHERE NOT EXISTS (SELECT 1 FROM part WHERE part.fragment = fragment.number)""",
    "files or rows without a source": """SELECT count(*) FROM unit
        WHERE NOT EXISTS (SELECT 1 FROM source WHERE source.number = unit.source)""",
    "parts without a fragment": """SELECT count(*) FROM part
        WHERE NOT EXISTS (SELECT 1 FROM fragment WHERE fragment.number = part.fragment)""",
    "fragments that lost nodes": """SELECT count(*) FROM fragment WHERE last_node - first_node + 1 <>
        (SELECT count(*) FROM node WHERE number BETWEEN first_node AND last_node AND node.fragment = fragment.number)""",
    "parts without a file or row": "SELECT count(*) FROM part WHERE NOT EXISTS (SELECT 1 FROM unit WHERE unit.number = part.unit)",
    "embedded nodes without a vector": f"""SELECT count(*) FROM node WHERE label IN ({_EMBEDDED})
        AND NOT EXISTS (SELECT 1 FROM vector WHERE vector.node = node.number)""",
    "vectors of another length": """SELECT count(*) FROM vector
        WHERE length(data) <> 1 + (SELECT value FROM meta WHERE key = 'dimension')""",
    "fragments without terms; run pkg build again": "SELECT count(*) FROM fragment WHERE terms IS NULL",
    LOOSE: """SELECT count(*) FROM
        (SELECT start, "end" FROM relation UNION ALL SELECT owner, owner FROM call)
        WHERE start NOT IN (SELECT id FROM node UNION ALL SELECT id FROM unit)
        OR "end" NOT IN (SELECT id FROM node UNION ALL SELECT id FROM unit)""",
    "links without a file or row": """SELECT count(*) FROM
        (SELECT unit FROM relation UNION SELECT unit FROM call UNION SELECT unit FROM links)
        WHERE NOT EXISTS (SELECT 1 FROM unit AS known WHERE known.number = unit)""",
    "libraries that nothing refers to": f"""SELECT count(*) FROM node WHERE label = {_LIBRARY} AND name IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM relation WHERE relation."end" = node.id)""",
    "vectors without a node": "SELECT count(*) FROM vector WHERE NOT EXISTS (SELECT 1 FROM node WHERE node.number = vector.node)",
    "nodes whose parent is missing": """SELECT count(*) FROM node WHERE parent IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM node AS parent WHERE parent.number = node.parent)""",
    "function names without a function": f"""SELECT count(*) FROM node AS name WHERE label = {_NAME} AND name IS NOT NULL AND NOT EXISTS
        (SELECT 1 FROM node WHERE node.label = {_FUNCTION} AND node.name = name.name AND node.source = name.source)""",
    "functions without a name node": f"""SELECT count(*) FROM node WHERE label = {_FUNCTION} AND name IS NOT NULL AND NOT EXISTS
        (SELECT 1 FROM node AS name WHERE name.label = {_NAME} AND name.name = node.name AND name.source = node.source)""",
}
"""Counts that are zero in a sound store; each key describes the fault."""
