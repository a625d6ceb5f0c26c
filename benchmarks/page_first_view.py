"""Measure the time to first view of the page of a large graph, in Chromium, from the address to the drawing.

    python benchmarks/page_first_view.py --store sqlite:///django.db

Each view is opened in a fresh page: the map of the source, and functions drawn by a seed, each as its code and as its
graph. Times count from the start of the navigation until the view is in the page. Needs Chromium, the extra service and
a graph of one source.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from measure import ROOT, Figures, compare, read_busy, write_result

from pkg.api import open_graph
from pkg.model import Label

sys.path[:0] = [str(ROOT / "checks"), str(ROOT / "tests" / "support")]

from chromium import Page, start_page  # noqa: E402
from serve_process import start_serve  # noqa: E402

FIRST_VIEW_MS = 300.0
NODES = 40_000  # minimum size of the graph
FUNCTIONS, SEED = 40, 0
ROUNDS = 10  # of the map
SIZE = (1280, 860)


def choose_functions(store: str) -> tuple[int, str, list[str]]:
    """Return the number of nodes, the source, and some functions of a graph, drawn by the seed."""
    with open_graph(store) as graph:
        (source,) = graph.store.sources()
        nodes = sum(graph.stats().nodes.values())
        found = sorted(f"{node.path}::{node.qualname}" for node in graph.store.nodes([Label.FUNCTION], source.name))
    return nodes, source.name, random.Random(SEED).sample(found, FUNCTIONS)


def time_view(page: Page, address: str, view: str) -> float:
    """Open a view and return the milliseconds until it is shown."""
    page.open("about:blank")
    page.open(f"{address}{view}")
    page.await_true("performance.getEntriesByType('mark').length")
    return float(page.run("performance.getEntriesByType('mark')[0].startTime"))


def time_views(page: Page, address: str, views: Sequence[str]) -> Figures:
    """Sum up the times of some views."""
    times = sorted(time_view(page, address, view) for view in views)
    return {
        "views": len(times),
        "median_ms": compare(statistics.median(times), FIRST_VIEW_MS),
        "least_ms": round(times[0], 1),  # the time without other load on the processors
        "p95_ms": round(times[int(len(times) * 0.95)], 1),
        "most_ms": round(times[-1], 1),
    }


def measure(store: str) -> Figures:
    """Serve the graph and open its views."""
    nodes, source, functions = choose_functions(store)
    if nodes < NODES:
        sys.exit(f"a graph of {nodes:,} nodes; expected one of {NODES:,} at least, such as that of django")
    symbols = [f"#/symbol?name={quote(name, safe='')}&source={quote(source)}" for name in functions]
    with ExitStack() as opened:
        folder = Path(opened.enter_context(TemporaryDirectory()))
        served = opened.enter_context(start_serve(folder, "--store", store))
        address = served.page
        page = opened.enter_context(start_page(*SIZE))
        time_view(page, address, "#/map")  # warm-up: starts the browser and reads the map
        busy = read_busy()
        figures = {
            "map": time_views(page, address, ["#/map"] * ROUNDS),
            "code": time_views(page, address, symbols),
            "graph": time_views(page, address, [f"{view}&tab=graph" for view in symbols]),
        }
        return {"source": source, "nodes": nodes, **figures, "busy_seconds": round(read_busy() - busy, 1),
                "load_average": round(os.getloadavg()[0], 2)}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True, help="address of a graph of one source")
    write_result("page_first_view", measure(parser.parse_args().store))


if __name__ == "__main__":
    main()
