"""Sample answers to HumanEval and MBPP from a model at an OpenAI-compatible address, for rerank.py.

    python benchmarks/generate_candidates.py OUT.jsonl --data FOLDER [--address http://127.0.0.1:8080/v1]
        [--model NAME] [--samples 4] [--store sqlite:///corpora.db] [--only humaneval] [--tasks N]
    python benchmarks/generate_candidates.py OUT.jsonl --data FOLDER --pack benchmarks/data/candidates.jsonl.gz

You provide the server. It must continue a last message of the assistant and support `n`, as llama.cpp's does; with
xllamacpp in an environment of its own, these lines start one

    import threading, xllamacpp
    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.port = "MODEL.gguf", 8080
    parameters.n_parallel, parameters.n_ctx = 16, 16 * 1024
    server = xllamacpp.Server(parameters)
    threading.Event().wait()

The answer of a HumanEval task continues its prompt (P-22); that of an MBPP task is a complete function, and its prompt
shows the first assert, which names the function. One answer is greedy, the others have temperature 0.8. With a store,
the prompt also shows the code that the graph has for the task (P-20), and the answers are called helped; the same file
takes both. Lines are written as they are done; repeating the command resumes an interrupted run. The tasks come in a
fixed shuffled order, so that the first N of them are a fair sample.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hidden_tests import read_forms
from measure import make_parser, read_options

from pkg.api import Graph, open_graph
from pkg.lab.evaluation.code.benchmarks import Item

TEMPERATURE = 0.8  # answers vary, and most of them still run
TOKENS = 320  # per answer; enough for nearly all that stop by themselves
TOGETHER = 4  # concurrent tasks; a CPU writes 16 answers faster in a batch than one by one
SECONDS = 600.0  # per answer; a small model on a busy core writes few tokens per second
FENCE = "```python\n"
ENDS = ["\n```", "\nif __name__", "\nprint(", "\nassert ", "\n# Test", "\n# Example", "\n# Check", "\n# Run"]
"""Stop strings; the text after them is not part of the answer."""

NEXT = ["\ndef ", "\nclass ", "\n#"]  # also stops an answer whose function begins in the prompt


@dataclass(frozen=True, slots=True)
class Prompt:
    """The request to a model, the beginning of its answer, and its stop strings."""

    asked: str
    begun: str  # the beginning of the code, given by the query
    ends: list[str]


@dataclass(frozen=True, slots=True)
class Model:
    """A model at an address."""

    address: str
    name: str

    def answer(self, prompt: Prompt, temperature: float, count: int) -> list[str]:
        """Return several answers of the model to one prompt: the whole code of each."""
        start = FENCE + prompt.begun
        body = {
            "model": self.name,
            "messages": [{"role": "user", "content": prompt.asked}, {"role": "assistant", "content": start}],
            "max_tokens": TOKENS,
            "temperature": temperature,
            "seed": 1,
            "n": count,
            "stop": prompt.ends,
        }
        request = urllib.request.Request(
            f"{self.address.rstrip('/')}/chat/completions",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as response:
            found: dict[str, Any] = json.load(response)
        told = [str(choice["message"]["content"]) for choice in found["choices"]]
        return [prompt.begun + text.removeprefix(start) for text in told]  # some servers repeat it


def make_prompt(problem: Item, graph: Graph | None) -> Prompt:
    """Build the prompt of a problem, with helper code if there is a graph."""
    helper = "" if graph is None else graph.prompt(graph.query(problem.query, top_k=1)) + "\n\n"
    if problem.id.startswith("HumanEval"):
        return Prompt(helper + "Complete this Python function.", problem.query.rstrip() + "\n", ENDS + NEXT)
    text, _, check = problem.query.partition("\n")
    return Prompt(f"{helper}{text}\nYour code should pass this test:\n{check}", "", ENDS)


def sample_answers(model: Model, prompt: Prompt, kind: str, samples: int) -> list[dict[str, Any]]:
    """Sample the answers to one prompt, the greedy one first."""
    texts = model.answer(prompt, 0.0, 1) + model.answer(prompt, TEMPERATURE, samples)
    return [
        {"id": f"{kind}-{number}", "text": text, "temperature": TEMPERATURE if number else 0.0}
        for number, text in enumerate(texts)
    ]


def read_known(out: Path, kind: str) -> set[str]:
    """Read the tasks that are done with a kind of prompt; remove a truncated last line."""
    content = out.read_bytes() if out.exists() else b""
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        out.write_bytes(whole)
    rows = map(json.loads, whole.splitlines())
    return {row["id"] for row in rows if row["prompt"] == kind}


def generate(options: argparse.Namespace, problems: list[Item], graph: Graph | None) -> Iterator[dict[str, Any]]:
    """Yield one line for each task that is not done yet."""
    kind = "plain" if graph is None else "helped"
    known = read_known(options.out, kind)
    model = Model(options.address, options.model)
    missing = [problem for problem in problems if problem.id not in known]
    # Not in the threads below: a graph must be used in the thread that opened it.
    prompts = [make_prompt(problem, graph) for problem in missing]
    with ThreadPoolExecutor(TOGETHER) as threads:
        found = threads.map(lambda prompt: sample_answers(model, prompt, kind, options.samples), prompts)
        for number, (problem, answers) in enumerate(zip(missing, found, strict=True), len(problems) - len(missing) + 1):
            yield {"id": problem.id, "model": model.name, "prompt": kind, "candidates": answers}
            print(f"\r{number} of {len(problems)}", end="", file=sys.stderr)


def mix_problems(problems: list[Item]) -> list[Item]:
    """Return the problems in a fixed shuffled order."""
    return sorted(problems, key=lambda problem: hashlib.sha256(problem.id.encode()).digest())


def pack_lines(out: Path, packed: Path) -> None:
    """Write all lines in the order of the tasks into a reproducible compressed file."""
    rows = sorted(map(json.loads, out.read_text(encoding="utf-8").splitlines()), key=_place_row)
    samples = max(len(row["candidates"]) for row in rows) - 1
    tasks = Counter(f"--only {_name_form(row)}{' --store GRAPH' * (row['prompt'] == 'helped')}" for row in rows)
    command = f"python benchmarks/generate_candidates.py OUT.jsonl --data FOLDER --samples {samples}"
    made = {
        "made_by": [f"{command} {chosen} --tasks {count}" for chosen, count in tasks.items()],
        "models": sorted({row["model"] for row in rows}),
        "max_tokens": TOKENS,
        "temperature": TEMPERATURE,
    }
    lines = "".join(json.dumps(row) + "\n" for row in (made, *rows))
    packed.parent.mkdir(exist_ok=True)
    packed.write_bytes(gzip.compress(lines.encode(), mtime=0))


def _name_form(row: dict[str, Any]) -> str:
    return "humaneval" if row["id"].startswith("HumanEval") else "mbpp_one_assert"


def _place_row(row: dict[str, Any]) -> tuple[str, int, bool]:
    form, _, number = row["id"].partition("/")
    return form, int(number), row["prompt"] == "helped"


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("out", type=Path, help="file to write, one line a task")
    parser.add_argument("--address", default="http://127.0.0.1:8080/v1", help="address of the server")
    parser.add_argument("--model", default="qwen2.5-coder-0.5b-instruct-q4_k_m", help="name of the model")
    parser.add_argument("--samples", type=int, default=4, help="answers a task beside the greedy one; default: 4")
    parser.add_argument("--store", help="store of a graph that gives helper code; default: none")
    parser.add_argument("--only", choices=["humaneval", "mbpp_one_assert"], help="one of the two benchmarks")
    parser.add_argument("--tasks", type=int, help="tasks of each; default: all")
    parser.add_argument("--pack", type=Path, help="only compress what OUT holds into this file")
    options = read_options(parser)
    if options.pack:
        pack_lines(options.out, options.pack)
        return
    forms = [options.only] if options.only else ["humaneval", "mbpp_one_assert"]
    problems = [each for form in forms for each in mix_problems(read_forms(options.data, form))[: options.tasks]]
    graph = open_graph(options.store) if options.store else None
    try:
        with options.out.open("a", encoding="utf-8") as file:
            for line in generate(options, problems, graph):
                file.write(json.dumps(line) + "\n")
                file.flush()
    except (urllib.error.URLError, TimeoutError) as fault:
        sys.exit(f"no answer from {options.address}: {fault}; start a server there, then run the same command again")


if __name__ == "__main__":
    main()
