"""What a stage costs a client and the server that it asks: both take turns, so wall time alone does not tell."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from measure import Figures, read_busy


@dataclass(frozen=True, slots=True)
class Cost:
    """What a stage took."""

    wall: float
    client: float  # CPU seconds of this process
    server: float  # CPU seconds of the server
    others: float  # cores that other work kept busy

    def describe(self) -> Figures:
        """Round the figures and name who used more of the processor."""
        bound = "client" if self.client > self.server else "server"
        figures = {"wall_seconds": self.wall, "client_cpu_seconds": self.client, "server_cpu_seconds": self.server}
        rounded = {name: round(value, 2) for name, value in (figures | {"others_cores": self.others}).items()}
        return rounded | {"bound": bound}


class Clock:
    """Take the cost of one stage after the other."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._last = self._read()

    def lap(self) -> Cost:
        """Give the cost since the last lap."""
        last, self._last = self._last, self._read()
        wall, client, server, busy = (new - old for new, old in zip(self._last, last, strict=True))
        return Cost(wall, client, server, max(0.0, busy - client - server) / max(wall, 0.01))

    def _read(self) -> tuple[float, float, float, float]:
        return time.perf_counter(), time.process_time(), read_cpu(self.pid), read_busy()


def read_cpu(pid: int) -> float:
    """Give the CPU seconds that a process has used; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
