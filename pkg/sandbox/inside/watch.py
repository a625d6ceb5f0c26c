"""Look at what the processes of a candidate use together: limits of the kernel count each process for itself."""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = resource.getpagesize()


@dataclass(frozen=True, slots=True)
class Usage:
    """What the processes of a run use at one moment: CPU seconds, and bytes of memory that are not the supervisor's."""

    seconds: float = 0.0
    memory: int = 0


class Watch:
    """Reads the /proc of the sandbox's own process namespace, in which this process is the first."""

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._own = self._read("self")[1] if processes >= 0 else 0

    def measure(self) -> Usage:
        """Add up all processes but the first."""
        if self._processes < 0:
            return Usage()
        found = [self._read(name) for name in os.listdir(self._processes) if name.isdigit() and name != "1"]
        # Every process begins with the supervisor's pages, which it shares until it writes on them.
        return Usage(sum(seconds for seconds, _ in found), sum(max(0, memory - self._own) for _, memory in found))

    def _read(self, name: str) -> tuple[float, int]:
        """Read CPU seconds and resident bytes of one process; none of one that has just ended."""
        try:
            descriptor = os.open(f"{name}/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._processes)
        except OSError:
            return 0.0, 0
        try:
            fields = os.read(descriptor, 4096).rpartition(b")")[2].split()
        except OSError:
            return 0.0, 0
        finally:
            os.close(descriptor)
        return (int(fields[11]) + int(fields[12])) / TICKS, int(fields[21]) * PAGE
