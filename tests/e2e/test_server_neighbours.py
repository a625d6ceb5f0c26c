"""Isolation of a build on a shared server: readers, graphs of other programs, and passwords."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from disturbed_builds import FILES, PATIENCE, TcpProxy, ask, build_embedded, build_into, edit, look, start_build
from neo4j import Driver, Session
from neo4j.exceptions import Neo4jError
from neo4j_servers import NEWEST_FIRST, Server, empty_database, open_server
from trees import export_lines, open_graph_at, write_tree

from pkg.errors import StoreChangedError, StoreError
from pkg.graph.neo4j import cypher, neo4j_writing
from pkg.graph.neo4j.neo4j_store import Neo4jStore
from pkg.indexing.build import build, drop_source
from pkg.model import EMBEDDED_LABELS, Label

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.server, pytest.mark.usefixtures("hasten")]


@pytest.fixture(params=NEWEST_FIRST)
def server(request: pytest.FixtureRequest) -> Server:
    """Return the shared server of a version."""
    return open_server(request.param)


def test_a_reader_sees_a_write_only_after_its_end(
    server: Server, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_into(server.uri, tree)
    other = write_tree(tmp_path / "other", {"late.py": "def late_comer(guest):\n    return guest\n"})
    before = look(server.uri)
    edit(tree)
    with closing(Neo4jStore(server.uri)) as writer, closing(Neo4jStore(server.uri)) as reader:
        publish, seen = neo4j_writing.Neo4jWriter.publish, []

        def look_before(self: neo4j_writing.Neo4jWriter) -> None:
            """Read after everything is written, just before it becomes visible."""
            seen.append((look(server.uri), reader.find_name("late_comer")))
            publish(self)

        monkeypatch.setattr(neo4j_writing.Neo4jWriter, "publish", look_before)
        build(str(tree), writer)
        build(str(other), writer)
        assert seen == [(before, []), ((2, build_embedded(tree)), [])]
        assert [node.name for node in reader.find_name("late_comer")] == ["late_comer"]
        assert reader.generation() == 3


def read_during(reader: Neo4jStore, write: Callable[[], object]) -> None:
    with reader.snapshot():
        assert len(reader.find_name("area_0_0")) == 1
        write()


def test_a_reader_detects_a_commit_during_its_snapshot(server: Server, tree: Path) -> None:
    build_into(server.uri, tree)
    edit(tree)
    with closing(Neo4jStore(server.uri)) as reader:
        with pytest.raises(StoreChangedError, match=r"a write ended while .* was read; try again"):
            read_during(reader, lambda: build_into(server.uri, tree))
        read_during(reader, lambda: build_into(server.uri, tree))  # which changes nothing


def test_a_session_of_a_reader_cannot_write(server: Server, driver: Driver, tree: Path) -> None:
    build_into(server.uri, tree)
    with closing(Neo4jStore(server.uri)) as store:
        for statement in ("CREATE (:Evil)", "MATCH (n:Function) SET n.name = 'evil'", "MATCH (n) DETACH DELETE n"):
            with pytest.raises(StoreError, match="refuses: Writing in read access mode not allowed"):
                store._reader.run(statement)
            with pytest.raises(StoreError, match="refuses: Writing in read access mode not allowed"):
                list(store._reader.stream(statement))
    assert ask(driver, "MATCH (n:Evil) RETURN n") == []
    assert look(server.uri) == (1, build_embedded(tree))


FOREIGN = """UNWIND range(1, 40) AS id
    CREATE (a:Function {id: id, name: 'area_0_0', source: 'elsewhere', embedding: $vector, words: 'area'})
    CREATE (b:Block {name: 'b', embedding: [1.0, 2.0, 3.0]}), (:File {path: 'part_00.py'}), (:Row), (:Class:Import)
    CREATE (:Source {id: id, name: 'shop', state: 'ready'}), (:Source {id: 'x' + id, state: 'deleting', name: 'shop'})
    CREATE (:Fragment {source: 'elsewhere'}), (:Note)-[:CONTAINS]->(:Function)
    CREATE (a)-[:CALLS]->(b), (a)-[:CONTAINS]->(b), (:FunctionName {name: 'area_0_0'})-[:NAMES]->(a)"""
COUNT_FOREIGN = """MATCH (n) WHERE NOT n:PkgStore AND (n.source IS NULL OR n.source <> 'shop')
    OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n) AS nodes, count(r) AS edges"""


def test_a_foreign_graph_in_the_same_database_and_ours_are_independent(
    server: Server, driver: Driver, tree: Path
) -> None:
    with closing(open_graph_at(tree.parent / "graph.db")) as embedded:
        build(str(tree), embedded)
        lines = list(embedded.export(vectors=True))
        vector = next(line["vector"] for line in lines if line.get("qualname") == "area_0_0")
        ask(driver, FOREIGN, vector=vector)
        foreign = ask(driver, COUNT_FOREIGN)
        build_into(server.uri, tree)
        with closing(Neo4jStore(server.uri)) as store:
            assert export_lines(store) == export_lines(embedded)
            assert (store.stats().nodes, store.stats().relations) == (
                embedded.stats().nodes,
                embedded.stats().relations,
            )
            query = np.array(vector, np.float32)
            assert store.vector_search(Label.FUNCTION, query, 9) == embedded.vector_search(Label.FUNCTION, query, 9)
            assert len(store.text_search(Label.FUNCTION, {"area": 1.0}, 50).matches) == 50
            assert {node.source for node in store.find_name("area_0_0")} == {"shop"}
            edit(tree)
            build(str(tree), store)
            assert ask(driver, COUNT_FOREIGN) == foreign
            drop_source(store, "shop")
            assert store.stats().nodes == {"Source": 0}
    assert ask(driver, COUNT_FOREIGN) == foreign
    assert ask(driver, "MATCH (n) WHERE n.source = 'shop' RETURN n") == []


def test_foreign_nodes_that_share_an_id_are_an_error_that_names_them(
    server: Server, driver: Driver, tree: Path
) -> None:
    empty_database(driver, drop_schema=True)
    ask(driver, "CREATE (:Row {id: 7}), (:Row {id: 7})")
    with pytest.raises(StoreError, match=r"refuses: Unable to create Constraint.*pkg_row_id.*use another database"):
        build_into(server.uri, tree)
    assert ask(driver, "SHOW CONSTRAINTS") == []  # earlier changes are rolled back
    ask(driver, "MATCH (n:Row) DELETE n")
    ask(driver, "CREATE INDEX theirs FOR (n:Row) ON (n.id)")
    with pytest.raises(StoreError, match=r"refuses: There already exists an index.*drop it"):
        build_into(server.uri, tree)
    ask(driver, "DROP INDEX theirs")
    assert build_into(server.uri, tree).written == FILES
    assert look(server.uri) == (1, build_embedded(tree))


def test_a_foreign_vector_index_of_the_same_property_is_reported(server: Server, driver: Driver, tree: Path) -> None:
    empty_database(driver, drop_schema=True)
    with closing(Neo4jStore(server.uri, create=True)) as store:
        create = cypher.CREATE_FILTERED_INDEX if store._has_filters else cypher.CREATE_VECTOR_INDEX
        ask(driver, create.format(name="theirs", label="Block", dimension=3))
        with pytest.raises(
            StoreError, match=r"another vector index on the embedding of Block.*'pkg_block_vector'.*drop"
        ):
            build(str(tree), store)
        ask(driver, "DROP INDEX theirs")
        assert build(str(tree), store).unchanged == FILES  # all was loaded, and hidden
    assert look(server.uri) == (1, build_embedded(tree))


def test_a_dropped_vector_index_is_created_again(server: Server, driver: Driver, tree: Path) -> None:
    build_into(server.uri, tree)
    ask(driver, "DROP INDEX pkg_block_vector")
    build_into(server.uri, tree)
    assert len(ask(driver, cypher.SHOW_VECTOR_INDEXES)) == len(EMBEDDED_LABELS)


def test_no_output_has_passwords_and_no_log_has_code(
    server: Server,
    driver: Driver,
    tree: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG", "neo4j")
    with closing(Neo4jStore(server.uri, create=True)) as store:
        build(str(tree), store)
        said = [repr(store), repr(vars(store)), caplog.text]
    assert "C: RUN" in caplog.text
    assert "area_0_0" not in caplog.text  # nor in the driver's log
    said += [repr(row) for row in ask(driver, "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN n, r")]
    monkeypatch.setenv("PKG_NEO4J_PASSWORD", f"not {server.password}")
    for uri in (server.uri, f"{server.uri}/nowhere", server.uri.replace("//", f"//neo4j:{server.password}@")):
        said += start_build(uri, tree, "--debug").communicate(timeout=PATIENCE)
    assert [text for text in said if server.password in text] == []
    assert "area_0_0" in "".join(said)


def test_a_wrong_password_is_tried_once(server: Server, driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    with TcpProxy(server.uri) as proxy:
        monkeypatch.setenv("PKG_NEO4J_PASSWORD", "wrong")
        for _ in range(2):  # three would lock the user out
            with pytest.raises(StoreError, match=r"refuses: The client is unauthorized.*set PKG_NEO4J_USER and"):
                Neo4jStore(proxy.uri)
        assert proxy.accepted == 2
        monkeypatch.setenv("PKG_NEO4J_PASSWORD", server.password)
        Neo4jStore(proxy.uri, create=True).close()
    monkeypatch.delenv("PKG_NEO4J_PASSWORD")
    with pytest.raises(StoreError, match=r"refuses: no password was given; set PKG_NEO4J_USER and PKG_NEO4J_PASSWORD"):
        Neo4jStore(server.uri)


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_wrong_database_is_named(server: Server, scheme: str) -> None:
    with pytest.raises(StoreError, match=r"nowhere.*name one that exists"):
        Neo4jStore(f"{server.uri.replace('bolt', scheme)}/nowhere", create=True)


def test_labels_added_to_our_nodes_do_no_harm(server: Server, driver: Driver, tree: Path) -> None:
    ask(driver, "CREATE (n:Approved) DELETE n")  # the labels of a node are listed in the order of their creation
    build_into(server.uri, tree)
    ask(driver, "MATCH (n:Function|Block|File) SET n:Approved")
    assert look(server.uri) == (1, build_embedded(tree))
    with closing(Neo4jStore(server.uri)) as store:
        assert [node.label for node in store.find_name("area_0_0")] == [Label.FUNCTION]


def test_the_script_for_a_read_only_user_is_valid(server: Server, driver: Driver) -> None:
    script = (ROOT / "examples" / "read_only_user.cypher").read_text(encoding="utf-8")
    text = "\n".join(line for line in script.splitlines() if not line.startswith("//"))
    statements = [statement.strip() for statement in text.split(";") if statement.strip()]
    with driver.session(database="system") as system:
        said = [find_code(system, statement) for statement in statements]
        system.run("DROP USER pkg_reader").consume()
    # The Community edition parses the statements, but has no roles.
    assert set(said) <= {"", "Neo.ClientError.Statement.UnsupportedAdministrationCommand"}
    assert len(statements) > 5


def find_code(system: Session, statement: str) -> str:
    try:
        system.run(statement, password="read and no more").consume()
    except Neo4jError as fault:
        return fault.code or "unknown"
    return ""
