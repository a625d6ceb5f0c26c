"""Measure builds of rows by one process, by worker processes and by Ray, all on this machine; kill one worker of each.

    python benchmarks/cluster.py --data FOLDER [--cache FOLDER] [--rows 143000] [--long 1500000]

The rows are those of corpus.py. The CPU of a build is that of all its processes, with those that Ray starts. `driver`
is the peak of the process that writes the store. The export of each build has to equal, byte for byte, that of one
process, also where a worker is killed in the middle. --long: build so many rows by two processes, for the memory
alone; 0 leaves that out. Without Ray in the environment its builds are left out, and named.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path

from corpus import write_rows
from measure import (
    MEGABYTE,
    ROOT,
    Figures,
    compare,
    make_parser,
    open_folder,
    read_options,
    run_process,
    write_result,
)
from shared_data import CORPORA, find_files

ROWS, LONG = 143_000, 1_500_000
DRIVER, RATIO = 300.0, 1.1  # megabytes, and CPU against one process
WORKERS = 2
KILL_AFTER = 8.0  # seconds
KINDS = ("processes", "ray")


def build_rows(kind: str, file: Path, store: Path, is_killed: bool) -> None:
    """Build a file in this process, and print the costs as JSON; a worker is killed meanwhile if that is asked for."""
    sys.path.insert(0, str(ROOT))
    from pkg.graph.opening import open_store
    from pkg.indexing.build import build
    from pkg.indexing.build_plan import BuildOptions
    from pkg.indexing.partitions import open_cluster

    killed: list[int] = []
    if is_killed:
        threading.Thread(target=_kill_worker, args=(killed,), daemon=True).start()
    start, ray = time.perf_counter(), "local" if kind == "ray" else None
    folder = str(store.with_suffix(".work"))
    with nullcontext() if kind == "one" else open_cluster(folder, ray, WORKERS) as cluster:
        with closing(open_store(f"sqlite:///{store}", create=True)) as target:
            report = build(str(file), target, BuildOptions(cluster=cluster))
        used = sum(_read_seconds(process) for process in (os.getpid(), *_list_descendants(os.getpid())))
    print(
        json.dumps(
            {
                "rows": report.written,
                "cpu_seconds": round(used, 2),
                "wall_seconds": round(time.perf_counter() - start, 2),
                "driver_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE, 1),
                "stages": report.stages,
                "killed": len(killed),
            }
        )
    )


def _kill_worker(killed: list[int]) -> None:
    """Kill the descendant that has worked most, once a few seconds have passed and one works on a task."""
    workers: list[int] = []
    while not workers:
        time.sleep(KILL_AFTER)
        names = {each: _read_command(each) for each in _list_descendants(os.getpid())}
        workers = [each for each, name in names.items() if "ray::_run" in name or "multiprocessing.spawn" in name]
    killed.append(max(workers, key=_read_seconds))
    os.kill(killed[0], signal.SIGKILL)


def _list_descendants(process: int) -> Iterator[int]:
    """Yield the processes that a process has started, and those that they have."""
    with suppress(OSError):
        for task in os.listdir(f"/proc/{process}/task"):
            for child in Path(f"/proc/{process}/task/{task}/children").read_text("ascii").split():
                yield int(child)
                yield from _list_descendants(int(child))


def _read_seconds(process: int) -> float:
    """Return the CPU seconds of a process and of its children that have ended."""
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
        return sum(int(fields[each]) for each in (11, 12, 13, 14)) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _read_command(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().decode("utf-8", "replace")
    return ""


def measure(kind: str, file: Path, is_killed: bool = False, is_hashed: bool = True) -> Figures:
    """Build a file in a process of its own; return its costs, with a hash of the export."""
    store = file.parent / f"{kind}.db"
    for old in file.parent.glob(f"{kind}.*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    command = [sys.executable, __file__, "--child", kind, str(file), str(store), "killed" if is_killed else "whole"]
    output = run_process(command, file.parent).output
    found: Figures = json.loads(output.splitlines()[-1])  # Ray may report a worker that died before it
    return found | ({"export": _hash_export(store)} if is_hashed else {})


def _hash_export(store: Path) -> str:
    from pkg.graph.opening import open_store

    found = hashlib.sha256()
    with closing(open_store(f"sqlite:///{store}")) as opened:
        for line in opened.export():
            found.update(json.dumps(line).encode())
    return found.hexdigest()


def _compare(found: Figures, one: Figures) -> Figures:
    figures = {name: value for name, value in found.items() if name != "export"}
    return figures | {
        "driver_mb": compare(found["driver_mb"], DRIVER),
        "ratio_to_one_process": compare(found["cpu_seconds"] / one["cpu_seconds"], RATIO),
        "is_equal": found["export"] == one["export"],
    }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help=f"rows of the compared builds; default: {ROWS:,}")
    parser.add_argument("--long", type=int, default=LONG, help=f"rows of the longest build; default: {LONG:,}")
    options = read_options(parser)
    kinds = [kind for kind in KINDS if kind != "ray" or find_spec("ray") is not None]
    paths = find_files(options.data, CORPORA)
    figures: Figures = {"workers": WORKERS, "left_out": sorted(set(KINDS) - set(kinds))}
    with open_folder(options.cache) as (_, work):
        file = work / "rows.jsonl"
        write_rows(paths, file, options.rows)
        one = measure("one", file)
        figures["one"] = {name: value for name, value in one.items() if name != "export"}
        for kind in kinds:
            figures[kind] = _compare(measure(kind, file), one)
            killed = measure(kind, file, is_killed=True)
            figures[f"{kind}_killed"] = {"killed": killed["killed"], "is_equal": killed["export"] == one["export"]}
        if options.long:
            write_rows(paths, file, options.long)
            figures["long"] = measure("processes", file, is_hashed=False)
    write_result("cluster", figures)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _, _, kind, file, store, fate = sys.argv
        build_rows(kind, Path(file), Path(store), fate == "killed")
    else:
        main()
