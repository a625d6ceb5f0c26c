"""Start a long-running command of PKG, and read its standard error meanwhile."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

PATIENCE = 60  # seconds for operations that take less than one


class StartedCommand:
    """A running command, and its standard error so far."""

    def __init__(self, folder: Path, *words: str, environment: Mapping[str, str] | None = None) -> None:
        self._said = folder / "stderr.txt"
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "pkg.cli", *words],
                cwd=folder,
                env=dict(os.environ if environment is None else environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said,
            )

    @property
    def told(self) -> str:
        """Return its standard error so far."""
        return self._said.read_text(encoding="utf-8", errors="replace")

    def wait_for(self, pattern: re.Pattern[str], number: int = 1) -> list[str]:
        """Wait for `number` matches of a pattern; return the group of each."""
        end = time.monotonic() + PATIENCE
        while len(found := pattern.findall(self.told)) < number:
            assert self.process.poll() is None, self.told
            assert time.monotonic() < end, self.told
            time.sleep(0.05)
        return found

    def press_ctrl_c(self) -> None:
        """Interrupt it, as the terminal does."""
        self.process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """Kill it if it still runs."""
        self.process.kill()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process.wait()
