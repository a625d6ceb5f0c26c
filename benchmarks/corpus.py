"""Measure the build of a corpus of 143,000 rows: CPU, memory at three sizes, bytes per node, rows per second.

    python benchmarks/corpus.py --data FOLDER [--cache FOLDER] [--rounds 3]

The rows are those of the shared corpora, repeated: repeat k renames the functions that a row defines, and about half
of the names that it assigns, with a suffix, so that most bodies are distinct as in a real corpus of this size (P-01).
A process that reads and parses the same rows and nothing else runs beside each build.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from itertools import count, islice
from keyword import iskeyword
from pathlib import Path
from zlib import crc32

from measure import (
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
from shared_data import CORPORA, find_files, read_rows

ROWS = 143_000
SIZES = (ROWS // 4, ROWS // 2, ROWS)  # memory must not grow with the number of rows
CPU, MEMORY, NODE_BYTES = 60.0, 400.0, 1500.0  # seconds, megabytes, bytes

PARSE_ONLY = """
import json, sys, tree_sitter, tree_sitter_python
parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))
with open(sys.argv[1], encoding="utf-8") as rows:
    for row in rows:
        parser.parse(json.loads(row)["code"].encode())
"""
_FUNCTION = re.compile(r"\bdef (\w+)")
_ASSIGNED = re.compile(r"\b([A-Za-z]\w{2,}) = ")
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


def write_rows(paths: list[Path], target: Path, rows: int) -> None:
    """Write the first rows of the repeated corpora as JSON lines."""
    with target.open("w", encoding="utf-8") as file:
        for row in islice(_repeat_rows(paths), rows):
            file.write(json.dumps(row) + "\n")


def _repeat_rows(paths: list[Path]) -> Iterator[dict[str, str]]:
    originals = [(row["id"], row["code"]) for path in paths for row in read_rows(path)]
    for repeat in count():
        for identity, code in originals:
            yield {"id": f"{identity}~{repeat}", "code": rename(code, repeat) if repeat else code}


def rename(code: str, repeat: int) -> str:
    """Rename a row's functions and about half of its variables; the code stays as correct as it was."""
    functions = set(_FUNCTION.findall(code))
    variables = {name for name in _ASSIGNED.findall(code) if crc32(name.encode()) % 2 and not iskeyword(name)}
    renamed = {name for name in functions | variables if not name.startswith("__")}
    return _WORD.sub(lambda word: f"{word[0]}_v{repeat}" if word[0] in renamed else word[0], code)


def measure_size(rows: int, file: Path, rounds: int) -> Figures:
    """Measure builds of one size by one process, each beside a parse-only run."""
    builds: list[Run] = []
    parses: list[Run] = []
    for _ in range(rounds):
        store = file.with_suffix(".db")
        for old in file.parent.glob(f"{store.name}*"):
            old.unlink()
        parses.append(run_process([sys.executable, "-c", PARSE_ONLY, str(file)], file.parent))
        builds.append(
            run_pkg(["build", str(file), "--store", f"sqlite:///{store}", "--jobs", "1", "--json"], file.parent)
        )
    report = read_line(builds[-1])
    stats = read_line(run_pkg(["stats", "--store", f"sqlite:///{store}", "--json"], file.parent))
    if report["written"] != rows:
        sys.exit(f"{report['written']} rows stored, expected {rows}; first left out: {report['skipped'][:1]}")
    return _describe(rows, builds, parses, stats, report)


def _describe(rows: int, builds: list[Run], parses: list[Run], stats: Figures, report: Figures) -> Figures:
    nodes = sum(stats["nodes"].values())
    return {
        "nodes": nodes,
        "functions": stats["nodes"]["Function"],
        "partial": report["partial"],
        "cpu_seconds": summarise([run.cpu for run in builds], CPU * rows / ROWS),
        "ratio_to_parse_only": summarise([a.cpu / b.cpu for a, b in zip(builds, parses, strict=True)]),
        "stage_cpu_seconds": report["stages"],
        "rows_a_cpu_second": summarise([rows / run.cpu for run in builds]),
        "wall_seconds": summarise([run.wall for run in builds]),
        "memory_mb": summarise([run.memory for run in builds], MEMORY),
        "bytes_a_node": compare(sum(stats["bytes"].values()) / nodes, NODE_BYTES),
    }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often each size is measured; default: 3")
    options = read_options(parser)
    paths = find_files(options.data, CORPORA)
    figures: Figures = {}
    with open_folder(options.cache) as (_, work):
        for rows in SIZES:
            file = work / f"rows-{rows}.jsonl"
            write_rows(paths, file, rows)
            figures[str(rows)] = measure_size(rows, file, options.rounds)
            for used in work.glob(f"{file.stem}*"):
                used.unlink()
    write_result("corpus", {"rounds": options.rounds, "rows": figures})


if __name__ == "__main__":
    main()
