"""Builds on a server that a test disturbs: their input, their result, and a proxy that cuts or stalls."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from neo4j import Driver
from trees import export_lines, open_graph_at, write_tree

from pkg.graph.neo4j.neo4j_store import Neo4jStore
from pkg.indexing.build import build
from pkg.indexing.report import BuildReport

FILES = 16
PATIENCE = 60  # seconds for operations that take a few


def make_text(number: int, version: int = 1) -> str:
    """Return the text of a file of four functions; the version appears in their blocks."""
    return "".join(
        f"import os\n\n\ndef area_{number}_{each}(width):\n    for edge in width:\n        if edge > {version}:\n"
        f"            return os.path.join(edge, '{number}')\n    return {each}\n\n\n"
        for each in range(4)
    )


def write_shop(folder: Path) -> Path:
    """Write a repository of some files."""
    return write_tree(folder / "shop", {f"part_{number:02}.py": make_text(number) for number in range(FILES)})


def edit(tree: Path) -> None:
    """Edit half of the files, remove one and add one."""
    write_tree(tree, {f"part_{number:02}.py": make_text(number, 2) for number in range(0, FILES, 2)})
    (tree / "part_01.py").unlink()
    write_tree(tree, {"new.py": make_text(FILES)})


def build_into(uri: str, tree: Path) -> BuildReport:
    with closing(Neo4jStore(uri, create=True)) as store:
        return build(str(tree), store)


def build_embedded(tree: Path) -> list[str]:
    """Return the export of an undisturbed build into an embedded store."""
    with closing(open_graph_at(tree.parent / f"{len(list(tree.parent.iterdir()))}.db")) as store:
        build(str(tree), store)
        return export_lines(store)


def look(uri: str) -> tuple[int, list[str]]:
    """Check the store; return its generation and its export."""
    with closing(Neo4jStore(uri, create=True)) as store:
        assert store.check() == []
        return store.generation(), export_lines(store)


def ask(driver: Driver, statement: str, **parameters: Any) -> list[Any]:
    with driver.session(notifications_min_severity="OFF") as session:
        return list(session.run(statement, parameters))


def count_files(driver: Driver) -> int:
    return int(ask(driver, "MATCH (n:File) RETURN count(n) AS files")[0]["files"])


def wait_until(is_true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.002)


def start_build(uri: str, tree: Path, *options: str) -> subprocess.Popen[str]:
    """Start a build of small batches in a separate process."""
    hasten = "from pkg.graph.neo4j import neo4j_writing as w, session; w.BATCH_BYTES = 1; session.RETRY_SECONDS = 0.5;"
    command = [sys.executable, "-c", f"{hasten} from pkg.cli import run; run()", *options, "build", str(tree)]
    return subprocess.Popen(
        [*command, "--store", uri], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )


@contextmanager
def in_background(work: Callable[[], object]) -> Iterator[list[BaseException]]:
    """Run work in a thread; exceptions are collected in the list."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as fault:
            raised.append(fault)

    thread = threading.Thread(target=run)
    thread.start()
    yield raised
    thread.join(PATIENCE)
    assert not thread.is_alive()


LOOPBACK = "127.0.0.1"
PIECE = 16_384  # bytes forwarded at a time


class TcpProxy:
    """Forwards connections to a server; counts bytes, cuts connections, or stalls them."""

    def __init__(self, uri: str) -> None:
        """Listen on a free port for the server at a bolt address."""
        target = urlsplit(uri)
        self._target = target.hostname or LOOPBACK, target.port or 7687
        self._listener = socket.create_server((LOOPBACK, 0))
        self.uri = f"bolt://{LOOPBACK}:{self._listener.getsockname()[1]}"
        self.accepted = 0  # connections
        self.sent = 0  # bytes that went to the server
        self._limit: int | None = None  # cut after this many bytes
        self._trigger: bytes | None = None  # cut at these bytes
        self._delivers = False  # forward the piece with the trigger
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._flows = threading.Event()
        self._flows.set()

    def __enter__(self) -> TcpProxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        self._flows.set()

    def cut(self) -> None:
        """Break every open connection; new ones are accepted."""
        with self._lock:
            ends, self._open = self._open, set()
            self._limit = self._trigger = None
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut_after(self, count: int) -> None:
        """Break every connection after `count` more bytes to the server, in the middle of a message."""
        self._limit = self.sent + count

    def cut_at(self, content: bytes, delivers: bool) -> None:
        """Break every connection when a client sends these bytes, which are still forwarded or dropped."""
        self._trigger, self._delivers = content, delivers

    def stall(self) -> None:
        """Keep connections open without forwarding anything in either direction."""
        self._flows.clear()

    def resume(self) -> None:
        """Resume forwarding, including what has arrived meanwhile."""
        self._flows.set()

    def _accept(self) -> None:
        with suppress(OSError):  # the listener is closed at the end
            while True:
                client, _ = self._listener.accept()
                self.accepted += 1
                self._join(client)

    def _join(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(self._target)
        except OSError:
            client.close()
            return
        with self._lock:
            self._open |= {client, server}
        for source, target, is_client in ((client, server, True), (server, client, False)):
            threading.Thread(target=self._pump, args=(source, target, is_client), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, is_client: bool) -> None:
        """Forward until either end closes; the pump of the client's bytes closes both."""
        with suppress(OSError):
            while piece := source.recv(PIECE):
                self._flows.wait()
                if not (is_client and self._cuts(piece, target)):
                    target.sendall(piece)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            if is_client:
                end.close()

    def _cuts(self, piece: bytes, server: socket.socket) -> bool:
        """Count a piece of a client's bytes; cut if it triggers."""
        self.sent += len(piece)
        is_trigger = self._trigger is not None and self._trigger in piece
        if not is_trigger and (self._limit is None or self.sent < self._limit):
            return False
        if is_trigger and self._delivers:
            server.sendall(piece)
        self.cut()
        return True
