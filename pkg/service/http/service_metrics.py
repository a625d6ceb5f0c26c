"""Request counts and durations in the text format of Prometheus (0.0.4)."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # seconds


class ServiceMetrics:
    """Counters of requests; used by the thread of the event loop only."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], int] = defaultdict(int)
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)

    def count(self, operation: str, status: int, seconds: float) -> None:
        """Count an answered request; the operation is a known one, or one name for all others."""
        self._requests[operation, status] += 1
        self._buckets[operation][bisect_left(BUCKETS, seconds)] += 1
        self._seconds[operation] += seconds

    def write(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Return all metrics as text; gauges: help text and value by name."""
        lines = [*self._write_requests(), *self._write_seconds()]
        for name, (description, value) in gauges.items():
            lines += [*_write_head(name, "gauge", description), f"{name} {value:g}"]
        return "\n".join(lines) + "\n"

    def _write_requests(self) -> Iterator[str]:
        yield from _write_head("pkg_requests_total", "counter", "Answered requests.")
        for (operation, status), count in sorted(self._requests.items()):
            yield f'pkg_requests_total{{operation="{operation}",status="{status}"}} {count}'

    def _write_seconds(self) -> Iterator[str]:
        yield from _write_head("pkg_request_seconds", "histogram", "Seconds from the request to the end of the answer.")
        for operation, counts in sorted(self._buckets.items()):
            total = 0
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                total += count
                yield f'pkg_request_seconds_bucket{{operation="{operation}",le="{bound}"}} {total}'
            yield f'pkg_request_seconds_sum{{operation="{operation}"}} {self._seconds[operation]:.6f}'
            yield f'pkg_request_seconds_count{{operation="{operation}"}} {total}'


def _write_head(name: str, kind: str, description: str) -> Iterable[str]:
    return f"# HELP {name} {description}", f"# TYPE {name} {kind}"


def read_memory() -> int:
    """Return the resident memory of this process in bytes; 0 if the system does not report it."""
    import os

    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
