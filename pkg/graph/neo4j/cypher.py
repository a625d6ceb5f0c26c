"""All Cypher of the Neo4j store; values are passed as parameters, labels and types come from the enums."""

from __future__ import annotations

from collections.abc import Iterable

from pkg.graph.graph_records import GENERATED_PROPERTIES
from pkg.graph.neo4j.nodes import PROPERTIES
from pkg.model import DECLARATION_LABELS, EMBEDDED_LABELS, UNFOLDED_TYPES, Label, RelationType

STORE, FRAGMENT, LINKS, HOLDS = "PkgStore", "Fragment", "Links", "HOLDS"
"""Labels and a type of the store itself, beside those of the model."""

UNIT_LABELS = (Label.FILE, Label.ROW)
PIECE_LABELS = (
    Label.CLASS, Label.FUNCTION, Label.BLOCK, Label.IMPORT, Label.CONSTANT, Label.MODULE, Label.CHUNK,
    Label.FACT,
)  # fmt: skip
"""Labels of pieces of the text of a file or row."""
BATCH_LABELS = (*(label.value for label in (*UNIT_LABELS, *PIECE_LABELS)), FRAGMENT)
"""Labels of the nodes of a batch, in the order by which its relationships refer to their ends."""
GRAPH_LABELS = (Label.SOURCE, *UNIT_LABELS, *PIECE_LABELS, Label.FUNCTION_NAME, Label.LIBRARY, Label.CALL)
INDEXED_TEXTS = (Label.FUNCTION, Label.IMPORT, Label.CHUNK, Label.FACT)
STRUCTURE = (RelationType.CONTAINS, RelationType.HAS_BODY, RelationType.CHILD, RelationType.IMPORTS)
BATCH_TYPES = (*(each.value for each in STRUCTURE), HOLDS)
_CALLERS = (Label.FUNCTION, *UNIT_LABELS)
LINK_ENDS = {
    RelationType.RESOLVES_TO: ((Label.IMPORT,), (*UNIT_LABELS, Label.CLASS, Label.FUNCTION, Label.LIBRARY)),
    RelationType.CALLS: (_CALLERS, (Label.FUNCTION, Label.CLASS)),
    RelationType.INHERITS: ((Label.CLASS,), (Label.CLASS,)),
    RelationType.OVERRIDES: ((Label.FUNCTION,), (Label.FUNCTION,)),
    RelationType.UNRESOLVED: (_CALLERS, (Label.CALL,)),
}
"""Labels of the starts and ends of each resolved relationship."""
_LINKED = "|".join(each.value for each in LINK_ENDS)
_DOWNWARD = "CONTAINS|HAS_BODY|CHILD"
STRUCTURE_TYPES = "|".join(each.value for each in STRUCTURE)

GET_VERSION = """CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel'
    RETURN versions[0] AS version"""


def name_vector_index(label: Label) -> str:
    """Return the name of the vector index of a label."""
    return f"pkg_{label.value.lower()}_vector"


def name_text_index(label: Label) -> str:
    """Return the name of the full-text index of a label, for queries in Neo4j Browser."""
    return f"pkg_{label.value.lower()}_text"


def list_schema() -> list[str]:
    """Return the statements that create all constraints and indexes except vector indexes."""
    unique = "CREATE CONSTRAINT pkg_{name}_id IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE"
    lookup = "CREATE INDEX pkg_{name}_{key} IF NOT EXISTS FOR (n:{label}) ON (n.{key})"
    text = "CREATE FULLTEXT INDEX {name} IF NOT EXISTS FOR (n:{label}) ON EACH [n.qualname, n.content] {options}"
    options = "OPTIONS {indexConfig: {`fulltext.analyzer`: 'simple'}}"  # splits at every character that is no letter
    labels = (STORE, FRAGMENT, LINKS, *(label.value for label in GRAPH_LABELS))
    statements = [unique.format(name=label.lower(), label=label) for label in labels]
    for label, key in _LOOK_UPS:
        statements.append(lookup.format(name=label.lower(), label=label, key=key))
    for each in INDEXED_TEXTS:
        statements.append(text.format(name=name_text_index(each), label=each.value, options=options))
    return statements


_LOOK_UPS = (
    (Label.FUNCTION.value, "docstring_model"),  # every build reads generated texts
    (Label.FUNCTION.value, "questions_model"),
    *((label.value, "source") for label in GRAPH_LABELS[1:]),
    *((label, "source") for label in (FRAGMENT, LINKS)),
    *((label.value, "name") for label in (Label.CLASS, Label.CONSTANT, Label.FUNCTION, Label.FUNCTION_NAME)),
    *((label.value, "content_hash") for label in EMBEDDED_LABELS),
)

SHOW_VECTOR_INDEXES = """SHOW VECTOR INDEXES YIELD name, state, populationPercent, failureMessage, options
    WHERE name STARTS WITH 'pkg_'
    RETURN name, state, populationPercent AS percent, failureMessage AS failure,
    options.indexConfig['vector.dimensions'] AS dimension"""
