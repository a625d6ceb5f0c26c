"""Start a command of PKG that goes on until it is ended, and read what it tells on standard error meanwhile."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

PATIENCE = 60  # seconds for what takes less than one


class StartedCommand:
    """A running command, and what it has told so far."""

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
        """Give what it has told on standard error."""
        return self._said.read_text(encoding="utf-8", errors="replace")

    def wait_for(self, pattern: re.Pattern[str], number: int = 1) -> list[str]:
        """Wait until it has told something so many times; give the group of the pattern each time."""
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
        """End it, if it still runs."""
        self.process.kill()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process.wait()
