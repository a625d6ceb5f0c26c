"""Say how files for an import get into a server: the command, a script of it, and the schema to make afterwards."""

from __future__ import annotations

from pathlib import Path

from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.csv_files import CsvFiles
from pkg.model import EMBEDDED_LABELS

LEAST_BUFFER = 4 << 20  # bytes that the import takes without being told
SCRIPT, GUIDE = "import.sh", "README.md"
SCHEMAS = {"schema-5.cypher": cypher.CREATE_VECTOR_INDEX, "schema-2026.cypher": cypher.CREATE_FILTERED_INDEX}

_SCRIPT = """\
#!/bin/sh
# Load the files of this folder into a database of a server that is stopped: sh import.sh [DATABASE]
# What the database held is overwritten. NEO4J_ADMIN names the tool when it is not on PATH.
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
    """List the arguments of the import after the name of the database; `folder` holds the files."""
    buffer = max(LEAST_BUFFER, 2 * files.longest)
    return [
        "--overwrite-destination=true",
        "--id-type=string",
        "--multiline-fields=true",
        "--array-delimiter=U+001F",
        f"--read-buffer-size={buffer}",
        *(f"--nodes={label}={folder / label}.csv" for label in sorted(files.nodes)),
        *(f"--relationships={kind}={folder / kind}.csv" for kind in sorted(files.relations)),
    ]


def list_schema(create_vector_index: str, dimension: int) -> list[str]:
    """List the statements that make constraints and indexes, and wait until all are filled."""
    vectors = [
        create_vector_index.format(name=cypher.name_vector_index(label), label=label.value, dimension=dimension)
        for label in EMBEDDED_LABELS
    ]
    return [*cypher.list_schema(), *vectors, cypher.AWAIT_INDEXES]


def write_guide(folder: Path, files: CsvFiles, encoder: str, dimension: int) -> None:
    """Write the script, the schema of each version, and what to do with them."""
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