CREATE_VECTOR_INDEX = """CREATE VECTOR INDEX {name} IF NOT EXISTS FOR (n:{label}) ON (n.embedding)
    OPTIONS {{indexConfig: {{`vector.dimensions`: {dimension:d}, `vector.similarity_function`: 'cosine',
    `vector.quantization.enabled`: true, `vector.hnsw.ef_construction`: 200}}}}"""
"""With vectors quantised to seven bits, whose scores are wrong by up to 0.04 on 5.26: results are compared again.

5.26 keeps such an index in dozens of segments and searches each, on Java 17 without vector instructions. Of the ten
best of 194,000 blocks it finds .975 in 6.8 ms with 80 candidates, including the second comparison; with unquantised
vectors, .967 in 10.6 ms. When later writes have made fifty segments of similar size, Lucene merges them, and searches
get faster.
"""
CREATE_FILTERED_INDEX = """CYPHER 25 CREATE VECTOR INDEX {name} IF NOT EXISTS FOR (n:{label}) ON (n.embedding)
    WITH [n.source] OPTIONS {{indexConfig: {{`vector.dimensions`: {dimension:d}, `vector.similarity_function`: 'cosine',
    `vector.quantization.enabled`: false, `vector.default_search_expansion_factor`: 3.0}}}}"""
"""With three times as many candidates as requested nodes, the recall of the ten best of 194,000 blocks is .98; with ten
times as many, .995 in 75 % more time."""
SHOW_CONSTRAINTS = "SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH 'pkg_' RETURN name"
SHOW_INDEXES = "SHOW INDEXES YIELD name WHERE name STARTS WITH 'pkg_' RETURN name"
DROP_CONSTRAINT = "DROP CONSTRAINT {name} IF EXISTS"
DROP_INDEX = "DROP INDEX {name} IF EXISTS"
AWAIT_INDEXES = "CALL db.awaitIndexes(3600)"

# The state of the store, which readers compare and a writer locks.

GET_VIEW = f"""OPTIONAL MATCH (s:{STORE} {{id: 'store'}}) OPTIONAL MATCH (c:{STORE} {{id: 'commit'}})
    RETURN s.generation AS generation, s.encoder AS encoder, s.dimension AS dimension,
    s.version AS version, s.stamp AS stamp, coalesce(c.number, 0) AS number,
    (timestamp() - coalesce(c.at, 0)) / 1000.0 AS age,
    COLLECT {{ MATCH (n:Source) WHERE n.state = 'ready' AND n.source = n.name AND n.skipped IS NOT NULL
        RETURN n {{.*}} }} AS sources"""
GET_STAMP = f"""OPTIONAL MATCH (s:{STORE} {{id: 'store'}}) OPTIONAL MATCH (c:{STORE} {{id: 'commit'}})
    RETURN s.generation AS generation, coalesce(c.number, 0) AS number"""
PUT_ENCODER = f"""MERGE (s:{STORE} {{id: 'store'}}) ON CREATE SET s.generation = 0
    SET s.version = coalesce(s.version, $version), s.encoder = coalesce(s.encoder, $encoder),
    s.dimension = coalesce(s.dimension, $dimension)
    MERGE (c:{STORE} {{id: 'commit'}}) ON CREATE SET c.number = 0
    RETURN s.encoder AS encoder, s.dimension AS dimension, s.version AS version"""
UPGRADE = (
    *(f"DROP INDEX pkg_{label.value.lower()}_words IF EXISTS" for label in INDEXED_TEXTS),
    "MATCH (n:Source) WHERE n.fingerprint IS NOT NULL SET n.fingerprint = ''",
    "MATCH (n:File|Row) WHERE n.fingerprint IS NOT NULL REMOVE n.fingerprint",
    "MATCH (n:Function|Import) WHERE n.words IS NOT NULL REMOVE n.words",
    f"MATCH (f:{FRAGMENT}) WHERE f.terms IS NOT NULL REMOVE f.terms",
    f"MATCH (s:{STORE} {{id: 'store'}}) SET s.version = 4",
)
"""Version 2 has terms by field instead of full text, version 3 splits compound words, version 4 has constants, modules,
vectors of classes and terms of all three; the next build reads all input for them."""
UPGRADE_4 = (f"MATCH (s:{STORE} {{id: 'store'}}) SET s.version = 6",)
"""Version 5 has chunks of text files, version 6 facts of documents, with constraints and indexes."""
LOCK_STORE = f"MATCH (s:{STORE} {{id: 'store'}}) SET s.writer = $writer RETURN s.generation AS generation"
PING = "RETURN 1"
RAISE_GENERATION = f"MATCH (s:{STORE} {{id: 'store'}}) SET s.generation = s.generation + 1, s.stamp = randomUUID()"
MARK_COMMIT = f"""MATCH (c:{STORE} {{id: 'commit'}}) WHERE c.number < $number
    SET c.number = $number, c.at = timestamp()"""

