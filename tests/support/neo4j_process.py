"""Neo4j servers as processes of a test run: own folder, own ports on loopback, own password, removed after the run.

A server dies with the thread that started it (Linux: PR_SET_PDEATHSIG) and at the latest when the interpreter exits
(atexit), so that neither a crash nor SIGKILL of the test run leaves one running; elsewhere only the second applies.
"""

from __future__ import annotations

import atexit
import os
import random
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from neo4j_install import fetch_jars, find_java

from pkg.errors import StoreError

if TYPE_CHECKING:
    from neo4j import Driver

LOOPBACK = "127.0.0.1"
PORTS = range(20_000, 32_000)  # below the ports of outgoing connections: a port stays free over a restart
PORT_TRIES = 100
QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Flags for light loads: a single garbage collector thread, and no optimising compiler."""
SHIPPED = (
    "-XX:+UseG1GC", "-XX:-OmitStackTraceInFastThrow", "-XX:+AlwaysPreTouch", "-XX:+UnlockExperimentalVMOptions",
    "-XX:+TrustFinalNonStaticFields", "-XX:+DisableExplicitGC", "-Djdk.nio.maxCachedBufferSize=1024",
    "-Dio.netty.tryReflectionSetAccessible=true", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints",
)  # fmt: skip
"""Flags in a distribution's neo4j.conf that affect speed: installed servers run with these."""


@dataclass(frozen=True)
class Sizing:
    """Memory of a server, and whether it starts quickly or runs at full speed."""

    heap: str = "512m"
    pagecache: str = "256m"
    quick: bool = True

    def render_flags(self) -> list[str]:
        """Return the flags of a server's virtual machine: at full speed, those that Neo4j ships."""
        return [*self.render_heap(), *(QUICK if self.quick else SHIPPED)]

    def render_heap(self) -> list[str]:
        """Return the flags of its memory."""
        return [f"-Xms{self.heap}", f"-Xmx{self.heap}"]


def pick_port(ports: range = PORTS) -> int:
    """Return a port that is not in use."""
    for port in random.SystemRandom().sample(ports, min(PORT_TRIES, len(ports))):
        with socket.socket() as listener:
            try:
                listener.bind((LOOPBACK, port))
            except OSError:
                continue
            return port
    raise StoreError(f"no free port seen among {ports[0]} to {ports[-1]} on {LOOPBACK}, expected one; end some servers")


def render_settings(bolt: int, http: int, pagecache: str) -> str:
    """Return a configuration: only loopback, little memory, no reporting, quick shutdown."""
    settings = {
        "server.default_listen_address": LOOPBACK,
        "server.bolt.listen_address": f"{LOOPBACK}:{bolt}",
        "server.bolt.advertised_address": f"{LOOPBACK}:{bolt}",
        "server.http.listen_address": f"{LOOPBACK}:{http}",
        "server.http.advertised_address": f"{LOOPBACK}:{http}",
        "server.memory.pagecache.size": pagecache,
        "dbms.usage_report.enabled": "false",
        "db.tx_log.preallocate": "false",  # otherwise 256 MB are written for each of the two databases
        "internal.server.bolt.thread_pool_shutdown_wait_time": "0s",  # otherwise each shutdown waits ten seconds
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())


START_PATIENCE = 120  # seconds; four suffice on an idle machine
ATTEMPT_PATIENCE = 5  # seconds for one query; another process on the port may accept it and never answer
DELETE_ALL = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"
LIST_CONSTRAINTS = "SHOW CONSTRAINTS YIELD name"
LIST_INDEXES = "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'"  # those two exist in every database
DROP_CONSTRAINT = "DROP CONSTRAINT `{}`"
DROP_INDEX = "DROP INDEX `{}`"


