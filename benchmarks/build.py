"""Measure builds of django, spyder and the shared corpora: CPU, memory, disk, re-runs, two workers.

    python benchmarks/build.py --data FOLDER [--cache FOLDER] [--rounds 5]

All figures are of whole processes, start-up included. Every round runs a parse-only process (read and parse the same
files, nothing else) beside the build, because CPU seconds alone depend on the machine and its load. Two workers can
only be faster than one if a second core is free: the cores busy with other work are reported. The functions whose
bodies are changed are drawn by the number of the round.
"""

from __future__ import annotations

import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from measure import (
    MEGABYTE,
    Figures,
    Run,
    compare,
    make_parser,
    open_folder,
    read_line,
    read_options,
    run_pkg,
    run_process,
    summarise,
    write_result,
)
from packages import DJANGO, SPYDER, Package, unpack_package
from shared_data import CORPORA, COSQA, find_files

PARSE_ONLY = """
import pathlib, sys, tree_sitter, tree_sitter_python
parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))
files = list(pathlib.Path(sys.argv[1]).rglob("*.py"))
for file in files:
    parser.parse(file.read_bytes())
print(len(files))
"""
EDITED = {
    "django": ("django/db/models/query.py", "django/http/response.py"),
    "spyder": ("spyder-6.0.0a4/spyder/app/mainwindow.py", "spyder-6.0.0a4/spyder/config/base.py"),
}
ADDED = {"changed": "added_by_benchmark", "changed_by_a_used_name": "added"}
"""Name of the function added to both files: a new name, or one that django's admin has as a key."""
BODIES = 5  # functions drawn in each round; each in turn gets a statement in its body
_HEAD = re.compile(rb"^( +)def \w+\((?:[^()]|\([^()]*\))*\)[^\n]*:\n", re.MULTILINE)
TARGETS = {"django": {"cpu": 3.7, "disk": 40.0}}  # spyder has the same ratio and bytes per node as its target
RATIO, MEMORY, NODE_BYTES = 5.0, 200.0, 1100.0
UNCHANGED, CHANGED = 0.12, 0.4  # CPU seconds
CORPUS_NODE_BYTES = 1500.0


def build(path: Path, store: Path, jobs: int) -> Run:
    """Build a graph of code alone with the command line, because the parse beside it reads code alone."""
    address = f"sqlite:///{store}"
    return run_pkg(["build", str(path), "--store", address, "--jobs", str(jobs), "--no-text", "--json"], store.parent)


def read_stats(store: Path) -> Figures:
    """Return the counts and sizes of a graph."""
    return read_line(run_pkg(["stats", "--store", f"sqlite:///{store}", "--json"], store.parent))


def measure_package(package: Package, cache: Path, work: Path, rounds: int) -> Figures:
    """Measure first builds by one and two workers, an unchanged re-run and one with two changed files, interleaved."""
    tree = unpack_package(package, cache, work)
    build(tree, work / f"{package.name}-warm.db", 1)  # compiles modules and fills the page cache
    runs: dict[str, list[Run]] = defaultdict(list)
    for number in range(rounds):
        store = work / f"{package.name}-{number}.db"
        runs["parse"].append(run_process([sys.executable, "-c", PARSE_ONLY, str(tree)], work))
        runs["one"].append(build(tree, store, 1))
        runs["two"].append(build(tree, work / f"{package.name}-{number}-two.db", 2))
        runs["unchanged"].append(build(tree, store, 1))
        stats = read_stats(store)
        for change, name in ADDED.items():
            with _add_function([tree / file for file in EDITED[package.name]], name):
                runs[change].append(build(tree, store, 1))
        for path, text in _draw_bodies(tree, random.Random(number)):
            build(tree, store, 1)
            with _write_instead({path: text}):
                runs["body"].append(build(tree, store, 1))
    _check(package, runs)
    return _describe_package(package, runs, stats)


def _add_function(paths: Sequence[Path], name: str) -> AbstractContextManager[None]:
    """Add a function to some files temporarily."""
    function = f"\n\ndef {name}(value):\n    return value\n".encode()
    return _write_instead({path: path.read_bytes() + function for path in paths})


def _draw_bodies(tree: Path, source: random.Random) -> Iterator[tuple[Path, bytes]]:
    """Draw indented functions of different files, each with a text in which its body has one more statement."""
    files = {path: path.read_bytes() for path in sorted(tree.rglob("*.py"))}
    heads = {path: found for path, text in files.items() if (found := list(_HEAD.finditer(text)))}
    for path in source.sample(sorted(heads), BODIES):
        head = source.choice(heads[path])
        yield path, files[path][: head.end()] + head[1] + b'    size = len("benchmark")\n' + files[path][head.end() :]