# Sources.

GET_SOURCE_STATE = "MATCH (n:Source {id: $id}) RETURN n {.*} AS source"
PUT_SOURCE = "MERGE (n:Source {id: $id}) SET n += $properties"
COUNT_OF_SOURCE = "MATCH (n:{label}) WHERE n.source = $source RETURN count(n) AS count"
LIST_UNFINISHED = "MATCH (n:Source) WHERE n.state = 'deleting' AND n.source = n.name RETURN n.name AS name, n.id AS id"
DELETE_SOME = "MATCH (n:{label}) WHERE n.source = $source WITH n LIMIT 5000 DETACH DELETE n RETURN count(*) AS count"
DELETE_SOURCE_NODE = "MATCH (n:Source {id: $id}) DETACH DELETE n"
_FINGERPRINTS = """RETURN u.path AS path, coalesce(u.fingerprint, '') AS fingerprint,
    CASE WHEN u.fingerprint IS NULL THEN '' ELSE u.content_hash END AS content ORDER BY path"""
LIST_FINGERPRINTS = f"MATCH (u:File|Row) WHERE u.source = $source {_FINGERPRINTS}"
LIST_SOME_FINGERPRINTS = f"MATCH (u:File|Row) WHERE u.source = $source AND u.id IN $ids {_FINGERPRINTS}"
PUT_FINGERPRINT = "MATCH (u:File|Row) WHERE u.source = $source AND u.id IN $ids SET u.fingerprint = $fingerprint"

LIST_NOTES = f"MATCH (l:{LINKS}) WHERE l.source = $source AND l.gone IS NULL RETURN l.path AS path, l.notes AS notes"
GET_TEXTS = f"UNWIND $ids AS id MATCH (u:File {{id: id}})-[:{HOLDS}]->(f) RETURN u.path AS path, f.text AS text"

LIST_GENERATED = " UNION ".join(
    f"""MATCH (n:Function) WHERE n.{name} IS NOT NULL AND n.source = $source
    RETURN n.content_hash AS hashed, n {{{", ".join(f".{name}" for name in GENERATED_PROPERTIES)}}} AS written"""
    for name in ("docstring_model", "questions_model")
)
_DOCUMENTABLE = " UNION ALL ".join(
    f"MATCH (n:{label.value} {{id: id}}) RETURN n" for label in (Label.FUNCTION, *DECLARATION_LABELS)
)
GET_AUDITS = f"OPTIONAL MATCH (s:{STORE} {{id: 'store'}}) RETURN s.audits AS audits"
LIST_LEAKS = """MATCH (n:Function|Class|Block|Module) WHERE n.leaks IS NOT NULL AND n.source IN $ready
    RETURN n.id AS id, n.leaks AS leaks ORDER BY id"""
LIST_FRAGMENTS_OF = f"""UNWIND $ids AS id CALL (id) {{ {_DOCUMENTABLE} }} WITH n WHERE n.source IN $ready
    MATCH (f:{FRAGMENT} {{id: n.fragment}}) WITH DISTINCT f, coalesce(n.path, '') AS path
    RETURN f.source AS source, f.key AS key, path, f.text AS text, f.terms AS terms"""

# Writing units: old nodes are released, new nodes are put, and released nodes that were not put again are deleted.

_UNIT = "CALL (id) { MATCH (u:File {id: id}) RETURN u UNION ALL MATCH (u:Row {id: id}) RETURN u }"
FIND_UNITS = f"""UNWIND $ids AS id {_UNIT}
    RETURN elementId(u) AS unit"""
RELEASE_FRAGMENTS = f"""MATCH (u) WHERE elementId(u) IN $units MATCH (u)-[h:{HOLDS}]->(f) DELETE h
    WITH DISTINCT f WHERE NOT EXISTS {{ ()-[:{HOLDS}]->(f) }}
    RETURN collect([f.id, elementId(f)]) AS found"""
RELEASE_TOPS = """MATCH (u) WHERE elementId(u) IN $units MATCH (u)-[r:CONTAINS|IMPORTS]->(t)
    DELETE r WITH DISTINCT t WHERE t.fragment IN $fragments RETURN collect(elementId(t)) AS tops"""
LIST_TOPS = f"""MATCH (f:{FRAGMENT}) WHERE f.id IN $fragments MATCH (f)<-[:{HOLDS}]-()-[:CONTAINS|IMPORTS]->(t)
    WHERE t.fragment = f.id RETURN collect(DISTINCT elementId(t)) AS tops"""
RELEASE_INSIDE = f"""MATCH (t) WHERE elementId(t) IN $tops MATCH (t)-[:{_DOWNWARD}*0..]->(n)
    WITH DISTINCT n RETURN collect([n.id, elementId(n)]) AS found"""
