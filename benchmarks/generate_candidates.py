"""Sample answers to HumanEval and MBPP from a model behind an OpenAI-compatible address, for rerank.py.

    python benchmarks/generate_candidates.py OUT.jsonl --data FOLDER [--address http://127.0.0.1:8080/v1]
        [--model NAME] [--samples 4] [--store sqlite:///corpora.db] [--only humaneval] [--tasks N]

Any server will do: that of llama.cpp, xllamacpp, vLLM, Ollama; the model is yours to bring, and its name goes into each
line. The first answer of a task is greedy, the others have temperature 0.8 and seeds of their own. With a store, every
second answer sees the code that the graph holds for the task (P-20). An MBPP prompt shows the first assert, which names
the function. Lines are written as they are done; the same command again goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hidden_tests import Problem, read_forms
from measure import make_parser, read_options

from pkg.api import Graph, open_graph

TEMPERATURE = 0.8  # answers vary, and most of them still run
TOKENS = 512  # P-22
SECONDS = 600.0  # of one answer; a small model on two cores writes 20 tokens a second
ASK = "Write the whole function in one Python code block, without explanations.\n\n"


@dataclass(frozen=True, slots=True)
class Model:
    """A model behind an address."""

    address: str
    name: str

    def answer(self, prompt: str, temperature: float, seed: int) -> str:
        """Give the model's answer to one prompt."""
        messages = [{"role": "user", "content": prompt}]
        body = {
            "model": self.name,
            "messages": messages,
            "max_tokens": TOKENS,
            "temperature": temperature,
            "seed": seed,
        }
        request = urllib.request.Request(
            f"{self.address.rstrip('/')}/chat/completions",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as response:
            found: dict[str, Any] = json.load(response)
        return str(found["choices"][0]["message"]["content"])


def make_prompt(problem: Problem, graph: Graph | None) -> str:
    """Write the prompt of a problem, with helper code when there is a graph to take it from."""
    if graph is None:
        return ASK + problem.query
    return graph.prompt(graph.query(problem.query, top_k=1)) + "\n" + ASK


def sample_answers(model: Model, problem: Problem, samples: int, graph: Graph | None) -> list[dict[str, Any]]:
    """Sample the answers to one problem, the greedy one first; every second of the others sees helper code."""
    plain = make_prompt(problem, None)
    helped = make_prompt(problem, graph) if graph is not None else plain
    asked = [(helped if number % 2 else plain, TEMPERATURE if number else 0.0, number) for number in range(samples)]
    with ThreadPoolExecutor(samples) as threads:
        texts = list(threads.map(lambda words: model.answer(*words), asked))
    return [
        {"id": f"{'helped' if prompt is not plain else 'plain'}-{number}", "text": text, "temperature": temperature}
        for (prompt, temperature, number), text in zip(asked, texts, strict=True)
    ]


def read_known(out: Path) -> set[str]:
    """Read which tasks are done; a last line that was cut off is taken away."""
    content = out.read_bytes() if out.exists() else b""
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        out.write_bytes(whole)
    return {json.loads(line)["id"] for line in whole.splitlines()}


def generate(options: argparse.Namespace, problems: list[Problem], graph: Graph | None) -> Iterator[dict[str, Any]]:
    """Yield one line a task that is not done yet."""
    model, known = Model(options.address, options.model), read_known(options.out)
    for number, problem in enumerate(problems, 1):
        if problem.id in known:
            continue
        answers = sample_answers(model, problem, options.samples, graph)
        yield {"id": problem.id, "model": model.name, "candidates": answers}
        print(f"\r{number} of {len(problems)}", end="", file=sys.stderr)


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("out", type=Path, help="file to write, one line a task")
    parser.add_argument("--address", default="http://127.0.0.1:8080/v1", help="address of the server")
    parser.add_argument("--model", default="qwen2.5-coder-0.5b-instruct-q4_k_m", help="name of the model")
    parser.add_argument("--samples", type=int, default=4, help="answers a task; default: 4")
    parser.add_argument("--store", help="store of a graph that gives helper code; default: none")
    parser.add_argument("--only", choices=["humaneval", "mbpp_one_assert"], help="one of the two benchmarks")
    parser.add_argument("--tasks", type=int, help="tasks of each; default: all")
    options = read_options(parser)
    forms = [options.only] if options.only else ["humaneval", "mbpp_one_assert"]
    problems = [problem for form in forms for problem in read_forms(options.data, form)[: options.tasks]]
    graph = open_graph(options.store) if options.store else None
    try:
        with options.out.open("a", encoding="utf-8") as file:
            for line in generate(options, problems, graph):
                file.write(json.dumps(line) + "\n")
                file.flush()
    except urllib.error.URLError as fault:
        sys.exit(f"no answer from {options.address}: {fault}; start a server there, then run the same command again")


if __name__ == "__main__":
    main()
