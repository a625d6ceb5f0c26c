"""Neo4j servers as processes of a test run: own folder, own ports on loopback, own password, gone when the run is.

A server dies with the thread that started it (Linux: PR_SET_PDEATHSIG) and at the latest when the interpreter ends
(atexit), so that neither a crash nor SIGKILL of the test run leaves one behind; elsewhere only the second holds.
"""

from __future__ import annotations

import atexit
import os
import secrets
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from neo4j_access import Server, await_answer
from neo4j_java import find_java
from neo4j_maven import fetch_jars
from neo4j_settings import LOOPBACK, Sizing, pick_port, render_settings

from pkg.errors import StoreError

STOP_PATIENCE = 30  # seconds
STARTS = 5  # other ports are tried so often

# Lucene reckons on vectors several times faster with the module; the other flags are what the server itself opens.
MODULES = ["--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"]
OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
OPENS = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
ADMIN_TOOL = "org.neo4j.cli.AdminTool"
ENTRY_POINT = "org.neo4j.server.Neo4jCommunity"
OLD_ENTRY_POINT = "org.neo4j.server.CommunityEntryPoint"  # 5.x

# Becomes the server, with the same process id, once the kernel has been told to kill it with its parent.
DIE_WITH_PARENT = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.execv(sys.argv[1], sys.argv[1:])"


class LaunchedServer(Server):
    """A server that this process runs: it can be stopped, killed, started again and administered."""

    def __init__(self, version: str, home: Path, sizing: Sizing | None = None) -> None:
        super().__init__(version, "", "", password=secrets.token_hex())
        self.home, self.sizing = home.resolve(), sizing or Sizing()
        self.java, self._jars = find_java(version), fetch_jars(version)
        self._process: subprocess.Popen[bytes] | None = None
        self.configuration, self.logs, self.scratch = (self.home / name for name in ("conf", "logs", "tmp"))
        for folder in (self.configuration, self.logs, self.scratch):
            folder.mkdir(parents=True, exist_ok=True)
        self.choose_ports()
        self.admin("dbms", "set-initial-password", self.password)

    @property
    def pid(self) -> int | None:
        """Give the process id of the running server; None when it does not run."""
        return self._process.pid if self.is_running() and self._process else None

    def is_running(self) -> bool:
        """Tell whether the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def choose_ports(self) -> None:
        """Take two free ports and write them into the configuration."""
        bolt, http = pick_port(), pick_port()
        self.uri, self.http = f"bolt://{LOOPBACK}:{bolt}", f"http://{LOOPBACK}:{http}"
        settings = render_settings(bolt, http, self.sizing.pagecache)
        (self.configuration / "neo4j.conf").write_text(settings, encoding="utf-8")

    def start(self) -> None:
        """Start on the same folder and ports, and wait until a query is answered."""
        if self.is_running():
            raise StoreError(f"Neo4j {self.version} runs as process {self.pid}, expected none; stop it first")
        with (self.logs / "console.log").open("wb") as console:
            command = self._render_start()
            self._process = subprocess.Popen(command, cwd=self.home, stdout=console, stderr=subprocess.STDOUT)
        atexit.register(self.kill)
        problem = await_answer(self, self.is_running)
        if problem:
            status = self._process.poll()
            self.kill()
            seen = f"{problem}; the process {'ran on' if status is None else f'ended with {status}'}"
            raise StoreError(f"Neo4j {self.version} did not start ({seen}), expected an answer; see\n{self.read_log()}")

    def stop(self) -> None:
        """End it in good order, or by force when that takes too long; nothing happens when it does not run."""
        if self._process:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_PATIENCE)
        self.kill()

    def kill(self) -> None:
        """End it at once, with no chance to tidy up; nothing happens when it does not run."""
        if self._process:
            self._process.kill()
            self._process.wait()
        self._process = None
        atexit.unregister(self.kill)

    def admin(self, *arguments: str) -> str:
        """Run neo4j-admin in and on this server's folder and give its output; most acts want the server stopped."""
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
        """Give the end of what the server said, on the console and in its log."""
        files = (self.logs / name for name in ("console.log", "neo4j.log"))
        texts = (path.read_text(encoding="utf-8", errors="replace") for path in files if path.is_file())
        return "\n".join(text.strip()[-characters:] for text in texts)

    def _render_start(self) -> list[str]:
        entry = OLD_ENTRY_POINT if self.version.startswith("5.") else ENTRY_POINT
        folders = (f"--home-dir={self.home}", f"--config-dir={self.configuration}")
        command = self._render_command(self.sizing.render_flags(), entry, *folders)
        return [sys.executable, "-I", "-S", "-c", DIE_WITH_PARENT, *command] if sys.platform == "linux" else command

    def _render_command(self, flags: list[str], entry: str, *arguments: str) -> list[str]:
        scratch = f"-Djava.io.tmpdir={self.scratch}"  # a killed server leaves the unpacked Browser there
        classes = os.pathsep.join(map(str, self._jars))
        return [str(self.java.executable), *flags, scratch, *MODULES, *OPENS, "-cp", classes, entry, *arguments]


def start_server(version: str, folder: Path, sizing: Sizing | None = None) -> LaunchedServer:
    """Launch a version with all its data in a folder, on other ports when another process is quicker to take one."""
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
