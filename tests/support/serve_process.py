"""Start `pkg serve` as a process of its own, and read the address that it tells."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 60  # seconds for what takes less than one
TOKEN = "a-token-that-is-known-to-tests-alone"
ADDRESS = re.compile(r"listening at (http://[^\s,]+)")


class ServeProcess:
    """A running `pkg serve`, and what it has told so far."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._said = folder / "serve-stderr.txt"
        self._said.write_bytes(b"")
        command = [sys.executable, "-m", "pkg.cli", "serve", *arguments]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PKG_SERVE")}
        if "--token" in arguments:
            environment["PKG_SERVE_TOKEN"] = TOKEN
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
            )
        self.address = self._wait_for(ADDRESS)

    def _wait_for(self, pattern: re.Pattern[str]) -> str:
        end = time.monotonic() + PATIENCE
        while (found := pattern.search(self.told)) is None:
            assert self.process.poll() is None, self.told
            assert time.monotonic() < end, self.told
            time.sleep(0.05)
        return found.group(1)

    @property
    def told(self) -> str:
        """Give what it has told on standard error."""
        return self._said.read_text(encoding="utf-8", errors="replace")

    def interrupt(self) -> int:
        """Press Ctrl-C, and give the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)


@contextmanager
def start_serve(folder: Path, *arguments: str, port: str = "0") -> Iterator[ServeProcess]:
    """Start the command in a folder, by default on a free port; it is killed in the end if it still runs."""
    started = ServeProcess(folder, *arguments, "--port", port)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait()