GET_IDS = "MATCH (n) WHERE elementId(n) IN $elements RETURN collect([n.id, elementId(n)]) AS found"
LOOSEN = f"MATCH (n) WHERE elementId(n) IN $elements MATCH (n)-[r:{_DOWNWARD}]->() DELETE r"
CLEAR_ELEMENTS = "MATCH (n) WHERE elementId(n) IN $elements SET n = {}"
"""Precedes DELETE_ELEMENTS, because indexes of 2026.08 still find a node changed and deleted in one transaction."""
DELETE_ELEMENTS = "MATCH (n) WHERE elementId(n) IN $elements DETACH DELETE n"
FIND_FRAGMENTS = f"UNWIND $ids AS id MATCH (f:{FRAGMENT} {{id: id}}) RETURN f.id AS id, f.terms IS NULL AS lacks_terms"
PUT_TERMS = f"UNWIND $terms AS t MATCH (f:{FRAGMENT} {{id: t[0]}}) SET f.terms = t[1]"


_WITH_LIST = "p {.*, embedding: toFloatList(p.embedding)}"  # a vector is sent packed and stored as a list of floats


def put_batch(merge: bool, packed: bool = False) -> str:
    """Return the statement that puts a batch of units: nodes by label, then relationships by type.

    Relationships refer to their ends by position among all nodes of the batch, without a look-up in an index.
    merge: existing nodes are found by id and keep their other relationships; else all nodes are new.
    packed: vectors are values of the server's vector type (2026.x).
    """
    make = "MERGE (n:{label} {{id: p.id}})" if merge else "CREATE (n:{label})"
    lists = [label.lower() for label in BATCH_LABELS]
    parts = ["CYPHER 25"] if packed else []
    for label, name in zip(BATCH_LABELS, lists, strict=True):
        properties = _WITH_LIST if packed and label in EMBEDDED_LABELS else "p"
        parts.append(
            f"CALL () {{ UNWIND ${name} AS p {make.format(label=label)} SET n = {properties}"
            f" RETURN collect(n) AS {name}s }}"
        )
    parts.append("WITH " + " + ".join(f"{name}s" for name in lists) + " AS nodes")
    for name in BATCH_TYPES:
        parts.append(
            f"CALL (nodes) {{ UNWIND ${name} AS r WITH nodes[r[0]] AS a, nodes[r[1]] AS b, r[2] AS line"
            f" CREATE (a)-[e:{name}]->(b) SET e.line = line }}"
        )
    return "\n".join(parts) + "\nFINISH"


HOLD_AGAIN = f"""UNWIND $again AS r MATCH (f:{FRAGMENT} {{id: r[1]}})
    CALL (r, f) {{ MATCH (f)<-[:{HOLDS}]-(other)-[e:CONTAINS|IMPORTS]->(t) WHERE t.fragment = f.id
        RETURN collect(DISTINCT t) AS tops }}
    WITH r, f, tops, r[0] AS id {_UNIT}
    CREATE (u)-[:{HOLDS} {{line: r[2]}}]->(f)
    FOREACH (t IN [t IN tops WHERE t:Import] | CREATE (u)-[:IMPORTS {{line: t.start_line + r[2] - 1}}]->(t))
    FOREACH (t IN [t IN tops WHERE NOT t:Import] | CREATE (u)-[:CONTAINS {{line: t.start_line + r[2] - 1}}]->(t))"""
CONTAIN_UNITS = f"""MATCH (s:Source {{id: $source}}) UNWIND $ids AS id {_UNIT}
    MERGE (s)-[:CONTAINS]->(u)"""

# Function names.

MISSING_NAMES = """MATCH (f:Function) WHERE f.source = $source AND f.name >= $first
    AND COUNT { (f)<-[:NAMES]-() } = 0
    WITH DISTINCT f.name AS name WHERE NOT EXISTS { MATCH (n:FunctionName {name: name})
        USING INDEX SEEK n:FunctionName(name) WHERE n.source = $source }
    RETURN name ORDER BY name LIMIT $limit"""
PUT_NAMES = "UNWIND $names AS p CREATE (n:FunctionName) SET n = p"
PUT_PACKED_NAMES = f"CYPHER 25 UNWIND $names AS p CREATE (n:FunctionName) SET n = {_WITH_LIST}"
_PUT_VECTORS = """UNWIND $rows AS row MATCH (n:{label} {{id: row[0]}}) WHERE n.embedding IS NOT NULL
    SET n.embedding = {vector} RETURN count(n) AS count"""
PUT_VECTORS = _PUT_VECTORS.replace("{vector}", "row[1]")
PUT_PACKED_VECTORS = "CYPHER 25 " + _PUT_VECTORS.replace("{vector}", "toFloatList(row[1])")
FIND_GENERATED = f"""UNWIND $ids AS id MATCH (n:Function {{id: id}}) WHERE n.fragment IN $fragments
    RETURN id, n {{{", ".join(f".{name}" for name in GENERATED_PROPERTIES)}}} AS written"""
