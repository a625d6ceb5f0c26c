"""Failures between a build and its server: each has a clear message and leaves the graph unchanged."""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from disturbed_builds import (
    FILES,
    PATIENCE,
    TcpProxy,
    ask,
    build_embedded,
    build_into,
    count_files,
    edit,
    in_background,
    look,
    make_text,
    start_build,
    wait_until,
)
from neo4j import Driver
from neo4j_servers import VERSIONS, LaunchedServer
from trees import write_tree

from pkg.errors import StoreError, StoreFullError, StoreLockedError
from pkg.graph.neo4j import cypher, neo4j_writing, session
from pkg.graph.neo4j.batches import name_source
from pkg.graph.neo4j.neo4j_store import Neo4jStore
from pkg.indexing.build import build

COMMIT = b"\x00\x02\xb0\x12\x00\x00"  # a COMMIT message of Bolt
SETTINGS = "server.bolt.connection_keep_alive=2s\n"  # timeout of clients: four seconds

# Only the older server, except in `make test-full`: the tests are slow, and the versions differ little.
EACH_VERSION = pytest.mark.parametrize(
    "server", [VERSIONS[0], pytest.param(VERSIONS[1], marks=pytest.mark.full)], indirect=True
)

pytestmark = [pytest.mark.server, pytest.mark.usefixtures("hasten")]


@pytest.fixture(scope="module", params=VERSIONS[:1])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LaunchedServer]:
    """Launch a separate server, which the tests kill, limit and start again."""
    server = LaunchedServer(request.param, tmp_path_factory.mktemp("neo4j"))
    configure(server, SETTINGS)
    server.start()
    yield server
    server.kill()


def configure(server: LaunchedServer, settings: str) -> None:
    with (server.configuration / "neo4j.conf").open("a", encoding="utf-8") as file:
        file.write(settings)


@EACH_VERSION
def test_a_server_killed_in_a_first_load_keeps_loaded_nodes_for_the_next_build(
    server: LaunchedServer, driver: Driver, tree: Path
) -> None:
    with start_build(server.uri, tree) as process:
        wait_until(lambda: count_files(driver) >= 3)
        server.kill()
        output, message = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (1, "")
    assert message.startswith("pkg: ")
    assert "run the same again" in message or "start the server" in message
    server.start()
    loaded = count_files(driver)
    assert 3 <= loaded < FILES
    generation, lines = look(server.uri)
    assert (generation, [line for line in lines if '"type": "graph"' not in line]) == (0, [])

    report = build_into(server.uri, tree)

    assert (report.written, report.unchanged) == (FILES - loaded, loaded)
    assert look(server.uri) == (1, build_embedded(tree))


def test_a_build_killed_in_a_first_load_is_completed_by_the_next(
    server: LaunchedServer, driver: Driver, tree: Path
) -> None:
    with start_build(server.uri, tree) as process:
        wait_until(lambda: count_files(driver) >= 6)
        process.send_signal(signal.SIGKILL)
    assert count_files(driver) < FILES
    assert look(server.uri)[0] == 0
    edit(tree)  # half of the loaded nodes are out of date
    assert build_into(server.uri, tree).unchanged >= 2
    assert look(server.uri) == (1, build_embedded(tree))


def test_ctrl_c_ends_a_build_cleanly(server: LaunchedServer, driver: Driver, tree: Path) -> None:
    with start_build(server.uri, tree) as process:
        wait_until(lambda: count_files(driver) >= 3)
        process.send_signal(signal.SIGINT)
        output, message = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (130, "")
    assert message == "pkg: interrupted; the graph is as it was before\n"
    assert look(server.uri)[0] == 0
    assert build_into(server.uri, tree).unchanged >= 3
    assert look(server.uri) == (1, build_embedded(tree))


def test_a_build_killed_in_an_update_leaves_the_old_graph(server: LaunchedServer, tree: Path) -> None:
    build_into(server.uri, tree)
    before = look(server.uri)
    edit(tree)
    with TcpProxy(server.uri) as proxy:
        process = start_build(proxy.uri, tree)
        wait_until(lambda: proxy.sent > 60_000)  # some of the batches
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert look(server.uri) == before
    build_into(server.uri, tree)
    assert look(server.uri) == (2, build_embedded(tree))


def test_a_connection_lost_in_a_first_load_ends_the_build(server: LaunchedServer, tree: Path) -> None:
    with TcpProxy(server.uri) as proxy:
        with start_build(proxy.uri, tree) as process:
            wait_until(lambda: proxy.sent > 60_000)
            proxy.cut_after(10_000)
            output, message = process.communicate(timeout=PATIENCE)
        assert (process.returncode, output) == (1, "")
        assert message == (
            f"pkg: the connection to {proxy.uri} was lost (closed by the other end); the graph is as it was before this"
            " write; see that the server runs, then run the same again\n"
        )
    assert look(server.uri)[0] == 0
    assert build_into(server.uri, tree).unchanged > 0
    assert look(server.uri) == (1, build_embedded(tree))


def test_a_connection_lost_in_an_update_leaves_the_old_graph(server: LaunchedServer, tree: Path) -> None:
    build_into(server.uri, tree)
    before = look(server.uri)
    edit(tree)
    with TcpProxy(server.uri) as proxy, closing(Neo4jStore(proxy.uri)) as store:
        proxy.cut_after(60_000)
        with pytest.raises(StoreError, match=r"was lost \(.*the graph is as it was"):
            build(str(tree), store)
        assert look(server.uri) == before
        build(str(tree), store)  # by new connections
    assert look(server.uri) == (2, build_embedded(tree))


