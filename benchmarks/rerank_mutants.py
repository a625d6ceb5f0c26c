"""Measure the stages of the reranker on mutants of right answers: a development set, not the benchmark.

    python benchmarks/rerank_mutants.py --data FOLDER [--tasks 100] [--inputs 12,24,48]

Each task has the canonical answer of HumanEval or MBPP among mutants of it that fail hidden tests, at a position chosen
by the seed; mutants that never end are left out. Mutants are wrong in one place, so they are harder to distinguish than
what models write, and no majority is right: agreement starts from one vote each. The figures choose constants and
detect regressions; they say nothing about the answers of a model.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from hidden_tests import FORMS, judge_kinds, mean, read_forms, share_of_gap
from measure import Figures, make_parser, read_options, write_result
from mutants import choose_mutants

from pkg.lab.evaluation.code.benchmarks import Item
from pkg.rerank.candidates import STAGES, RerankOptions, Task, paper_options
from pkg.rerank.reranker import Reranker, make_candidates
from pkg.sandbox.protocol import Kind, Limits, Sandbox
from pkg.sandbox.worker_pool import open_sandbox

WRONG = 3  # mutants per task
RIGHT = 2  # answers that pass: the canonical one and a harmless mutant if there is one, since layouts are deduplicated

LIMITS = Limits(cpu_seconds=3.0, wall_seconds=10.0, memory_bytes=1 << 30)

Pool = list[tuple[Item, list[tuple[str, bool]]]]


def make_pool(sandbox: Sandbox, problems: Sequence[Item]) -> Pool:
    """Return each problem with its canonical answer, failing mutants, and a passing one if there is any."""
    pool: Pool = []
    for problem in problems:
        mutants = choose_mutants(problem.reference, 4 * WRONG, problem.id)
        first, *kinds = judge_kinds(sandbox, [(code, problem) for code in (problem.reference, *mutants)], LIMITS)
        if first is not Kind.OK:
            continue
        ended = [(code, kind) for code, kind in zip(mutants, kinds, strict=True) if kind is not Kind.TIMEOUT]
        wrong = [code for code, kind in ended if kind is not Kind.OK][:WRONG]
        equal = [code for code, kind in ended if kind is Kind.OK][: RIGHT - 1]
        answers = [(problem.reference, True), *((code, True) for code in equal), *((code, False) for code in wrong)]
        Random(problem.id).shuffle(answers)
        if wrong:
            pool.append((problem, answers))
    return pool


def measure_options(sandbox: Sandbox, pool: Pool, options: RerankOptions) -> Figures:
    """Rank every task with some options; return how often the choice is right, and its share of the gap."""
    reranker = Reranker(options, sandbox)
    start, right = time.perf_counter(), 0
    latencies = []
    for problem, answers in pool:
        begin = time.perf_counter()
        chosen = reranker.rank(Task(problem.query, make_candidates([code for code, _ in answers]))).chosen
        latencies.append(time.perf_counter() - begin)
        right += answers[int(chosen)][1]
    seconds, count = time.perf_counter() - start, sum(len(answers) for _, answers in pool)
    base = mean(mean(passed for _, passed in answers) for _, answers in pool)
    share = share_of_gap(right / len(pool), base, 1.0)
    figures: Figures = {"right": round(right / len(pool), 4), "mean_candidate": round(base, 4)}
    figures["share_of_gap"] = None if share is None else round(share, 4)
    figures["candidates_a_second"] = round(count / seconds, 1)
    figures["latency_p95_ms"] = round(sorted(latencies)[int(len(latencies) * 0.95)] * 1000, 1)
    return figures


def measure(data: Path, count: int, inputs: Sequence[int]) -> Figures:
    """Measure all stages, each stage left out, and other numbers of inputs, on every variant of the tasks."""
    figures: Figures = {}
    with open_sandbox() as sandbox:
        for kind in FORMS:
            pool = make_pool(sandbox, read_forms(data, kind)[:count])
            default = RerankOptions()
            variants = {"default": default, "paper": paper_options()}
            for name in ("examples", "behaviour", "similarity"):
                left = tuple(stage for stage in STAGES if stage != name)
                variants[f"without_{name}"] = replace(default, stages=left)
            variants |= {f"inputs_{number}": replace(default, inputs=number) for number in inputs}
            figures[kind] = {"tasks": len(pool)}
            for name, options in variants.items():
                figures[kind][name] = measure_options(sandbox, pool, options)
                print(kind, name, figures[kind][name], file=sys.stderr)
    return figures


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--tasks", type=int, default=100, help="tasks of each form; default: 100")
    parser.add_argument("--inputs", default="12,48", help="numbers of inputs to try; default: 12,48")
    options = read_options(parser)
    inputs = [int(number) for number in options.inputs.split(",") if number]
    write_result("rerank_mutants", measure(options.data, options.tasks, inputs))


if __name__ == "__main__":
    main()
