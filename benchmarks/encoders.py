"""Measure what encoders cost: functions per CPU second, peak memory, start-up, and the number of texts too long.

    python benchmarks/encoders.py [--cache FOLDER] [--functions 1000] [--rounds 3] NAME...

NAME is a value of `pkg build --encoder`, such as static, minilm or st:FOLDER; each is measured in its own process on
the same functions of networkx, sampled with a fixed seed, without cached vectors. Encoders alternate, so that other
load on the machine affects all of them alike; the median of the rounds counts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Figures, make_parser, open_folder, run_process, write_result
from packages import NETWORKX, unpack_package

SEED = 0


def sample_functions(tree: Path, count: int) -> list[bytes]:
    """Sample distinct functions of a tree."""
    from pkg.extract.python import extract_unit
    from pkg.model import Function

    texts: set[bytes] = set()
    for path in sorted(tree.rglob("*.py")):
        unit = extract_unit(path.read_bytes())
        pieces = (each.span for each in unit.definitions if isinstance(each, Function))
        texts.update(unit.text[span.start : span.end] for span in pieces)
    return random.Random(SEED).sample(sorted(texts), count)


def measure_encoder(name: str, tree: Path, count: int) -> Figures:
    """Encode the functions in this process."""
    from pkg.encode.batched import BatchedEncoder
    from pkg.encode.registry import load_encoder

    texts = sample_functions(tree, count)
    start = time.process_time()
    encoder = load_encoder(name)
    encoder.encode([b"def start(): pass"])
    ready = time.process_time()
    encoder.encode(texts)
    spent = time.process_time() - ready
    figures: Figures = {
        "dimension": encoder.dimension,
        "functions": count,
        "bytes": sum(map(len, texts)),
        "start_cpu_seconds": round(ready - start, 3),
        "functions_per_cpu_second": round(count / spent, 1),
    }
    if isinstance(encoder, BatchedEncoder):
        figures |= {"window": encoder.model.window, "too_long": encoder.counts.cut}
    return figures


def run_encoder(name: str, tree: Path, count: int, work: Path) -> Figures:
    """Measure one encoder in a new process with its own cache."""
    with TemporaryDirectory(dir=work) as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        command = [
            sys.executable,
            str(Path(__file__).resolve()),
            "--measure",
            str(tree),
            "--functions",
            str(count),
            name,
        ]
        run = run_process(command, work)
    figures: Figures = json.loads(run.output.strip().splitlines()[-1])
    return figures | {"memory_mb": round(run.memory, 1), "others": round(run.others, 2)}


def take_middle(rounds: list[Figures]) -> Figures:
    """Return the median of each figure over the rounds."""
    return {key: statistics.median(each[key] for each in rounds) for key in rounds[0]}


def shorten_name(name: str) -> str:
    """Return the name of a model without its folder, which is specific to one machine."""
    return re.sub(r":.*/", ":", name)


def read_arguments() -> argparse.Namespace:
    """Parse the names and options."""
    parser = make_parser(__doc__)
    parser.add_argument("--functions", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3, help="an odd number")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="+", metavar="NAME")
    return parser.parse_args()


def main() -> None:
    """Measure every named encoder."""
    options = read_arguments()
    if options.measure:
        print(json.dumps(measure_encoder(options.names[0], options.measure, options.functions)))
        return
    with open_folder(options.cache) as (cache, work):
        tree = unpack_package(NETWORKX, cache, work)
        rounds = [
            [run_encoder(name, tree, options.functions, work) for name in options.names] for _ in range(options.rounds)
        ]
    figures = {
        shorten_name(name): take_middle(list(each))
        for name, each in zip(options.names, zip(*rounds, strict=True), strict=True)
    }
    package = f"{NETWORKX.name} {NETWORKX.version}"
    write_result("encoders", {"package": package, "seed": SEED, "rounds": options.rounds, "encoders": figures})


if __name__ == "__main__":
    main()
