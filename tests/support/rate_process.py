"""Start `pkg rate` as a separate process, and read the addresses that it prints."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from started_command import PATIENCE, StartedCommand

__all__ = ["PATIENCE", "RateProcess", "read_rows", "start_rate"]

ADDRESS = re.compile(r"open (http://\S+)")


class RateProcess(StartedCommand):
    """A running `pkg rate`, and its result."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        super().__init__(folder, "rate", *arguments)

    def wait_for_addresses(self, number: int) -> list[str]:
        """Wait until `number` addresses were printed, and return them."""
        return self.wait_for(ADDRESS, number)

    def wait(self) -> tuple[int, list[dict[str, Any]]]:
        """Wait until it ends; return its exit code and its output lines."""
        written, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, [json.loads(line) for line in written.splitlines()]

    def interrupt(self) -> tuple[int, list[dict[str, Any]]]:
        """Press Ctrl-C, and wait until it ends."""
        self.press_ctrl_c()
        return self.wait()


@contextmanager
def start_rate(folder: Path, *arguments: str, port: str = "0") -> Iterator[RateProcess]:
    """Start the command in a folder, by default on a free port; it is killed afterwards if it still runs."""
    started = RateProcess(folder, *arguments, "--port", port)
    try:
        yield started
    finally:
        started.kill()


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a file of ratings."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