@EACH_VERSION
@pytest.mark.parametrize("delivers", [False, True])
def test_a_connection_lost_in_a_commit_leaves_the_old_graph_or_the_new(
    server: LaunchedServer, tree: Path, monkeypatch: pytest.MonkeyPatch, delivers: bool
) -> None:
    monkeypatch.setattr(session, "COMMIT_SECONDS", 1.0)
    build_into(server.uri, tree)
    before = look(server.uri)
    edit(tree)
    after = 2, build_embedded(tree)
    with TcpProxy(server.uri) as proxy, closing(Neo4jStore(proxy.uri)) as store:
        put_mark = store._put_mark

        def cut_the_commit(number: int) -> None:
            put_mark(number)
            proxy.cut_at(COMMIT, delivers)

        monkeypatch.setattr(store, "_put_mark", cut_the_commit)
        with pytest.raises(StoreError, match=r"lost during a commit.*whole, as it was before or as it is after"):
            build(str(tree), store)
    assert look(server.uri) in (before, after) if delivers else look(server.uri) == before
    build_into(server.uri, tree)
    assert look(server.uri) == after


def test_a_connection_that_stalls_ends_in_bounded_time(server: LaunchedServer, tree: Path) -> None:
    build_into(server.uri, tree)
    before = look(server.uri)
    with TcpProxy(server.uri) as proxy, closing(Neo4jStore(proxy.uri)) as store:
        proxy.stall()
        with pytest.raises(StoreError, match="timed out"):
            store.stats()
        proxy.resume()
    assert look(server.uri) == before


@EACH_VERSION
def test_a_second_writer_waits_and_then_fails_with_the_reason(server: LaunchedServer, tree: Path) -> None:
    build_into(server.uri, tree)
    with closing(Neo4jStore(server.uri)) as first, closing(Neo4jStore(server.uri)) as second:
        with (
            first.write(),
            pytest.raises(StoreLockedError, match=r"another process is writing.*try again"),
            second.write(),
        ):
            pytest.fail("two wrote at once")
        edit(tree)
        with in_background(lambda: build(str(tree), second)) as raised, first.write():
            time.sleep(0.3)  # the second waits meanwhile
        assert raised == []
    assert look(server.uri) == (2, build_embedded(tree))


def test_a_reader_waits_for_a_commit_but_not_for_that_of_a_dead_writer(
    server: LaunchedServer, driver: Driver, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "COMMIT_SECONDS", 1.0)
    build_into(server.uri, tree)
    before = look(server.uri)
    ask(driver, cypher.MARK_COMMIT, number=3)  # after which the writer died
    start = time.monotonic()
    assert look(server.uri) == before
    assert time.monotonic() - start >= 0.9  # it might be alive
    edit(tree)
    build_into(server.uri, tree)
    assert ask(driver, cypher.GET_STAMP)[0]["number"] % 2 == 0
    assert look(server.uri) == (2, build_embedded(tree))


def test_a_partly_loaded_source_of_another_folder_is_taken_over(
    server: LaunchedServer, driver: Driver, tree: Path, tmp_path: Path
) -> None:
    with start_build(server.uri, tree) as process:
        wait_until(lambda: count_files(driver) >= 3)
        process.send_signal(signal.SIGKILL)
    (tmp_path / "moved").mkdir()
    moved = tree.rename(tmp_path / "moved" / tree.name)
    assert build_into(server.uri, moved).unchanged >= 3
    assert look(server.uri) == (1, build_embedded(moved))


def test_an_interrupted_removal_is_hidden_and_completed_by_the_next_write(
    server: LaunchedServer, driver: Driver, tree: Path
) -> None:
    build_into(server.uri, tree)
    ask(driver, cypher.PUT_SOURCE, id=name_source("shop"), properties={"state": neo4j_writing.DELETING})
    with closing(Neo4jStore(server.uri)) as store:
        assert (store.sources(), store.find_name("area_0_0")) == ((), [])
        build(str(tree), store)
    assert look(server.uri) == (2, build_embedded(tree))


def test_an_update_that_exceeds_the_memory_leaves_the_old_graph(server: LaunchedServer, tree: Path) -> None:
    build_into(server.uri, tree)
    before = look(server.uri)
    edit(tree)
    write_tree(tree, {"big.py": "".join(make_text(100 + number) for number in range(100))})
    with restarted(server, "db.memory.transaction.max=10m\n"):
        with pytest.raises(StoreFullError, match=r"does not fit the memory.*raise .*db.memory.transaction.max"):
            build_into(server.uri, tree)
        assert look(server.uri) == before
    build_into(server.uri, tree)
    assert look(server.uri) == (2, build_embedded(tree))


def test_an_update_on_a_full_disk_leaves_the_old_graph(server: LaunchedServer, tree: Path) -> None:
    build_into(server.uri, tree)
    before = look(server.uri)
    edit(tree)
    limit_files(server)
    with pytest.raises(StoreFullError, match=r"cannot write \(Could not append transaction.*disk"):
        build_into(server.uri, tree)
    server.kill()
    server.start()
    assert look(server.uri) == before
    build_into(server.uri, tree)
    assert look(server.uri) == (2, build_embedded(tree))


def limit_files(server: LaunchedServer) -> None:
    """Limit the size of the server's files to that of its largest log, like a full disk."""
    logs = server.home.glob("data/transactions/neo4j/*")
    size = max(log.stat().st_size for log in logs)
    assert server.pid is not None
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@contextmanager
def restarted(server: LaunchedServer, settings: str) -> Iterator[None]:
    """Restart the server with further settings."""
    file = server.configuration / "neo4j.conf"
    before = file.read_text(encoding="utf-8")
    configure(server, settings)
    server.stop()
    server.start()
    try:
        yield
    finally:
        file.write_text(before, encoding="utf-8")
        server.stop()
        server.start()
