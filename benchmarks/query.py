"""Measure queries on a graph of at least 425,000 nodes: latency and memory in process, and the command line cold.

    python benchmarks/query.py --data FOLDER [--cache FOLDER] [--runs 5] [--cold 10]

The graph holds the shared corpora and real packages. 500 HumanEval prompts and MBPP texts are asked in each mode with
pruning and call completion, each time in a new process, the modes alternating: a percentile is over the questions of
one process, and the minimum, median and maximum over all processes are reported. A float scan of as many vectors
calibrates the machine.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from measure import (
    Figures,
    Run,
    make_parser,
    open_folder,
    read_line,
    read_options,
    run_pkg,
    run_process,
    summarise,
    write_result,
)
from packages import DJANGO, NETWORKX, PANDAS, SCIKIT_LEARN, SPYDER, SYMPY, fetch_package
from shared_data import CORPORA, find_files, read_questions

from pkg.retrieval.query_options import MODES, Mode

NODES = 425_000  # size of the paper's graph (P-10)
PACKAGES = (DJANGO, SPYDER, SYMPY, NETWORKX, SCIKIT_LEARN, PANDAS)
QUERIES = 500
P50, P95, MEMORY, COLD = 10.0, 25.0, 400.0, 0.4  # milliseconds, milliseconds, megabytes, seconds
COLD_QUESTION = "find the shortest path between two nodes of a weighted graph"

SCAN = """
import sys, time, numpy
vectors = numpy.random.default_rng(0).standard_normal((int(sys.argv[1]), int(sys.argv[2])), numpy.float32)
took = []
for query in vectors[:50]:
    start = time.process_time()
    vectors @ query
    took.append((time.process_time() - start) * 1000)
print(sorted(took)[25])
"""


def build_graph(store: Path, data: Path, cache: Path) -> Figures:
    """Add the corpora, then package after package to a graph until it is large enough; return its stats."""
    address = f"sqlite:///{store}"
    for path in find_files(data, CORPORA):
        run_pkg(["build", str(path), "--store", address, "--json"], store.parent)
    for package in PACKAGES:
        run_pkg(["build", str(fetch_package(package, cache)), "--store", address, "--json"], store.parent)
        stats = read_line(run_pkg(["stats", "--store", address, "--json"], store.parent))
        if sum(stats["nodes"].values()) >= NODES:
            return stats
    sys.exit(f"the packages give {sum(stats['nodes'].values())} nodes, expected {NODES}; add a package to PACKAGES")


def ask(store: str, questions: Path, mode: Mode) -> None:
    """Run all questions in this process and print their costs; that of the first, which opens the graph, separately."""
    from pkg.api import open_graph

    texts: list[str] = json.loads(questions.read_text(encoding="utf-8"))
    wall, cpu, hits, cuts, helpers = [], [], 0, 0, 0
    with open_graph(store) as graph:
        first = time.perf_counter()
        graph.query(COLD_QUESTION, mode=mode)
        first = time.perf_counter() - first
        for text in texts:
            start, used = time.perf_counter(), time.process_time()
            result = graph.query(text, mode=mode)
            cpu.append((time.process_time() - used) * 1000)
            wall.append((time.perf_counter() - start) * 1000)
            hits += len(result.hits)
            cuts += sum(len(hit.pruned) for hit in result.hits)
            helpers += sum(len(hit.helpers) for hit in result.hits)
    figures = {"wall": wall, "cpu": cpu, "first_wall": first * 1000}
    print(json.dumps(figures | {"hits": hits, "cuts": cuts, "helpers": helpers}))


def measure_modes(store: Path, questions: Path, times: int) -> Figures:
    """Run all questions of each mode in new processes, modes alternating: a machine has slow minutes."""
    runs: dict[str, list[Run]] = {mode: [] for mode in MODES}
    for _ in range(times):
        for mode in MODES:
            command = [sys.executable, __file__, "--ask", f"sqlite:///{store}", str(questions), mode]
            runs[mode].append(run_process(command, store.parent))
    return {mode: _describe_runs(each) for mode, each in runs.items()}


def _describe_runs(runs: list[Run]) -> Figures:
    """Describe the runs of one mode; hits, cuts and helpers are the same in all of them."""
    found = [read_line(run) for run in runs]
    return {
        "wall_ms": _describe_latency([each["wall"] for each in found]),
        "cpu_ms": _describe_latency([each["cpu"] for each in found]),
        "first_query_wall_ms": summarise([each["first_wall"] for each in found]),
        "memory_mb": summarise([run.memory for run in runs], MEMORY),
        **{name: found[0][name] for name in ("hits", "cuts", "helpers")},
    }


def _describe_latency(runs: list[list[float]]) -> Figures:
    """Return percentiles of the milliseconds of each run, with targets if they have any."""
    ranked = [sorted(milliseconds) for milliseconds in runs]

    def summarise_share(share: float, target: float | None = None) -> Figures:
        return summarise([each[int(len(each) * share)] for each in ranked], target)

    return {
        "p50": summarise_share(0.5, P50),
        "p95": summarise_share(0.95, P95),
        "p99": summarise_share(0.99),
        "max": summarise([each[-1] for each in ranked]),
    }


def measure_cold(store: Path, times: int) -> Figures:
    """Run one question with the command, each time in a new process; the baseline is a bare start of Python."""
    command = ["query", COLD_QUESTION, "--store", f"sqlite:///{store}", "--json"]
    run_pkg(command, store.parent)  # compiles modules and fills the page cache
    runs = [run_pkg(command, store.parent) for _ in range(times)]
    bare = [run_process([sys.executable, "-c", "pass"], store.parent) for _ in range(times)]
    return {
        "wall_seconds": summarise([run.wall for run in runs], COLD),
        "cpu_seconds": summarise([run.cpu for run in runs], COLD),
        "memory_mb": summarise([run.memory for run in runs], MEMORY),
        "bare_python_wall_seconds": summarise([run.wall for run in bare]),
    }


def measure(data: Path, cache: Path, work: Path, runs: int, cold: int) -> Figures:
    """Build the graph and measure every mode, a float scan and the command line on it."""
    store, questions = work / "query.db", work / "questions.json"
    stats = build_graph(store, data, cache)
    questions.write_text(json.dumps(read_questions(data)[:QUERIES]), encoding="utf-8")
    scan = [sys.executable, "-c", SCAN, str(stats["nodes"]["Block"]), str(stats["dimension"])]
    return {
        "sources": [source["name"] for source in stats["sources"]],
        "nodes": sum(stats["nodes"].values()),
        "nodes_by_label": stats["nodes"],
        "mb": {name: round(size / 1e6, 1) for name, size in stats["bytes"].items()},
        "queries": QUERIES,
        "float_scan_of_blocks_cpu_ms": round(float(run_process(scan, work).output), 3),
        "modes": measure_modes(store, questions, runs),
        "command_line": measure_cold(store, cold),
    }


def main() -> None:
    if sys.argv[1:2] == ["--ask"]:
        ask(sys.argv[2], Path(sys.argv[3]), next(mode for mode in MODES if mode == sys.argv[4]))
        return
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=5, help="processes for each mode; default: 5")
    parser.add_argument("--cold", type=int, default=10, help="cold starts of the command line; default: 10")
    options = read_options(parser)
    with open_folder(options.cache) as (cache, work):
        write_result("query", measure(options.data, cache, work, options.runs, options.cold))


if __name__ == "__main__":
    main()