PUT_GENERATED = "UNWIND $rows AS row MATCH (n:Function {id: row[0]}) SET n += row[1]"
PUT_AUDITS = f"MATCH (s:{STORE} {{id: 'store'}}) SET s.audits = $audits"
LIST_MARKED = "MATCH (n:Function|Class|Block|Module) WHERE n.leaks IS NOT NULL RETURN n.id AS id, n.leaks AS leaks"
_MARKED = " UNION ALL ".join(
    f"MATCH (n:{label} {{id: id}}) RETURN n" for label in ("Function", "Class", "Block", "Module")
)
PUT_LEAKS = f"""UNWIND $rows AS row WITH row[0] AS id, row[1] AS leaks CALL (id) {{ {_MARKED} }}
    SET n.leaks = leaks RETURN count(n) AS count"""
CHANGE_ENCODER = f"MATCH (s:{STORE} {{id: 'store'}}) SET s.encoder = $encoder, s.dimension = $dimension"
LIST_READY = "MATCH (n:Source) WHERE n.state = 'ready' AND n.source = n.name RETURN n.name AS name"
DROP_LOADING = """MATCH (n:Source) WHERE n.state = 'loading' AND n.source = n.name SET n.state = 'deleting'
    RETURN n.name AS name"""
LINK_NAMES = """MATCH (f:Function) WHERE f.source = $source AND COUNT { (f)<-[:NAMES]-() } = 0
    WITH f LIMIT $limit
    CALL (f) { MATCH (n:FunctionName {name: f.name}) USING INDEX SEEK n:FunctionName(name)
        WHERE n.source = $source RETURN n }
    CREATE (n)-[:NAMES]->(f) RETURN count(*) AS count"""
"""A look-up for each function, with a hint in a subquery: planned with the statistics of an empty database, a plain
match compares every function with every name."""
DELETE_ORPHAN_NAMES = (
    """MATCH (n:FunctionName) WHERE n.source = $source AND NOT EXISTS { (n)-[:NAMES]->() } DETACH DELETE n"""
)

# Resolved relationships: each has the path of its unit, because rows may share its start.

FIND_LINKED = f"""UNWIND $units AS unit
    CALL (unit) {{ MATCH (u:File {{id: unit.file}}) RETURN u UNION ALL MATCH (u:Row {{id: unit.row}}) RETURN u }}
    RETURN u.path AS path, u.id AS id, elementId(u) AS element, u:File AS is_file,
    EXISTS {{ MATCH (l:{LINKS} {{id: u.id}}) WHERE l.gone IS NULL }} AS is_linked"""
_LINKS_OF = f"""MATCH (u) WHERE elementId(u) IN $units
    MATCH (u)-[:CONTAINS|IMPORTS*0..]->(n)-[r:{_LINKED}]->(m) WHERE r.path = u.path"""
GET_LINKS = f"""{_LINKS_OF} WITH u.path AS path, collect(DISTINCT [type(r), n.id, m.id, r.line, r.rule, r.confidence,
    m.expression, m.reason]) AS links RETURN path, links"""
RELEASE_LINKS = f"{_LINKS_OF} WITH DISTINCT r DELETE r"
MARK_LINKS = f"UNWIND $ids AS id MATCH (l:{LINKS} {{id: id}}) SET l.gone = true"
PUT_NOTES = f"UNWIND $notes AS p MERGE (l:{LINKS} {{id: p.id}}) SET l = p"
PUT_ENDS = "UNWIND $ends AS p MERGE (n:{label} {{id: p.id}}) SET n = p"
LIST_LOOSE = f"""MATCH (n:Call) WHERE n.source = $source AND NOT EXISTS {{ (n)<-[:UNRESOLVED]-() }}
    RETURN elementId(n) AS element
    UNION ALL MATCH (n:Library) WHERE n.source = $source AND NOT EXISTS {{ (n)<-[:RESOLVES_TO]-() }}
    RETURN elementId(n) AS element
    UNION ALL MATCH (n:{LINKS}) WHERE n.source = $source AND n.gone RETURN elementId(n) AS element"""


def put_links(kind: RelationType) -> str:
    """Return the statement that puts relationships of a type: (start, end, path, line, rule, confidence) each.

    Their ends are looked up by id in the possible labels, with hints as in LINK_NAMES.
    """
    starts, ends = LINK_ENDS[kind]
    return "\n".join(
        (
            "UNWIND $links AS link",
            f"CALL (link) {{ {_find_end('a', 0, starts)} }}",
            f"CALL (link) {{ {_find_end('b', 1, ends)} }}",
            f"CREATE (a)-[:{kind.value} {{path: link[2], line: link[3], rule: link[4], confidence: link[5]}}]->(b)",
        )
    )


def _find_end(name: str, place: int, labels: tuple[Label, ...]) -> str:
    return " UNION ALL ".join(
        f"MATCH ({name}:{label.value} {{id: link[{place}]}}) USING INDEX SEEK {name}:{label.value}(id) RETURN {name}"
        for label in labels
    )


