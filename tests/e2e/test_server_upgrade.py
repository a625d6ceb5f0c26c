"""A graph of an older version on a server is readable, and gets its terms with the next build."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from disturbed_builds import ask
from neo4j_servers import NEWEST_FIRST, empty_database, open_on, open_server
from trees import write_rows

from pkg.indexing.build import build
from pkg.model import Label
from pkg.terms.term_weights import weigh_terms

AREA, GROW = "class Area:\n    sides = 0\n\n    def area(self):\n        return 1\n", "def grow(by):\n    return by\n"
FULL_TEXT = (
    "MATCH (s:PkgStore {id: 'store'}) SET s.version = 1 REMOVE s.stamp",
    "MATCH (f:Fragment) REMOVE f.terms",
    "MATCH (n:Function) SET n.words = n.name",
    "DROP INDEX pkg_function_text IF EXISTS",
    "CREATE FULLTEXT INDEX pkg_function_words IF NOT EXISTS FOR (n:Function) ON EACH [n.words]",
)
WHOLE_WORDS = (
    "MATCH (s:PkgStore {id: 'store'}) SET s.version = 2 REMOVE s.stamp",
    "MATCH (f:Fragment) SET f.terms = null",
)
NO_DECLARATIONS = (
    "MATCH (s:PkgStore {id: 'store'}) SET s.version = 3 REMOVE s.stamp",
    "MATCH (f:Fragment) SET f.terms = null",
    "MATCH (n:Constant|Module) DETACH DELETE n",
    "MATCH (n:Class) REMOVE n.embedding",
)
NO_CHUNKS = (
    "MATCH (s:PkgStore {id: 'store'}) SET s.version = 4 REMOVE s.stamp",
    "MATCH (u:File {name: 'README.md'})-[:HOLDS]->(f) DETACH DELETE f",
    "MATCH (u:File {name: 'README.md'}) DETACH DELETE u",
    "MATCH (n:Chunk) DETACH DELETE n",
    "MATCH (n:Source) SET n.fingerprint = 'of-before' REMOVE n.count_Chunk",
    "DROP INDEX pkg_chunk_vector IF EXISTS",
    "DROP INDEX pkg_chunk_text IF EXISTS",
)
INDEXES = "SHOW FULLTEXT INDEXES YIELD name WHERE name STARTS WITH 'pkg_' RETURN name ORDER BY name"

pytestmark = pytest.mark.server


@pytest.mark.parametrize(
    "older",
    [FULL_TEXT, WHOLE_WORDS, NO_DECLARATIONS, NO_CHUNKS],
    ids=["full text", "words that were not split", "no declarations", "no chunks"],
)
@pytest.mark.parametrize("version", NEWEST_FIRST)
def test_an_older_graph_gets_its_terms_with_the_next_build(
    version: str, older: tuple[str, ...], tmp_path: Path
) -> None:
    server = open_server(version)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "cart.py").write_text("LIMIT = 3\n\n\ndef add_item(cart, item):\n    cart.append(item)\n")
    (tmp_path / "shop" / "README.md").write_text("# Shop\n\nIt sells bread.\n")
    sources = [str(tmp_path / "shop"), str(write_rows(tmp_path / "rows.jsonl", AREA, AREA, GROW))]
    with closing(server.connect()) as driver:
        empty_database(driver)
        with closing(open_on(server)) as store:
            for source in sources:
                build(source, store)
            before = [store.text_search(Label.FUNCTION, weigh_terms(each), 9) for each in ("area", "items")]
            lines = list(store.export(vectors=True))
        for statement in older:
            ask(driver, statement)
        with closing(open_on(server)) as store:
            if older not in (NO_DECLARATIONS, NO_CHUNKS):
                assert list(store.export(vectors=True)) == lines
            if older is not NO_CHUNKS:
                assert store.text_search(Label.FUNCTION, weigh_terms("area"), 9).matches == ()
            for source in sources:
                build(source, store)
            assert [store.text_search(Label.FUNCTION, weigh_terms(each), 9) for each in ("area", "items")] == before
            assert list(store.export(vectors=True)) == lines
            assert store.check() == []
        assert [row["name"] for row in ask(driver, INDEXES)] == [
            "pkg_chunk_text",
            "pkg_fact_text",
            "pkg_function_text",
            "pkg_import_text",
        ]
