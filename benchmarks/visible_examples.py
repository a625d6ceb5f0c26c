"""Count the queries of HumanEval and MBPP whose examples are parsed, and how many of these are true.

    python benchmarks/visible_examples.py --data FOLDER

An example is true if the canonical answer satisfies it; a wrong one would favour wrong candidates. MBPP is asked with
its first assert, which a query may show.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hidden_tests import read_forms
from measure import Figures, make_parser, read_options, write_result

from pkg.lab.evaluation.code.benchmarks import Item
from pkg.rerank.candidates import Example
from pkg.rerank.example_rating import passes
from pkg.rerank.examples.example_search import find_examples
from pkg.rerank.parsed_question import parse_question
from pkg.rerank.stages.sandbox_stages import make_request
from pkg.rerank.value_requests import RequestBatch, run_requests
from pkg.sandbox.protocol import Limits, Sandbox
from pkg.sandbox.worker_pool import open_sandbox

LIMITS = Limits(cpu_seconds=10.0, wall_seconds=30.0, memory_bytes=1 << 30)
TRUE = 0.99  # least share of true examples


def measure_form(sandbox: Sandbox, problems: list[Item]) -> Figures:
    """Parse the examples of every query and run them on the canonical answer."""
    found = [find_examples(parse_question(problem.query)) for problem in problems]
    requests = [tuple(map(make_request, examples)) for examples in found]
    batches = [RequestBatch(problem.reference, each) for problem, each in zip(problems, requests, strict=True)]
    results = run_requests(sandbox, batches, LIMITS)
    wrong = [
        f"{problem.id}: {example.shown}"
        for problem, examples, result in zip(problems, found, results, strict=True)
        for example, end in zip(examples, result.steps, strict=True)
        if not passes(example, end)
    ]
    most = max(sum(end.seconds for end in result.steps) for result in results)
    return describe(problems, found, wrong) | {"most_cpu_ms_for_one_query": round(most * 1000, 2)}


def describe(problems: list[Item], found: list[tuple[Example, ...]], wrong: list[str]) -> Figures:
    """Count queries and examples, and name the examples that fail."""
    count = sum(map(len, found))
    return {
        "queries": len(problems),
        "with_examples": sum(map(bool, found)),
        "without": [problem.id for problem, examples in zip(problems, found, strict=True) if not examples],
        "examples": count,
        "forms": dict(sorted(Counter(each.notation for examples in found for each in examples).items())),
        "true_share": {"value": round(1 - len(wrong) / count, 4), "target": TRUE},
        "wrong": wrong,
    }


def measure(data: Path) -> Figures:
    """Measure both benchmarks."""
    with open_sandbox() as sandbox:
        humaneval = measure_form(sandbox, read_forms(data, "humaneval"))
        mbpp = [each for each in read_forms(data, "mbpp_one_assert") if each.id not in ("MBPP/367", "MBPP/927")]
        return {"humaneval": humaneval, "mbpp_one_assert": measure_form(sandbox, mbpp)}


def main() -> None:
    write_result("visible_examples", measure(read_options(make_parser(__doc__)).data))


if __name__ == "__main__":
    main()