# Reading.

COMMON_LABELS = (*PIECE_LABELS, Label.CALL)
RARE_LABELS = tuple(label for label in GRAPH_LABELS if label not in COMMON_LABELS)
"""An id costs a look-up in the index of each label, so rare labels are tried last."""


def _find_nodes(labels: Iterable[Label]) -> str:
    """Return a clause that finds nodes by element id, at a fifth of the cost, and others by id."""
    each = (f"MATCH (n:{label.value} {{id: id}}) WHERE n.source IN $ready RETURN n" for label in labels)
    return f"""CALL () {{ MATCH (n) WHERE elementId(n) IN $elements AND n.source IN $ready RETURN n.id AS id, n
    UNION ALL UNWIND $ids AS id CALL (id) {{ {" UNION ALL ".join(each)} }} RETURN id, n }}"""


_FIND_PIECES = f"{_find_nodes(PIECE_LABELS)} WITH id, n WHERE n.fragment IS NOT NULL"

_PLACE_OF_CALL = """CALL (n) { OPTIONAL MATCH (n)<-[r:UNRESOLVED]-() WHERE n.path IS NULL
    RETURN r.path AS calling, r.line AS line ORDER BY calling, line LIMIT 1 }"""
_PLACE = f"""CALL (n) {{
    OPTIONAL MATCH (part:{FRAGMENT} {{id: CASE WHEN n.path IS NULL THEN n.fragment END}})<-[h:{HOLDS}]-(u)
    RETURN part, u.path AS path, h.line AS first_line ORDER BY path, first_line LIMIT 1 }}"""
"""A node of a file has its path and lines; only for a node of rows are the holders of its fragment read."""
_GRAPH_LABEL_NAMES = [label.value for label in GRAPH_LABELS]  # a node may have labels of other programs
_OWN_PROPERTIES = f"n {{{', '.join(f'.{name}' for name in PROPERTIES)}}}"
_NODE = f"[[each IN labels(n) WHERE each IN {_GRAPH_LABEL_NAMES}][0], {_OWN_PROPERTIES}, path, first_line]"
_EACH_NODE = f"RETURN collect([id, {_NODE}]) AS found"
"""One record for all: a message per node would cost more than finding it."""
_PLACED = f"""{_PLACE} {_PLACE_OF_CALL}
    WITH id, n, coalesce(path, calling) AS path, coalesce(first_line, line) AS first_line"""
GET_COMMON, GET_RARE = (f"{_find_nodes(labels)} {_PLACED} {_EACH_NODE}" for labels in (COMMON_LABELS, RARE_LABELS))
FIND_NAMES = f"""UNWIND $names AS id
    CALL (id) {{ MATCH (n:Function {{name: id}}) USING INDEX SEEK n:Function(name) WHERE n.source IN $ready RETURN n
    UNION ALL MATCH (n:Class {{name: id}}) USING INDEX SEEK n:Class(name) WHERE n.source IN $ready RETURN n
    UNION ALL MATCH (n:Constant {{name: id}}) USING INDEX SEEK n:Constant(name) WHERE n.source IN $ready RETURN n }}
    {_PLACE} {_EACH_NODE}"""
INSIDE_PIECE = f"""{_FIND_PIECES}
    CALL (n) {{ MATCH (n)<-[:HAS_BODY|CHILD*0..]-(o) WHERE NOT o:Block RETURN o }}
    MATCH (o)-[:{_DOWNWARD}*0..]->(m) WHERE m <> n AND m.start >= n.start AND m.end <= n.end
    WITH DISTINCT id, m AS n {_PLACE} {_EACH_NODE}"""
_EDGE = "[elementId(m), m.id, type(r), {start}.id, {end}.id, r.line, r.rule, r.confidence] AS edge"
_CALLS = "[{fragment}.calls, n.start_line, n.end_line, first_line]"
_UNFOLDED = "|".join(each.value for each in UNFOLDED_TYPES)
_CALLED = "|".join(each.value for each in UNFOLDED_TYPES if each is not RelationType.CONTAINS)
_RANKED = (Label.FUNCTION, Label.BLOCK, *DECLARATION_LABELS)
UNFOLD = f"""{_find_nodes(_RANKED)} WITH id, n WHERE n.fragment IS NOT NULL {_PLACE}
    OPTIONAL MATCH (n)<-[:HAS_BODY|CHILD*0..]-(o) WHERE o:Function OR o:Class
    WITH {_NODE} AS node,
        COLLECT {{ MATCH (o)-[:{_DOWNWARD}*0..]->(m:Block) WHERE o:Function AND m.start >= n.start AND m.end <= n.end
            AND m <> n AND m.kind <> 'body' WITH DISTINCT m ORDER BY m.start, m.end DESC, m.position
            RETURN [m.id, m.kind, m.start, m.end, m.start_line, m.end_line] }} AS blocks,
        COLLECT {{ MATCH (o)-[r:{_UNFOLDED}]->(m) WHERE m.source IN $ready
            RETURN {_EDGE.format(start="o", end="m")} }} AS links,
        CASE WHEN part IS NOT NULL THEN {_CALLS.format(fragment="part")} END AS calls,
        COLLECT {{ MATCH (o)-[r:{_CALLED}]->(m) WHERE m.source IN $ready
            AND n.start_line <= r.line AND r.line <= n.end_line RETURN m }} AS called
    WITH collect([node, blocks, links, calls]) AS unfolded, collect(called) AS called
    CALL (called) {{ UNWIND called AS each UNWIND each AS n WITH DISTINCT n, n.id AS id {_PLACED} {_EACH_NODE} }}
    RETURN unfolded, found"""
