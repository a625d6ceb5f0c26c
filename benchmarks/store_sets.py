"""Compare a set of 8 stores with one store of the same 143,000 rows: hits of 500 questions, latency, memory.

    python benchmarks/store_sets.py --data FOLDER [--cache FOLDER] [--runs 3] [--members 8] [--long ROWS]

The rows are those of benchmarks/corpus.py, cut by their content hash. Both stores answer the questions of
benchmarks/query.py in each mode, each time in a new process, alternating; a question agrees where the whole answer is
equal: hits, order, scores, pruned code, helpers and counts. --long builds a set of so many rows by two processes
instead, and asks it one question, for the memory and CPU alone.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path

from corpus import ROWS, write_rows
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
from query import COLD_QUESTION, QUERIES
from shared_data import CORPORA, find_files, read_questions

from pkg.errors import FILE_SCHEME, SET_SCHEME
from pkg.retrieval.query_options import Mode

MODES: tuple[Mode, ...] = ("block", "function", "both")
RATIO = 1.5  # of the median latency of the set to that of one store
WORKERS = 2
MEMORY = 400.0  # megabytes of a process that asks, as in benchmarks/query.py


def build_stores(rows: Path, work: Path, members: int) -> Figures:
    """Build all rows into one store and into a set; return the counts of both, which have to be equal."""
    from pkg.graph.opening import open_store

    folder = work / "set"
    for address in list_addresses(work).values():
        options = ["--members", str(members)] if address.startswith(SET_SCHEME) else []
        run_pkg(["build", str(rows), "--source", "rows", "--store", address, *options, "--jobs", "1", "--json"], work)
    start = time.process_time()
    open_store(list_addresses(work)["set"]).close()  # finds repeated fragments
    seconds = time.process_time() - start
    counts = [
        read_line(run_pkg(["stats", "--store", address, "--json"], work))["nodes"]
        for address in list_addresses(work).values()
    ]
    if counts[0] != counts[1]:
        sys.exit(f"the set holds {counts[1]}, expected as one store: {counts[0]}")
    repeats = sum(len(each) for each in json.loads((folder / "set.json").read_text("utf-8"))["repeats"])
    return {
        "nodes": sum(counts[0].values()),
        "repeated_fragments": repeats,
        "first_opening_cpu_seconds": round(seconds, 3),
        "mb": {
            "one": round(sum(path.stat().st_size for path in work.glob("one.db*")) / 1e6, 1),
            "set": round(sum(path.stat().st_size for path in folder.iterdir()) / 1e6, 1),
        },
    }


def list_addresses(work: Path) -> dict[str, str]:
    """Return the addresses of both stores."""
    return {"one": f"{FILE_SCHEME}{work}/one.db", "set": f"{SET_SCHEME}{work}/set"}


def ask(store: str, questions: Path, mode: Mode) -> None:
    """Run all questions in this process and print their costs and a digest of each answer."""
    from pkg.api import open_graph

    wall, cpu, digests = [], [], []
    with open_graph(store) as graph:
        graph.query(COLD_QUESTION, mode=mode)
        for text in json.loads(questions.read_text(encoding="utf-8")):
            start, used = time.perf_counter(), time.process_time()
            result = graph.query(text, mode=mode)
            cpu.append((time.process_time() - used) * 1000)
            wall.append((time.perf_counter() - start) * 1000)
            digests.append(blake2b(json.dumps(asdict(result)).encode(), digest_size=8).hexdigest())
    print(json.dumps({"wall": wall, "cpu": cpu, "digests": digests}))


def measure_mode(work: Path, questions: Path, mode: Mode, runs: int) -> Figures:
    """Run the questions of a mode on both stores in turn."""
    asked: dict[str, list[Run]] = {name: [] for name in list_addresses(work)}
    for _ in range(runs):
        for name, address in list_addresses(work).items():
            asked[name].append(run_process([sys.executable, __file__, "--ask", address, str(questions), mode], work))
    found = {name: [read_line(run) for run in made] for name, made in asked.items()}
    pairs = zip(found["one"][0]["digests"], found["set"][0]["digests"], strict=True)
    median = {
        name: {kind: [sorted(each[kind])[len(each[kind]) // 2] for each in made] for kind in ("wall", "cpu")}
        for name, made in found.items()
    }
    ratios = {
        kind: [many / one for one, many in zip(median["one"][kind], median["set"][kind], strict=True)]
        for kind in ("wall", "cpu")
    }
    return {
        "equal_answers": sum(one == many for one, many in pairs),
        "p50_ratio_cpu": summarise(ratios["cpu"], RATIO),
        "p50_ratio_wall": summarise(ratios["wall"]),
        **{
            name: {
                "p50_cpu_ms": summarise(median[name]["cpu"]),
                "p50_wall_ms": summarise(median[name]["wall"]),
                "memory_mb": summarise([run.memory for run in made], MEMORY),
            }
            for name, made in asked.items()
        },
    }


def measure_cold(work: Path, times: int) -> Figures:
    """Run one question with the command, each time in a new process."""
    seconds: dict[str, list[float]] = {}
    for _ in range(times + 1):
        for name, address in list_addresses(work).items():
            run = run_pkg(["query", COLD_QUESTION, "--store", address, "--json"], work)
            seconds.setdefault(name, []).append(run.cpu)
    return {name: summarise(each[1:]) for name, each in seconds.items()}  # the first fills the page cache


def measure_long(rows: Path, work: Path, members: int) -> Figures:
    """Build a set of rows and ask it one question; return the costs of both."""
    address = list_addresses(work)["set"]
    options = ["--members", str(members), "--jobs", str(WORKERS), "--json"]
    built = run_pkg(["build", str(rows), "--source", "rows", "--store", address, *options], work)
    asked = [run_pkg(["query", COLD_QUESTION, "--store", address, "--json"], work) for _ in range(2)]
    nodes = read_line(run_pkg(["stats", "--store", address, "--json"], work))["nodes"]
    return {
        "nodes": sum(nodes.values()),
        "mb": round(sum(path.stat().st_size for path in (work / "set").iterdir()) / 1e6, 1),
        "build": {"cpu_seconds": round(built.cpu, 1), "memory_mb": round(built.memory, 1)},
        "query": {"cpu_seconds": round(asked[1].cpu, 2), "memory_mb": round(asked[1].memory, 1)},
    }


def main() -> None:
    if sys.argv[1:2] == ["--ask"]:
        ask(sys.argv[2], Path(sys.argv[3]), next(mode for mode in MODES if mode == sys.argv[4]))
        return
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=3, help="processes for each store and mode; default: 3")
    parser.add_argument("--members", type=int, default=8, help="stores of the set; default: 8")
    parser.add_argument("--rows", type=int, default=ROWS, help=f"rows of the corpus; default: {ROWS}")
    parser.add_argument("--long", type=int, default=0, help="rows of a set that is built alone")
    options = read_options(parser)
    with open_folder(options.cache) as (_, work):
        rows, questions = work / "rows.jsonl", work / "questions.json"
        write_rows(find_files(options.data, CORPORA), rows, options.long or options.rows)
        if options.long:
            figures = {"rows": options.long, "members": options.members, "workers": WORKERS}
            write_result("store_sets_long", figures | measure_long(rows, work, options.members))
            return
        questions.write_text(json.dumps(read_questions(options.data)[:QUERIES]), encoding="utf-8")
        figures = {"rows": options.rows, "members": options.members, **build_stores(rows, work, options.members)}
        figures["questions"] = QUERIES
        figures["modes"] = {mode: measure_mode(work, questions, mode, options.runs) for mode in MODES}
        figures["command_line_cpu_seconds"] = measure_cold(work, options.runs)
        write_result("store_sets", figures)


if __name__ == "__main__":
    main()
