"""Each Neo4j server of the tests starts, answers, survives stops and kills, and ends with the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from downloads import DOWNLOADS
from neo4j_process import accepts_connections
from neo4j_servers import SERVERS, VERSIONS, LaunchedServer, Server, empty_database, open_server, start_server

from pkg.errors import StoreError

pytestmark = pytest.mark.server

PATIENCE = 30  # seconds for the immediate end of a process


@pytest.fixture(scope="module", params=VERSIONS)
def launched(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LaunchedServer]:
    """Launch a separate server for tests that stop and kill it."""
    server = start_server(request.param, tmp_path_factory.mktemp("neo4j"))
    yield server
    server.kill()


def ask_version(server: Server) -> str:
    with server.connect() as driver:
        records = driver.execute_query("CALL dbms.components() YIELD name, versions").records
    version: str = records[0]["versions"][0]
    return version


def count_nodes(server: Server) -> int:
    with server.connect() as driver:
        count: int = driver.execute_query("MATCH (n) RETURN count(n) AS nodes").records[0]["nodes"]
    return count


@pytest.mark.parametrize("version", SERVERS)
def test_a_shared_server_is_of_its_version_and_is_started_once(version: str) -> None:
    server = open_server(version)
    assert version in ("given", ask_version(server))
    assert open_server(version) is server


@pytest.mark.parametrize("version", SERVERS)
def test_an_emptied_database_keeps_its_schema_by_default(version: str) -> None:
    indexes = "SHOW INDEXES YIELD type WHERE type <> 'LOOKUP' RETURN count(*) AS number"
    with open_server(version).connect() as driver:
        empty_database(driver, drop_schema=True)
        driver.execute_query("CREATE CONSTRAINT `odd ``name` FOR (n:A) REQUIRE n.id IS UNIQUE")
        driver.execute_query("CREATE INDEX plain FOR (n:A) ON n.name")
        driver.execute_query("UNWIND range(1, 25000) AS id CREATE (:A {id: id})-[:R]->(:B)")
        empty_database(driver)
        assert driver.execute_query("MATCH (n) RETURN count(n) AS nodes").records[0]["nodes"] == 0
        assert driver.execute_query(indexes).records[0]["number"] == 2
        empty_database(driver, drop_schema=True)
        assert driver.execute_query(indexes).records[0]["number"] == 0


def test_a_launched_server_is_of_its_version_and_shows_the_browser(launched: LaunchedServer) -> None:
    assert ask_version(launched) == launched.version
    with urlopen(f"{launched.http}/browser/") as page:
        assert b"Neo4j Browser" in page.read()


@pytest.mark.parametrize("end", [LaunchedServer.stop, LaunchedServer.kill])
def test_a_restarted_server_has_its_data(launched: LaunchedServer, end: Callable[[LaunchedServer], None]) -> None:
    with launched.connect() as driver:
        driver.execute_query("MERGE (:Kept)")
    address = launched.uri
    end(launched)
    assert not accepts_connections(address)
    launched.start()
    assert launched.uri == address
    assert count_nodes(launched) == 1


def test_a_running_server_is_not_started_twice(launched: LaunchedServer) -> None:
    with pytest.raises(StoreError, match="runs as process"):
        launched.start()


def test_nodes_are_imported_offline(launched: LaunchedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, nowhere = tmp_path / "nodes.csv", tmp_path / "nowhere"
    nowhere.mkdir()
    monkeypatch.chdir(nowhere)
    rows.write_text(":ID,name,embedding:float[]\n1,a,0.5;0.25\n2,b,1;0\n3,c,0;1\n", encoding="utf-8")
    launched.stop()
    launched.admin("database", "import", "full", "neo4j", f"--nodes=Function={rows}", "--overwrite-destination=true")
    launched.start()
    assert count_nodes(launched) == 3
    assert list(nowhere.iterdir()) == []  # the tool leaves reports in its working folder


def test_errors_of_the_admin_tool_are_shown(launched: LaunchedServer) -> None:
    with pytest.raises(StoreError, match=r"neo4j-admin dbms no-such-act ended with [1-9](?s:.)*'no-such-act'"):
        launched.admin("dbms", "no-such-act")


def test_a_server_that_cannot_start_shows_why(tmp_path: Path) -> None:
    server = LaunchedServer(VERSIONS[0], tmp_path)
    (server.configuration / "neo4j.conf").write_text("server.memory.pagecache.size=much\n", encoding="utf-8")
    with pytest.raises(StoreError, match=r"did not start (?s:.)*pagecache"):
        server.start()
    assert not server.is_running()


def test_a_server_ends_with_a_killed_run(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from neo4j_servers import *;"
        " print(start_server(VERSIONS[0], Path(sys.argv[1])).uri, flush=True); time.sleep(600)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PKG_TEST_DOWNLOADS": str(DOWNLOADS)}
    with subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE, env=environment) as run:
        assert run.stdout is not None
        uri = run.stdout.readline().decode().strip()
        assert accepts_connections(uri)
        run.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while accepts_connections(uri) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not accepts_connections(uri)