"""With the callees on the lines of a node, which are read next; only nodes of files have such links."""
INSIDE_UNIT = f"""{_find_nodes(UNIT_LABELS)} WITH n AS u MATCH (u)-[h:{HOLDS}]->(f)
    MATCH (u)-[c:CONTAINS]->(t) WHERE t.fragment = f.id AND c.line = t.start_line + h.line - 1
    MATCH (t)-[:{_DOWNWARD}*0..]->(n) WITH h.line AS held, f.id AS fragment, n {_PLACE}
    RETURN {_NODE} AS node ORDER BY held, fragment, n.start, n.end DESC, n.position"""
GET_CALLS = f"""{_FIND_PIECES} MATCH (f:{FRAGMENT} {{id: n.fragment}}) {_PLACE}
    RETURN collect([id, {_CALLS.format(fragment="f")}]) AS found"""
_SCORE = """CASE WHEN ($vector[0] <> 0 OR any(x IN $vector WHERE x <> 0))
    AND (vector[0] <> 0 OR any(x IN vector WHERE x <> 0))
    THEN vector.similarity.cosine(vector, $vector) ELSE 0.5 END"""
"""Of a vector bound to a variable before, because each mention of a property reads it again."""
LIST_OUTLINES = f"""CALL () {{ {_find_nodes(_RANKED)}
    WITH n WHERE n:{"|".join(label.value for label in _RANKED)} RETURN n AS found
    UNION UNWIND $functions AS id MATCH (o:Function {{id: id}}) WHERE o.source IN $ready
        MATCH (o)-[:HAS_BODY]->()-[:CHILD*0..]->(n:Block) RETURN n AS found }}
    CALL (found) {{ RETURN found AS n UNION ALL MATCH (found:Block)<-[:HAS_BODY|CHILD*]-(n:Function) RETURN n }}
    WITH DISTINCT n
    WITH n, n.embedding AS vector, CASE WHEN n.path IS NULL THEN head(COLLECT {{
        MATCH (:{FRAGMENT} {{id: n.fragment}})<-[h:{HOLDS}]-(u) RETURN u.path AS path ORDER BY path, h.line LIMIT 1
    }}) ELSE n.path END AS path
    RETURN collect([elementId(n), n.id, [each IN labels(n) WHERE each IN {_GRAPH_LABEL_NAMES}][0], n.source,
        path, n.name, n.qualname, n.kind, n.end_line - n.start_line + 1, n.content_hash, {_SCORE},
        n.questions_model IS NOT NULL]) AS found"""
GET_IMPORTS = f"""UNWIND $units AS unit WITH unit[0] AS id, unit[1] AS names {_UNIT}
    WITH id, names, u WHERE u.source IN $ready
    CALL (u, names) {{ MATCH (u)-[e:IMPORTS]->(n) WHERE n.source IN $ready
        AND coalesce(n.alias, n.imported, split(n.module, '.')[0]) IN names
        {_PLACE} WITH e, n, path, first_line ORDER BY e.line, n.id RETURN collect({_NODE}) AS found }}
    RETURN id, found"""
_EDGES = {
    "out": f"MATCH (n)-[r:{{types}}]->(m) WHERE m.source IN $ready RETURN {_EDGE.format(start='n', end='m')}",
    "in": f"MATCH (n)<-[r:{{types}}]-(m) WHERE m.source IN $ready RETURN {_EDGE.format(start='m', end='n')}",
}


def list_edges_at(types: Iterable[RelationType], direction: str) -> str:
    """Return the statement that lists relationships of some types at nodes.

    It returns one record per existing node; a record per relationship would cost several times as much.
    """
    names = "|".join(sorted(each.value for each in types))
    patterns = _EDGES.values() if direction == "both" else [_EDGES[direction]]
    edges = " UNION ALL ".join(each.replace("{types}", names) for each in patterns)
    return f"""{_find_nodes(GRAPH_LABELS)} CALL (n) {{ CALL (n) {{ {edges} }} RETURN collect(edge) AS edges }}
    RETURN n.id AS id, edges"""


