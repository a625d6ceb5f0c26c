"""Measure the sandbox: CPU of a run, latency, and candidates per second on all cores.

    python benchmarks/sandbox.py --data FOLDER [--backend process]

The trivial candidate defines one function. The typical ones are the 164 solutions of HumanEval, once only loaded and
once with up to three calls of the function each; every call is a separate process that loads the code again.
"""

from __future__ import annotations

import ast
import os
import resource
import statistics
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from measure import Figures, compare, make_parser, read_options, write_result
from shared_data import QUESTIONS, find_files, read_rows

from pkg.sandbox import Kind, Program, Step, open_sandbox
from pkg.sandbox.worker_pool import WorkerPool

CPU_MS, RATE = 15.0, 60.0  # CPU milliseconds of a trivial run; candidates per second on two cores
TRIVIAL = Program("def f(x):\n    return x + 1\n")
RUNS = 300
CALLS = 3


def read_programs(data: Path) -> list[Program]:
    """Build a program from each HumanEval solution, with calls from its test."""
    (path,) = (path for path in find_files(data, QUESTIONS) if "humaneval" in path.name)
    return [_make_program(row) for row in read_rows(path)]


def _make_program(row: dict[str, Any]) -> Program:
    calls = [
        f"{row['entry_point']}({', '.join(map(ast.unparse, node.args))})"
        for node in ast.walk(ast.parse(row["test"]))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "candidate"
    ]
    literal = [Step(call, is_expression=True) for call in calls if not _names(call)]
    return Program(row["prompt"] + row["canonical_solution"], tuple(literal[:CALLS]))


def _names(call: str) -> list[str]:
    """Return the names in the arguments of a call: a call with any has a meaning only in its test."""
    (_, *others) = [node.id for node in ast.walk(ast.parse(call)) if isinstance(node, ast.Name)]
    return others


def count_cpu() -> float:
    """Return the CPU seconds of this process and all it waited for, workers and candidates included."""
    usages = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure_latency(backend: str, programs: Sequence[Program]) -> Figures:
    """Run programs in turn on one worker; CPU is the total minus the worker's start-up."""
    start, wall = count_cpu(), []
    with open_sandbox(backend, jobs=1) as sandbox:
        for program in programs:
            began = time.perf_counter()
            sandbox.run(program)
            wall.append((time.perf_counter() - began) * 1000)
    used, start = count_cpu() - start, count_cpu()
    with open_sandbox(backend, jobs=1):
        pass
    ranked = sorted(wall)
    return {
        "cpu_ms": (used - (count_cpu() - start)) * 1000 / len(programs),
        "wall_ms_p50": round(statistics.median(ranked), 3),
        "wall_ms_p95": round(ranked[int(len(ranked) * 0.95)], 3),
    }


def measure_rate(sandbox: WorkerPool, programs: Sequence[Program]) -> Figures:
    """Run programs on all workers concurrently."""
    began = time.perf_counter()
    results = list(sandbox.run_all(programs))
    rate = len(programs) / (time.perf_counter() - began)
    processes = sum(max(1, len(program.steps)) for program in programs)
    well = sum(result.load.kind is Kind.OK for result in results)
    return {
        "candidates_a_second": {"value": round(rate, 1), "target": RATE},  # at least
        "processes_a_second": round(rate * processes / len(programs), 1),
        "loaded_well": well,
        "steps_well": sum(step.kind is Kind.OK for result in results for step in result.steps),
    }


def measure(backend: str, data: Path) -> Figures:
    """Measure start-up, one run, and many."""
    typical = read_programs(data)
    loads = [Program(program.code) for program in typical]
    began = time.perf_counter()
    warm: AbstractContextManager[Any] = open_sandbox(backend)
    started = time.perf_counter() - began
    with warm as sandbox:
        list(sandbox.run_all([TRIVIAL] * 2 * (os.cpu_count() or 1)))  # starts every worker
        rates = {"loads": measure_rate(sandbox, loads * 3), "loads_with_calls": measure_rate(sandbox, typical * 3)}
    trivial = measure_latency(backend, [TRIVIAL] * RUNS)
    trivial["cpu_ms"] = compare(trivial["cpu_ms"], CPU_MS)
    return {
        "backend": backend,
        "walls": sandbox.layers,
        "first_worker_ready_ms": round(started * 1000, 1),
        "candidates": len(typical),
        "calls": sum(len(program.steps) for program in typical),
        "trivial": trivial,
        "typical_load": _round(measure_latency(backend, loads)),
        "typical_with_calls": _round(measure_latency(backend, typical)),
        "all_workers": rates,
    }


def _round(figures: Figures) -> Figures:
    return {name: round(value, 3) for name, value in figures.items()}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--backend", default="process", help="process, docker or none; default: process")
    options = read_options(parser)
    write_result("sandbox", measure(options.backend, options.data))


if __name__ == "__main__":
    main()
