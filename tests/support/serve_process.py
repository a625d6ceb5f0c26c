"""Start `pkg serve` as a separate process, and read the address that it prints."""

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
    """A running `pkg serve`, and its address."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PKG_SERVE")}
        if "--token" in arguments:
            environment["PKG_SERVE_TOKEN"] = TOKEN
        super().__init__(folder, "serve", *arguments, environment=environment)
        (self.address,) = self.wait_for(ADDRESS)

    @property
    def page(self) -> str:
        """Return the address of the page."""
        return f"{self.address}/"

    def interrupt(self) -> int:
        """Send Ctrl-C, and return the exit code."""
        self.press_ctrl_c()
        return self.process.wait(PATIENCE)


@contextmanager
def start_serve(folder: Path, *arguments: str, port: str = "0") -> Iterator[ServeProcess]:
    """Start the command in a folder, by default on a free port; it is killed afterwards if it still runs."""
    started = ServeProcess(folder, *arguments, "--port", port)
    try:
        yield started
    finally:
        started.kill()