@dataclass
class Server:
    """A running Neo4j: its addresses and its credentials."""

    version: str
    uri: str
    http: str
    user: str = "neo4j"
    password: str = field(default="", repr=False)

    def connect(self, patience: float = 60) -> Driver:
        """Open a driver that waits `patience` seconds for a connection; close it after use."""
        from neo4j import GraphDatabase

        return GraphDatabase.driver(self.uri, auth=(self.user, self.password), connection_acquisition_timeout=patience)


def await_answer(server: Server, is_running: Callable[[], bool] = lambda: True) -> str:
    """Query until the server answers, while it runs; return the last problem, or an empty text on success."""
    from neo4j.exceptions import AuthError, DriverError, Neo4jError

    deadline, problem = time.monotonic() + START_PATIENCE, f"no connection to {server.uri}"
    while time.monotonic() < deadline and is_running():
        if accepts_connections(server.uri):
            try:
                with server.connect(ATTEMPT_PATIENCE) as driver, driver.session() as session:
                    session.run("RETURN 1").consume()
                return ""
            except AuthError as error:  # another attempt would only lock the user out
                return str(error)
            except (DriverError, Neo4jError) as error:
                problem = str(error)
        time.sleep(0.05)
    return problem


def accepts_connections(uri: str) -> bool:
    """Return whether something listens at an address; a refusal here is cheaper than one through the driver."""
    address = urlsplit(uri)
    try:
        socket.create_connection((address.hostname or "", address.port or 7687), timeout=1).close()
    except OSError:
        return False
    return True


def empty_database(driver: Driver, drop_schema: bool = False) -> None:
    """Delete every node and relationship in batches; with drop_schema also indexes and constraints."""
    with driver.session() as session:
        session.run(DELETE_ALL).consume()
        if drop_schema:
            for listing, drop in ((LIST_CONSTRAINTS, DROP_CONSTRAINT), (LIST_INDEXES, DROP_INDEX)):
                for name in session.run(listing).value("name"):
                    session.run(drop.format(name.replace("`", "``"))).consume()  # dropping a constraint drops its index


STOP_PATIENCE = 30  # seconds
STARTS = 5  # attempts with other ports

# Lucene computes on vectors several times faster with the module; the other flags are those of the server itself.
MODULES = ["--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"]
OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
OPENS = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
ADMIN_TOOL = "org.neo4j.cli.AdminTool"
ENTRY_POINT = "org.neo4j.server.Neo4jCommunity"
OLD_ENTRY_POINT = "org.neo4j.server.CommunityEntryPoint"  # 5.x

# Becomes the server, with the same process id, after asking the kernel to kill it with its parent.
DIE_WITH_PARENT = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.execv(sys.argv[1], sys.argv[1:])"


