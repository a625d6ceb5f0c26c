"""Run folders as an evaluation writes them, with the given verdicts, for tests of their readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from pkg.lab.evaluation.code.benchmarks import TaskFacts
from pkg.lab.evaluation.code.run_folder import Record, RunFolder, write_costs, write_tasks
from pkg.lab.evaluation.code.topics import TOPICS

COSTS: dict[str, Any] = {
    "stages": {"corpus": {"discover": 6.0, "extract": 54.0, "encode": 30.0, "store": 12.0, "names": 18.0}},
    "parts": {"texts": 3_000_000, "vectors": 1_000_000},
    "bytes": {"graph.db": 5_000_000},
    "nodes": {"Function": 1200},
    "encoder": "static@0",
}
CHOSEN = {"reranked", "ideal"}


def write_run(
    folder: Path,
    solved: Mapping[str, Sequence[bool]],
    benchmark: str = "humaneval",
    model: str = "gguf:coder-0.5b.gguf",
    errors: Sequence[str] = ("AssertionError", "NameError"),
    is_told: bool = True,
    samples: int = 1,
) -> Path:
    """Write a run of some conditions, each with a verdict on every task; is_told: with topics and costs.

    samples: of each task; a solved task passes in the first half of them, rounded up, any other in none.
    """
    count = len(next(iter(solved.values())))
    items = [f"{'HumanEval' if benchmark.startswith('humaneval') else 'MBPP'}/{number}" for number in range(count)]
    options = {"form": "auto", "max_tokens": 512, "samples": samples, "temperature": 0.0, "seed": 0}
    head = {"benchmark": benchmark, "sha256": "0", "items": items, "shown": 0, "model": model, "identity": model}
    run = RunFolder(folder, {**head, "options": options, "graph": "corpus; static@0; 0"})
    if is_told:
        facts = [
            TaskFacts(item, TOPICS[number % len(TOPICS)], (number / 7 % 1, number / 3 % 1))
            for number, item in enumerate(items)
        ]
        write_tasks(folder, lambda: facts)
        write_costs(folder, COSTS)
    for column, passes in solved.items():
        for number, sample in product(range(count), range(samples)):
            item, passed = items[number], passes[number] and 2 * sample < samples
            run.add_record(
                Record(
                    column, item, sample, passed, "" if passed else errors[number % len(errors)],
                    "" if passed else "expected <1> | seen 'x'",
                    shown=() if column == "none" else (f"corpus/part_{number}.py:1-9 part",),
                    is_shown_right=passed, chosen="none" if column in CHOSEN else "",
                    prompt_tokens=100, completion_tokens=50, seconds=1.5, retrieval_seconds=0.25, code="pass",
                )
            )  # fmt: skip
    return folder


def alternate(count: int, every: int, offset: int = 0) -> list[bool]:
    """Return verdicts by which every n-th task is solved, starting at the offset."""
    return [(number - offset) % every == 0 for number in range(count)]
