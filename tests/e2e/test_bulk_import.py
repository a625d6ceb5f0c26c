"""Files for `neo4j-admin database import` give the exported graph again, on every version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from neo4j_servers import VERSIONS, LaunchedServer, open_on
from trees import GUIDES, SHOP, export_lines, write_rows, write_tree

from pkg.api import Graph
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.neo4j.neo4j_store import Neo4jStore
from pkg.indexing.build import build
from pkg.indexing.bulk_export import export_bulk
from pkg.model import Hit, Label
from pkg.retrieval.query_options import Mode
from pkg.terms.term_weights import weigh_terms

PACKAGE = Path(hypothesis.__file__).parent / "strategies"
LINES = """def f(x):
    '''Quote "this";
    and \\that.'''
    if x:
        return '\f'
""".replace("\n", "\r\n")
SIGNS = """@mark("a;b", 'c"d')
@plain
class Ä(B, C["x,y"]):
    async def g(self):
        return ""
"""
AWKWARD = {
    "odd/lines.py": LINES,
    "odd/signs.py": SIGNS,
    "odd/empty.py": "",
    "odd/broken.py": "def broken(:\n    pass\n",
}
PART_BYTES = 50_000  # several files of a label
ROWS = ("import os\n\ndef f():\n    return os\n", "x = 1\nimport os\n\ndef f():\n    return os\n", "def g(): pass\n")

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    folder = tmp_path_factory.mktemp("bulk")
    with closing(EmbeddedStore(folder / "graph.db", create=True)) as store:
        build(str(PACKAGE), store)
        build(str(write_tree(folder / "odd", AWKWARD | SHOP)), store)
        build(str(write_rows(folder / "rows.jsonl", *ROWS)), store)
        build(str(write_tree(folder / "guides", GUIDES)), store, reader="structure")
        yield store


@pytest.fixture(scope="module")
def files(embedded: EmbeddedStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files") / "import"
    export_bulk(embedded, folder, part_bytes=PART_BYTES)
    assert (folder / "Block-3.csv").exists()
    assert (folder / "CALLS-2.csv").exists()
    return folder


@pytest.fixture(scope="module", params=[pytest.param(VERSIONS[0], marks=pytest.mark.full), VERSIONS[1]])
def imported(
    request: pytest.FixtureRequest, files: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Neo4jStore]:
    """Import by the arguments of the script into a new server, start it and create the schema."""
    server = LaunchedServer(request.param, tmp_path_factory.mktemp("neo4j"))
    server.admin("database", "import", "full", "neo4j", *read_arguments(files))
    server.start()
    with server.connect() as driver:
        schema = files / ("schema-5.cypher" if request.param.startswith("5.") else "schema-2026.cypher")
        for statement in schema.read_text(encoding="utf-8").split(";\n"):
            if statement:
                driver.execute_query(statement)
    with closing(open_on(server, create=False)) as store:
        yield store
    server.kill()


def read_arguments(files: Path) -> list[str]:
    """Read the arguments from the script, with absolute file names."""
    script = (files / "import.sh").read_text(encoding="utf-8").partition("database import")[2]
    words = re.findall(r"--[\w-]+=[\w.+=,-]+(?=\s)", script)
    return [re.sub(r"([=,])([\w-]+\.csv)", rf"\1{files}/\2", word) for word in words]


def test_the_imported_graph_equals_the_exported_one_line_by_line(embedded: EmbeddedStore, imported: Neo4jStore) -> None:
    assert export_lines(imported) == export_lines(embedded)


def test_the_imported_graph_is_valid_and_has_equal_counts(embedded: EmbeddedStore, imported: Neo4jStore) -> None:
    assert imported.check() == []
    ours, theirs = imported.stats(), embedded.stats()
    assert (ours.nodes, ours.relations, ours.partial) == (theirs.nodes, theirs.relations, theirs.partial)
    assert (ours.generation, ours.encoder, ours.dimension) == (1, theirs.encoder, theirs.dimension)


def test_facts_are_imported_with_their_relations(embedded: EmbeddedStore, imported: Neo4jStore) -> None:
    assert imported.stats().fact_relations == embedded.stats().fact_relations > 0
    ours, theirs = (
        [(hit.id, hit.qualname) for hit in Graph(store).query("how often is a request sent again", mode="fact").hits]
        for store in (imported, embedded)
    )
    assert ours == theirs
    assert theirs[0][1] == "Guide > Retries > times"


@pytest.mark.parametrize("mode", ["block", "function"])
def test_a_query_has_equal_results(embedded: EmbeddedStore, imported: Neo4jStore, mode: Mode) -> None:
    question = "draw a list of unique elements"
    ours, theirs = (Graph(store).query(question, mode=mode, top_k=5).hits for store in (imported, embedded))
    assert list(ours) == [_allow_single_precision(hit) for hit in theirs]


def _allow_single_precision(hit: Hit) -> Hit:
    """Round scores to the precision of a server, which computes cosines in single precision."""
    names = "score", "score_pruned", "cosine"
    near: dict[str, Any] = {name: pytest.approx(getattr(hit, name), abs=1e-6) for name in names}
    return replace(hit, **near)


def test_words_and_names_are_found(embedded: EmbeddedStore, imported: Neo4jStore) -> None:
    terms = weigh_terms("samples of a graph")
    ours, theirs = (store.text_search(Label.FUNCTION, terms, 100) for store in (imported, embedded))
    assert ours.matches
    assert ours == theirs
    assert len(imported.find_name("total")) == 2
    assert imported.find_name("total") == embedded.find_name("total")


def test_a_build_of_the_same_files_changes_nothing_after_the_import(imported: Neo4jStore) -> None:
    report = build(str(PACKAGE), imported)
    assert (report.written, report.removed, imported.generation()) == (0, 0, 1)
    assert report.unchanged == imported.stats().nodes["File"] - len(AWKWARD) - len(SHOP) - len(GUIDES)
