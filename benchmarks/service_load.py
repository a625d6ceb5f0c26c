"""Load `pkg serve` for a minute with 50 concurrent clients: latency, errors, and the memory of the server.

    python benchmarks/service_load.py [--cache FOLDER] [--store ADDRESS] [--clients 50] [--seconds 60]

The graph is that of django, or the one at the address. Each client asks one question after the other; questions are
names and phrases of django in turn, for four operations. Memory is read from the server's own /metrics.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

from measure import MEGABYTE, ROOT, Figures, run_pkg, write_result
from packages import DJANGO, fetch_package

sys.path.insert(0, str(ROOT / "tests" / "support"))

from serve_process import start_serve

QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("query", {"text": "split the migrations graph by app label"}),
    ("explore", {"text": "how does the query set decide when to hit the database"}),
    ("show", {"name": "django/db/models/query.py::QuerySet.get_or_create"}),
    ("deps", {"name": "django/utils/text.py::slugify"}),
    ("query", {"text": "escape html in a template variable"}),
    ("outline", {"path": "django/core/cache"}),
    ("query", {"text": "check the password hash of a user"}),
)


def read_memory(metrics: str) -> float:
    """Return the server's memory in megabytes from its metrics."""
    line = next(each for each in metrics.splitlines() if each.startswith("process_resident_memory_bytes "))
    return float(line.split()[1]) / MEGABYTE


async def ask(address: str, clients: int, seconds: float) -> Figures:
    """Run concurrent clients for some seconds; return their latencies and results."""
    import httpx2 as httpx

    took, statuses, memory, turns = list[float](), Counter[str](), list[float](), count()
    limits = httpx.Limits(max_connections=clients + 1)
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as client:
        for operation, arguments in QUESTIONS:
            (await client.post(f"/v1/{operation}", json=arguments)).raise_for_status()
        memory.append(read_memory((await client.get("/metrics")).text))
        end = time.monotonic() + seconds

        async def work() -> None:
            while time.monotonic() < end:
                operation, arguments = QUESTIONS[next(turns) % len(QUESTIONS)]
                start = time.perf_counter()
                try:
                    status = str((await client.post(f"/v1/{operation}", json=arguments)).status_code)
                except httpx.HTTPError as fault:
                    status = type(fault).__name__
                took.append((time.perf_counter() - start) * 1000)
                statuses[status] += 1

        async def watch() -> None:
            while time.monotonic() < end:
                await asyncio.sleep(seconds / 6)
                memory.append(read_memory((await client.get("/metrics")).text))

        await asyncio.gather(watch(), *(work() for _ in range(clients)))
        memory.append(read_memory((await client.get("/metrics")).text))
    parts = statistics.quantiles(took, n=20)
    return {
        "clients": clients,
        "seconds": seconds,
        "requests": len(took),
        "requests_a_second": round(len(took) / seconds, 1),
        "errors": sum(number for status, number in statuses.items() if status != "200"),
        "statuses": dict(statuses),
        "p50_ms": round(parts[9], 1),
        "p95_ms": round(parts[18], 1),
        "memory_mb": [round(each, 1) for each in memory],
    }


def main() -> None:
    """Build, serve, ask, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path("benchmarks-cache"))
    parser.add_argument("--store", help="a graph of django that is there already, such as neo4j://host")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        store = given.store or f"sqlite:///{folder / 'graph.db'}"
        if given.store is None:
            run_pkg(["build", str(fetch_package(DJANGO, given.cache)), "--store", store, "--json"], folder)
        with start_serve(folder, "--store", store) as served:
            figures = asyncio.run(ask(served.address, given.clients, given.seconds))
    write_result("service_load" if "sqlite" in store else "service_load_neo4j", figures)


if __name__ == "__main__":
    main()
