"""Count what was asked and how long it took, in the text format of Prometheus (0.0.4)."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # seconds


class ServiceMetrics:
    """What is counted; one thread, that of the event loop, counts."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], int] = defaultdict(int)
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)

    def count(self, operation: str, status: int, seconds: float) -> None:
        """Count a request that was answered; the operation is one that there is, or a word for all others."""
        self._requests[operation, status] += 1
        self._buckets[operation][bisect_left(BUCKETS, seconds)] += 1
        self._seconds[operation] += seconds

    def write(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Write all that was counted, and gauges by name with what they tell and their value."""
        lines = [*self._write_requests(), *self._write_seconds()]
        for name, (told, value) in gauges.items():
            lines += [*_write_head(name, "gauge", told), f"{name} {value:g}"]
        return "\n".join(lines) + "\n"

    def _write_requests(self) -> Iterator[str]:
        yield from _write_head("pkg_requests_total", "counter", "Requests that were answered.")
        for (operation, status), count in sorted(self._requests.items()):
            yield f'pkg_requests_total{{operation="{operation}",status="{status}"}} {count}'

    def _write_seconds(self) -> Iterator[str]:
        yield from _write_head("pkg_request_seconds", "histogram", "Seconds from the first byte to the last.")
        for operation, counts in sorted(self._buckets.items()):
            total = 0
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                total += count
                yield f'pkg_request_seconds_bucket{{operation="{operation}",le="{bound}"}} {total}'
            yield f'pkg_request_seconds_sum{{operation="{operation}"}} {self._seconds[operation]:.6f}'
            yield f'pkg_request_seconds_count{{operation="{operation}"}} {total}'


def _write_head(name: str, kind: str, told: str) -> Iterable[str]:
    return f"# HELP {name} {told}", f"# TYPE {name} {kind}"


def read_memory() -> int:
    """Read how many bytes of this process are in memory; 0 where the system does not tell."""
    import os

    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
