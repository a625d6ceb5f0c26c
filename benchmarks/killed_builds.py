"""Kill builds at random moments (SIGKILL), and measure what the next build does twice and how much disk they take.

    python benchmarks/killed_builds.py --cache DIR [--kills 100]

Each chain builds one graph: its first runs are killed, most of them while files are prepared and some later, each goes
on where the last was killed, and the last ends. `twice` is the share of the files that was prepared again after a kill.
`disk` is the largest size of all files of the store during a chain, divided by their size at its end. The graph
of every chain has to equal, byte for byte, that of a build in one transaction.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from measure import Figures, make_environment, make_parser, open_folder, read_options, summarise, write_result
from packages import NETWORKX, unpack_package

START = 0.5  # seconds before the first kill: the imports
EARLY = 11  # most kills of a chain while files are prepared
LATE = 1  # kills of a chain at any time after that
TWICE, DISK = 0.05, 1.3  # limits of a kill and of a chain

BUILD = """
import sys
from pkg.indexing import build, prepare
if sys.argv.pop(1) == "plain":
    build.LOADED_BYTES = float("inf")
log, begin = open(sys.argv.pop(1), "a", buffering=1), prepare.Preparer.prepare
def prepare_and_count(self, batch):
    made = begin(self, batch)
    log.write(f"{len(made[0])}\\n")
    return made
prepare.Preparer.prepare = prepare_and_count
from pkg.cli import run
run()
"""


class Chain:
    """Builds of one source into one store, which are killed until one ends."""

    def __init__(self, tree: Path, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.log, self.peak = folder, folder.with_suffix(".log"), 0
        self.log.touch()
        self._tree = tree

    def run(self, seconds: float | None, kind: str = "kept") -> bool:
        """Build for some seconds, or until it ends; return whether it was killed."""
        options = ["--source", "source", "--jobs", "1", "--store", f"sqlite:///{self.folder}/graph.db"]
        command = [sys.executable, "-c", BUILD, kind, str(self.log), "build", str(self._tree), *options]
        end = time.monotonic() + (seconds or float("inf"))
        with subprocess.Popen(command, env=make_environment(self.folder.parent), stdout=subprocess.DEVNULL) as process:
            while process.poll() is None:
                self.peak = max(self.peak, measure_folder(self.folder))
                if time.monotonic() > end:
                    process.send_signal(signal.SIGKILL)
                time.sleep(0.005)
        if process.returncode not in (0, -signal.SIGKILL):
            sys.exit(f"exit code {process.returncode} of a build")
        return process.returncode != 0

    def count_prepared(self) -> int:
        """Return how many files all runs have prepared."""
        return sum(map(int, self.log.read_text().split()))

    def count_kept(self) -> int:
        """Return how many files the next run finds prepared."""
        found = 0
        for path in self.folder.glob("graph.db*"):
            if not path.name.endswith(("-wal", "-shm", "-sum", "-vectors", "-terms", ".tmp", "-journal")):
                with closing(sqlite3.connect(path)) as connection:
                    has_units = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'unit'").fetchone()
                    found += connection.execute("SELECT count(*) FROM unit").fetchone()[0] if has_units else 0
        return found


def measure_folder(folder: Path) -> int:
    """Return the bytes of the files in a folder, some of which may vanish meanwhile."""
    total = 0
    for entry in os.scandir(folder):
        try:
            total += entry.stat().st_size
        except FileNotFoundError:
            continue
    return total


def hash_graph(folder: Path) -> str:
    """Hash the export of a store with its vectors."""
    command = [sys.executable, "-m", "pkg.cli", "export", "--vectors", "--store", f"sqlite:///{folder}/graph.db"]
    found = subprocess.run(command, env=make_environment(folder.parent), capture_output=True, check=True)
    return hashlib.sha256(found.stdout).hexdigest()


def kill_runs(chain: Chain, draw: random.Random, files: int, whole: float) -> Iterator[int]:
    """Kill runs of a chain, then let one end; yield the number of files that each kill has lost.

    whole: seconds of a build.
    """
    early, late, done = 0, 0, chain.count_prepared()
    while late < LATE:
        before = chain.count_kept()
        is_early = before < files and early < EARLY
        early, late = early + is_early, late + (not is_early)
        if not chain.run(START + draw.uniform(0, whole / EARLY / 2 if is_early else whole)):
            return
        prepared = chain.count_prepared() - done
        done += prepared
        yield before + prepared - chain.count_kept()
    chain.run(None)


def measure_kills(tree: Path, folder: Path, kills: int) -> Figures:
    """Kill builds until there were as many kills as asked for."""
    plain = Chain(tree, folder / "plain")
    start = time.monotonic()
    plain.run(None, "plain")
    whole = time.monotonic() - start
    files, graph, size = plain.count_prepared(), hash_graph(plain.folder), measure_folder(plain.folder)
    free = Chain(tree, folder / "free")
    free.run(None)
    lost: list[float] = []
    disk, differing, left = [free.peak / size], int(hash_graph(free.folder) != graph), 0
    draw = random.Random(0)
    while len(lost) < kills:
        chain = Chain(tree, folder / f"chain-{len(lost)}")
        lost += [count / files for count in kill_runs(chain, draw, files, whole)]
        differing += hash_graph(chain.folder) != graph
        left += sum(1 for each in chain.folder.iterdir() if "pending" in each.name or each.name.endswith(".tmp"))
        disk.append(chain.peak / measure_folder(chain.folder))
        print(f"{len(lost)} kills, at most {max(lost):.1%} of the files twice, {max(disk):.2f} times the disk")
    return {
        "files": files,
        "kills": len(lost),
        "graphs_that_differ": differing,
        "files_left_over": left,
        "twice": summarise(lost, TWICE),
        "disk": summarise(disk, DISK),
        "disk_in_one_transaction": plain.peak / size,
    }


def main() -> None:
    """Measure and write the figures."""
    parser = make_parser(__doc__)
    parser.add_argument("--kills", type=int, default=100)
    options = read_options(parser)
    with open_folder(options.cache) as (cache, folder):
        write_result("killed_builds", measure_kills(unpack_package(NETWORKX, cache, folder), folder, options.kills))


if __name__ == "__main__":
    main()
