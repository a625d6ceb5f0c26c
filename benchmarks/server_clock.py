"""Cost of a stage to a client and its server: both alternate, so wall time alone is not enough."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from measure import Figures, read_busy


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a stage."""

    wall: float
    client: float  # CPU seconds of this process
    server: float  # CPU seconds of the server
    others: float  # cores that other work kept busy

    def describe(self) -> Figures:
        """Return the rounded figures and the name of the side that used more CPU."""
        bound = "client" if self.client > self.server else "server"
        figures = {"wall_seconds": self.wall, "client_cpu_seconds": self.client, "server_cpu_seconds": self.server}
        rounded = {name: round(value, 2) for name, value in (figures | {"others_cores": self.others}).items()}
        return rounded | {"bound": bound}


class Clock:
    """Measures the cost of consecutive stages."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._last = self._read()

    def lap(self) -> Cost:
        """Return the cost since the last lap."""
        last, self._last = self._last, self._read()
        wall, client, server, busy = (new - old for new, old in zip(self._last, last, strict=True))
        return Cost(wall, client, server, max(0.0, busy - client - server) / max(wall, 0.01))

    def _read(self) -> tuple[float, float, float, float]:
        return time.perf_counter(), time.process_time(), read_cpu(self.pid), read_busy()


def read_cpu(pid: int) -> float:
    """Return the CPU seconds that a process has used; 0 if the system does not report them."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