COUNT_LABEL = "MATCH (n:{label}) WHERE n.source IN $ready RETURN count(n) AS count"
COUNT_TYPE = "MATCH (n)-[r:{type}]->(m) WHERE n.source IN $ready AND m.source IN $ready RETURN count(r) AS count"
COUNT_LINKS = """MATCH (n)-[r:{type}]->(m) WHERE n.source IN $ready AND m.source IN $ready
    WITH DISTINCT n, m, r.line AS line, r.rule AS rule, r.confidence AS confidence RETURN count(*) AS count"""
LIST_PARTIAL = """MATCH (u:File|Row) WHERE u.source IN $ready AND (u.status <> 'ok' OR u.reason IS NOT NULL)
    RETURN u.path AS path, coalesce(u.reason, u.status) AS reason ORDER BY path"""

EXPORT_LABEL = f"""MATCH (n:$($label)) WHERE n.source IN $ready WITH n ORDER BY n.id {_PLACE}
    RETURN $label AS label, n {{.*}} AS node, path, first_line"""
LIST_NODES = f"""MATCH (n:$($label)) WHERE n.source IN $ready {_PLACE} {_PLACE_OF_CALL}
    WITH n, coalesce(path, calling) AS path, coalesce(first_line, line) AS first_line
    RETURN $label AS label, {_OWN_PROPERTIES} AS node, path, first_line"""
EXPORT_CALLS = f"""MATCH (n:$($label)) WHERE n.source IN $ready WITH n ORDER BY n.id {_PLACE_OF_CALL}
    RETURN $label AS label, n {{.*}} AS node, calling AS path, line AS first_line"""
EXPORT_UNITS = f"""MATCH (n:$($label)) WHERE n.source IN $ready WITH n ORDER BY n.id
    CALL (n) {{ OPTIONAL MATCH (n)-[h:{HOLDS}]->(f) WITH h, f ORDER BY h.line, f.key
        RETURN collect([h.line, f.text]) AS parts }}
    RETURN $label AS label, n {{.*}} AS node, null AS path, null AS first_line, parts"""
EXPORT_TYPE = """MATCH (n)-[r:{type}]->(m) WHERE n.source IN $ready AND m.source IN $ready
    RETURN n.id AS start, m.id AS end, r.line AS line, r.rule AS rule, r.confidence AS confidence
    ORDER BY start, end, coalesce(r.line, -1), coalesce(r.rule, ''), coalesce(r.confidence, '')"""

# Searching.

_PASSES = """n.source IN $names AND ($kinds IS NULL OR n.kind IN $kinds)
    AND ($fragments IS NULL OR n.fragment IN $fragments)"""
_SAME = f"COUNT {{{{ MATCH (m:{{label}} {{{{content_hash: n.content_hash}}}}) WHERE {_PASSES.replace('n.', 'm.')} }}}}"
_FOUND = f"RETURN collect([elementId(n), n.id, n.content_hash, score, {_SAME}]) AS found"
FRAGMENTS_AT = f"""MATCH (u:File|Row) WHERE u.source IN $names AND u.path =~ $pattern MATCH (u)-[:{HOLDS}]->(f)
    RETURN collect(DISTINCT f.id) AS fragments"""
COUNT_PASSING = f"MATCH (n:{{label}}) WHERE {_PASSES} RETURN count(n) AS count"
SCAN_VECTORS = f"""MATCH (n:{{label}}) WHERE {_PASSES}
    WITH n, n.embedding AS vector WITH n, {_SCORE} AS score ORDER BY score DESC, n.id LIMIT $look {_FOUND}"""
_COMPARED = "WITH n, n.embedding AS vector WITH n, vector.similarity.cosine(vector, $vector) AS score"
"""The scores of unquantised vectors, for results of an index of quantised ones."""
QUERY_INDEX = f"""CALL db.index.vector.queryNodes('{{index}}', $ask, $vector) YIELD node AS n WHERE {_PASSES}
    {_COMPARED} ORDER BY score DESC LIMIT $look {_FOUND}"""
QUERY_NEAR = f"""CALL db.index.vector.queryNodes('{{index}}', $ask, $vector) YIELD node AS n
    {_COMPARED} WHERE score >= $least
    RETURN collect([elementId(n), n.id, n.content_hash, score, CASE WHEN {_PASSES} THEN {_SAME} ELSE 0 END]) AS found"""
LIST_TERMS = f"""MATCH (f:{FRAGMENT}) WHERE f.source IN $ready AND f.terms IS NOT NULL
    RETURN f.id AS id, f.source AS source, f.terms AS terms"""
SEARCH_INDEX, SEARCH_FILTERED = (
    f"""CYPHER 25 MATCH (n:{{label}}) SEARCH n IN (VECTOR INDEX {{index}} FOR $vector {inside} LIMIT $ask)
    SCORE AS score WHERE {_PASSES} WITH n, score ORDER BY score DESC LIMIT $look {_FOUND}"""
    for inside in ("", "WHERE n.source IN $names")
)
"""The search of a vector index of 2026.x; filtering by source inside the index takes an eighth more time."""
