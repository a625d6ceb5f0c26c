"""Start `pkg rate` or `pkg serve` as a process of its own, and read the addresses that it tells."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 60  # seconds for what takes less than one
ADDRESS = re.compile(rb"open (http://\S+)")


class RateProcess:
    """A running `pkg rate` or `pkg serve`, what it has told so far, and how it ended."""

    def __init__(self, folder: Path, *arguments: str, name: str = "rate") -> None:
        self._said = folder / "stderr.txt"
        self._said.write_bytes(b"")
        command = [sys.executable, "-m", "pkg.cli", name, *arguments]
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said
            )

    def wait_for_addresses(self, number: int) -> list[str]:
        """Wait until so many addresses were told, and give them."""
        end = time.monotonic() + PATIENCE
        while len(found := ADDRESS.findall(self._said.read_bytes())) < number:
            assert self.process.poll() is None, self.told
            assert time.monotonic() < end, self.told
            time.sleep(0.05)
        return [address.decode() for address in found]

    @property
    def told(self) -> str:
        """Give what it has told on standard error."""
        return self._said.read_text(encoding="utf-8")

    def wait(self) -> tuple[int, list[dict[str, Any]]]:
        """Wait until it ends; give its exit code and the lines that it wrote."""
        written, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, [json.loads(line) for line in written.splitlines()]

    def interrupt(self) -> tuple[int, list[dict[str, Any]]]:
        """Press Ctrl-C, and wait until it ends."""
        self.process.send_signal(signal.SIGINT)
        return self.wait()


@contextmanager
def start_rate(folder: Path, *arguments: str, port: str = "0", name: str = "rate") -> Iterator[RateProcess]:
    """Start the command in a folder, by default on a free port; it is killed in the end if it still runs."""
    started = RateProcess(folder, *arguments, "--port", port, name=name)
    try:
        yield started
    finally:
        started.process.kill()
        if started.process.stdout is not None:
            started.process.stdout.close()
        started.process.wait()


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a file of ratings."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