class LaunchedServer(Server):
    """A server run by this process: it can be stopped, killed, started again and administered."""

    def __init__(self, version: str, home: Path, sizing: Sizing | None = None) -> None:
        super().__init__(version, "", "", password=secrets.token_hex())
        self.home, self.sizing = home.resolve(), sizing or Sizing()
        self.java, self._jars = find_java(version), fetch_jars(version)
        self.archive = self._jars[0].parents[1] / f"classes-{self.java.major}.jsa"
        self.archived: Path | None = None  # where to write an archive of the classes when the server stops
        self._process: subprocess.Popen[bytes] | None = None
        self.configuration, self.logs, self.scratch = (self.home / name for name in ("conf", "logs", "tmp"))
        for folder in (self.configuration, self.logs, self.scratch):
            folder.mkdir(parents=True, exist_ok=True)
        self.choose_ports()
        self.admin("dbms", "set-initial-password", self.password)

    @property
    def pid(self) -> int | None:
        """Return the process id of the running server; None if it does not run."""
        return self._process.pid if self.is_running() and self._process else None

    def is_running(self) -> bool:
        """Return whether the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def choose_ports(self) -> None:
        """Choose two free ports and write them into the configuration."""
        bolt, http = pick_port(), pick_port()
        self.uri, self.http = f"bolt://{LOOPBACK}:{bolt}", f"http://{LOOPBACK}:{http}"
        settings = render_settings(bolt, http, self.sizing.pagecache)
        (self.configuration / "neo4j.conf").write_text(settings, encoding="utf-8")

    def start(self) -> None:
        """Start on the same folder and ports, and wait until a query is answered."""
        if self.is_running():
            raise StoreError(f"Neo4j {self.version} runs as process {self.pid}, expected none; stop it first")
        with (self.logs / "console.log").open("wb") as console:
            command = self.render_start()
            self._process = subprocess.Popen(command, cwd=self.home, stdout=console, stderr=subprocess.STDOUT)
        atexit.register(self.kill)
        problem = await_answer(self, self.is_running)
        if problem:
            status = self._process.poll()
            self.kill()
            seen = f"{problem}; the process {'ran on' if status is None else f'ended with {status}'}"
            raise StoreError(f"Neo4j {self.version} did not start ({seen}), expected an answer; see\n{self.read_log()}")

    def stop(self, patience: float = STOP_PATIENCE) -> None:
        """Stop it gracefully, or by force after `patience` seconds; do nothing if it does not run."""
        if self._process:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
        self.kill()

    def kill(self) -> None:
        """Kill it without cleanup; do nothing if it does not run."""
        if self._process:
            self._process.kill()
            self._process.wait()
        self._process = None
        atexit.unregister(self.kill)

    def admin(self, *arguments: str) -> str:
        """Run neo4j-admin on this server's folder and return its output; most commands need a stopped server."""
        folders = {"NEO4J_HOME": str(self.home), "NEO4J_CONF": str(self.configuration)}
        command = self._render_command([*self.sizing.render_heap(), "-XX:+UseSerialGC"], ADMIN_TOOL, *arguments)
        environment = {**os.environ, **folders}
        done = subprocess.run(
            command, cwd=self.home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode:
            seen = f"neo4j-admin {' '.join(arguments[:2])} ended with {done.returncode}"
            raise StoreError(f"{seen}, expected 0; see\n{done.stdout[-3000:]}")
        return done.stdout

    def read_log(self, characters: int = 3000) -> str:
        """Return the end of the server's console output and log."""
        files = (self.logs / name for name in ("console.log", "neo4j.log"))
        texts = (path.read_text(encoding="utf-8", errors="replace") for path in files if path.is_file())
        return "\n".join(text.strip()[-characters:] for text in texts)

    def render_start(self) -> list[str]:
        """Return the command that becomes the server."""
        entry = OLD_ENTRY_POINT if self.version.startswith("5.") else ENTRY_POINT
        folders = (f"--home-dir={self.home}", f"--config-dir={self.configuration}")
        command = self._render_command(self.sizing.render_flags(), entry, *folders)
        return [sys.executable, "-I", "-S", "-c", DIE_WITH_PARENT, *command] if sys.platform == "linux" else command

    def _render_archive(self) -> list[str]:
        if self.archived is not None:
            return [f"-XX:ArchiveClassesAtExit={self.archived}"]
        return [f"-XX:SharedArchiveFile={self.archive}"] if self.sizing.quick and self.archive.is_file() else []

    def _render_command(self, flags: list[str], entry: str, *arguments: str) -> list[str]:
        scratch = f"-Djava.io.tmpdir={self.scratch}"  # a killed server leaves the unpacked Browser there
        classes = os.pathsep.join(map(str, self._jars))
        flags = [*flags, *self._render_archive(), scratch, *MODULES, *OPENS]
        return [str(self.java.executable), *flags, "-cp", classes, entry, *arguments]


def start_server(version: str, folder: Path, sizing: Sizing | None = None) -> LaunchedServer:
    """Launch a version with all its data in a folder; retry with other ports if another process takes one first."""
    server = LaunchedServer(version, folder, sizing)
    for remaining in reversed(range(STARTS)):
        try:
            server.start()
            break
        except StoreError as error:
            if not remaining or "already in use" not in str(error):
                raise
            server.choose_ports()
    return server