@contextmanager
def _write_instead(texts: Mapping[Path, bytes]) -> Iterator[None]:
    """Replace the texts of files temporarily."""
    before = {path: path.read_bytes() for path in texts}
    try:
        for path, text in texts.items():
            path.write_bytes(text)
        yield
    finally:
        for path, text in before.items():
            path.write_bytes(text)


def _check(package: Package, runs: dict[str, list[Run]]) -> None:
    """Fail if a build did not do what its figures claim."""
    files = int(runs["parse"][0].output)
    expected = {"one": files, "two": files, "unchanged": 0, "body": 1}
    expected |= dict.fromkeys(ADDED, len(EDITED[package.name]))
    for name, count in expected.items():
        for run in runs[name]:
            written = read_line(run)["written"]
            if written != count:
                sys.exit(f"{package.name}, build '{name}': {written} files read, expected {count}")


def _describe_package(package: Package, runs: dict[str, list[Run]], stats: Figures) -> Figures:
    targets = TARGETS.get(package.name, {})
    first, parse = runs["one"], runs["parse"]
    size, nodes = sum(stats["bytes"].values()), sum(stats["nodes"].values())
    reports = [read_line(run) for run in first]
    return {
        "version": package.version,
        "sha256": package.sha256,
        "files": int(parse[0].output),
        "partial": [f"{each['path']}: {each['reason']}" for each in stats["partial"]],
        "skipped": [f"{each['path']}: {each['reason']}" for each in stats["skipped"]],
        "nodes": stats["nodes"],
        "relations": stats["relations"],
        "first_build": {
            "cpu_seconds": summarise([run.cpu for run in first], targets.get("cpu")),
            "parse_only_cpu_seconds": summarise([run.cpu for run in parse]),
            "ratio_to_parse_only": summarise([a.cpu / b.cpu for a, b in zip(first, parse, strict=True)], RATIO),
            "memory_mb": summarise([run.memory for run in first], MEMORY),
            "stage_cpu_seconds": {
                stage: summarise([report["stages"][stage] for report in reports]) for stage in reports[0]["stages"]
            },
        },
        "disk": {
            "mb": compare(size / MEGABYTE, targets["disk"]) if "disk" in targets else _round_mb(size),
            "bytes_a_node": compare(size / nodes, NODE_BYTES),
            "vectors_mb": _round_mb(sum(count for name, count in stats["bytes"].items() if name.endswith("-vectors"))),
        },
        "unchanged_cpu_seconds": summarise([run.cpu for run in runs["unchanged"]], UNCHANGED),
        **{f"two_files_{each}_cpu_seconds": summarise([run.cpu for run in runs[each]], CHANGED) for each in ADDED},
        "one_body_changed_cpu_seconds": summarise([run.cpu for run in runs["body"]]),
        "workers": {
            "one_wall_seconds": summarise([run.wall for run in first]),
            "two_wall_seconds": summarise([run.wall for run in runs["two"]]),
            "two_cpu_seconds": summarise([run.cpu for run in runs["two"]]),
            "wall_two_to_one": summarise([b.wall / a.wall for a, b in zip(first, runs["two"], strict=True)], 1.0),
            "cores_busy_with_other_work": summarise([run.others for run in first + runs["two"]]),
        },
    }  # fmt: skip


def _round_mb(size: int) -> float:
    return round(size / MEGABYTE, 3)


def measure_corpus(path: Path, work: Path, rounds: int) -> Figures:
    """Measure the build of one corpus file."""
    name = f"{path.parent.name}-{path.name.split('.')[0]}"
    runs = [build(path, work / f"{name}-{number}.db", 1) for number in range(rounds)]
    stats, report = read_stats(work / f"{name}-0.db"), read_line(runs[0])
    nodes = sum(stats["nodes"].values())
    return {
        "rows": report["written"],
        "partial": report["partial"],
        "skipped": len(report["skipped"]),
        "nodes": nodes,
        "functions": stats["nodes"]["Function"],
        "cpu_seconds": summarise([run.cpu for run in runs]),
        "memory_mb": summarise([run.memory for run in runs]),
        "bytes_a_node": compare(sum(stats["bytes"].values()) / nodes, CORPUS_NODE_BYTES),
    }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each figure is measured; default: 5")
    options = read_options(parser)
    with open_folder(options.cache) as (cache, work):
        figures: Figures = {
            package.name: measure_package(package, cache, work, options.rounds) for package in (DJANGO, SPYDER)
        }
        paths = find_files(options.data, CORPORA | COSQA)
        corpora = {f"{path.parent.name}/{path.name}": measure_corpus(path, work, options.rounds) for path in paths}
    write_result("build", {"rounds": options.rounds, **figures, "corpora": corpora})


if __name__ == "__main__":
    main()
