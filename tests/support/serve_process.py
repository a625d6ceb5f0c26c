"""Start `pkg serve` as a process of its own, and read the address that it tells."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from started_command import PATIENCE, StartedCommand

TOKEN = "a-token-that-is-known-to-tests-alone"
ADDRESS = re.compile(r"listening at (http://[^\s,]+)")


class ServeProcess(StartedCommand):
    """A running `pkg serve`, and where it listens."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PKG_SERVE")}
        if "--token" in arguments:
            environment["PKG_SERVE_TOKEN"] = TOKEN
        super().__init__(folder, "serve", *arguments, environment=environment)
        (self.address,) = self.wait_for(ADDRESS)

    @property
    def page(self) -> str:
        """Give the address of the page."""
        return f"{self.address}/"

    def interrupt(self) -> int:
        """Press Ctrl-C, and give the exit code."""
        self.press_ctrl_c()
        return self.process.wait(PATIENCE)


@contextmanager
def start_serve(folder: Path, *arguments: str, port: str = "0") -> Iterator[ServeProcess]:
    """Start the command in a folder, by default on a free port; it is killed in the end if it still runs."""
    started = ServeProcess(folder, *arguments, "--port", port)
    try:
        yield started
    finally:
        started.kill()
