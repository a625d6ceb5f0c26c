"""Compare the verdicts of the scorer with plain execution, on mutants of the reference solutions.

    python benchmarks/judge_mutants.py --data FOLDER [--mutants 200] [--seed 0]

The reference of each task drawn from HumanEval and MBPP is changed in one place; the scorer judges it in the sandbox,
and a separate Python process runs the program followed by the tests. Both have the same limit of CPU seconds; a program
that exceeds it fails. The two must agree for every mutant.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from measure import Figures, make_parser, read_options, write_result
from mutants import choose_mutants

from pkg.lab.evaluation.code.benchmarks import Item, read_benchmark
from pkg.lab.evaluation.code.hidden_tests import HiddenTests, score_all
from pkg.sandbox.protocol import Limits
from pkg.sandbox.worker_pool import open_sandbox

SECONDS = 5  # of CPU time: no reference needs one
LIMITS = Limits(cpu_seconds=float(SECONDS), wall_seconds=60.0, memory_bytes=1 << 30)

Mutant = tuple[str, Item]


def draw_mutants(items: list[Item], count: int, seed: int) -> list[Mutant]:
    """Draw mutants of references, one for each task; tasks whose reference cannot be mutated are skipped."""
    order = items.copy()
    Random(seed).shuffle(order)
    found: list[Mutant] = []
    for item in order:
        if len(found) == count:
            break
        found += [(code, item) for code in choose_mutants(item.reference, 1, f"{seed} {item.id}")]
    return found


def passes_plainly(mutant: Mutant, folder: Path) -> bool:
    """Run a program followed by the tests in a separate process, and return whether it succeeds."""
    code, item = mutant
    path = folder / "program.py"
    path.write_text(f"{code}\n{item.tests}\n", encoding="utf-8")
    try:
        done = subprocess.run(
            [sys.executable, "-I", path],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMITS.wall_seconds,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)),
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def measure(data: Path, count: int, seed: int) -> Figures:
    """Judge mutants both ways, and count agreements."""
    items = [item for name in ("humaneval", "mbpp") for item in read_benchmark(name, data).items]
    mutants = draw_mutants(items, count, seed)
    with open_sandbox() as sandbox:
        scores = list(score_all(HiddenTests(sandbox, LIMITS), mutants))
    with tempfile.TemporaryDirectory() as folder:
        plain = [passes_plainly(mutant, Path(folder)) for mutant in mutants]
    differing = [
        {"item": item.id, "scorer": score.passed, "plain": passed, "error": score.error, "detail": score.detail}
        for (_, item), score, passed in zip(mutants, scores, plain, strict=True)
        if score.passed != passed
    ]
    return {
        "seed": seed,
        "mutants": len(mutants),
        "by_benchmark": dict(Counter(item.id.partition("/")[0] for _, item in mutants)),
        "pass": sum(plain),
        "fail": len(plain) - sum(plain),
        "errors": dict(Counter(score.error for score in scores if not score.passed)),
        "agree": len(mutants) - len(differing),
        "agreement": round(1 - len(differing) / len(mutants), 4) if mutants else None,
        "differing": differing,
    }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--mutants", type=int, default=200, help="programs to judge; default: 200")
    parser.add_argument("--seed", type=int, default=0, help="of the draw; default: 0")
    options = read_options(parser)
    write_result("judge_mutants", measure(options.data, options.mutants, options.seed))


if __name__ == "__main__":
    main()
