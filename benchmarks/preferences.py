"""Answer instructions by small models, rate the answers by another, and compare models by the ratings.

    python benchmarks/preferences.py --model gguf:A --model hf:B+ADAPTER --model gguf:C --judge gguf:C
        --data FOLDER --out FOLDER [--threads 1]

The instructions are tasks of MBPP. Everything is kept in the folder --out, where the same command continues a stopped
run. Needs the extras gguf, hf and train. The models of the result file are SmolLM2-135M-Instruct, the same as
benchmarks/tuning.py has tuned it, and Qwen2.5-Coder-0.5B-Instruct, which is the judge too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections import Counter
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

from pkg.lab.datasets.dataset_rows import StepCounts
from pkg.lab.datasets.preference_pairs import choose_bench, list_held_out, make_pairs, read_records
from pkg.lab.evaluation.model_labels import shorten_model
from pkg.lab.judge.judgements import list_rated, read_judgements

FIRST, INSTRUCTIONS, CHECKED = 11, 16, 1  # the first task, and numbers of tasks
WISH = " Answer with one short function and nothing else."
ANSWER_TOKENS, JUDGEMENT_TOKENS = "128", "200"


def read_tasks(data: Path) -> list[dict[str, Any]]:
    """Return instructions with their references."""
    with gzip.open(data / "mbpp" / "mbpp.jsonl.gz", "rt", encoding="utf-8") as file:
        tasks = {row["task_id"]: row for row in map(json.loads, file)}
    chosen = [tasks[number] for number in range(FIRST, FIRST + INSTRUCTIONS + CHECKED)]
    return [{"id": str(row["task_id"]), "instruction": row["text"] + WISH, "reference": row["code"]} for row in chosen]


class PreferenceRuns:
    """The commands of one folder, and their figures."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Write the instructions into the folder."""
        self.models, self.judge, self.threads = options.model, options.judge, options.threads
        self.folder = options.out.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.tasks = read_tasks(options.data)

    def run(self, *words: str) -> Run:
        """Run a command of PKG in the folder, where it keeps the texts of models."""
        settings = {"PKG_MODEL_THREADS": str(self.threads), "XDG_CACHE_HOME": str(self.folder)}
        return run_pkg(words, self.folder, settings)

    def answer(self) -> Figures:
        """Return what each model answers."""
        tasks = write_lines(self.folder / "tasks.jsonl", self.tasks[:INSTRUCTIONS])
        words = [word for model in self.models for word in ("--model", model)]
        run = self.run("data", "responses", tasks, *words, "--max-tokens", ANSWER_TOKENS, "-o", "responses.jsonl")
        rows = read_lines((self.folder / "responses.jsonl").read_text(encoding="utf-8"))
        answers = [each for row in rows for each in row["responses"]]
        figures: Figures = {"cpu_seconds": round(run.cpu, 1)}
        for model in self.models:
            own = [each for each in answers if each["model"] == model]
            cut = sum(each["is_cut"] for each in own)
            length = round(mean(len(each["response"]) for each in own), 1)
            figures[shorten_model(model)] = {"answers": len(own), "cut": cut, "characters": length}
        return figures

    def annotate(self) -> Figures:
        """Return the ratings of the answers, and how they depend on the place at which an answer is shown."""
        words = ("--model", self.judge, "--max-tokens", JUDGEMENT_TOKENS, "--out", "judged.jsonl")
        run = self.run("judge", "annotate", "responses.jsonl", *words, "--records", "records.jsonl")
        self.run("judge", "report", "judged.jsonl", "--figures", "figures")
        judgements = list(read_judgements(self.folder / "judged.jsonl"))
        rated = list(list_rated(judgements))
        ratings = {
            shorten_model(model): [rating for _, system, rating, _ in rated if system == model and rating is not None]
            for model in self.models
        }
        differing = [each for each in judgements if None not in each.ratings and len(set(each.ratings)) > 1]
        best = Counter(
            place
            for each in differing
            for place, rating in enumerate(each.ratings, 1)
            if rating == max(rating for rating in each.ratings if rating is not None)
        )
        return {
            "cpu_seconds": round(run.cpu, 1),
            "records": len(judgements),
            "unread": sum(rating is None for _, _, rating, _ in rated),
            "ratings": dict(sorted(Counter(rating for _, _, rating, _ in rated if rating is not None).items())),
            "means": {model: round(mean(own), 2) for model, own in ratings.items() if own},
            "differing": len(differing),
            "best_by_place": dict(sorted(best.items())),
        }

    def check(self) -> Figures:
        """Return the checks of the judge on tasks of their own: their references are the right answers."""
        rows = [
            {
                "id": row["id"],
                "instruction": row["instruction"],
                "reference": row["reference"],
                "preference": "instruction-following",
                "answers": {"right": row["reference"], "other": self.tasks[number]["reference"]},
            }
            for number, row in enumerate(self.tasks[INSTRUCTIONS:])
        ]
        path = write_lines(self.folder / "check.jsonl", rows)
        figures: Figures = {}
        for kind in ("annotate", "pairwise"):
            words = ("--model", self.judge, "--max-tokens", JUDGEMENT_TOKENS, "--check", "--out", f"check-{kind}.jsonl")
            run = self.run("judge", kind, path, *words)
            (found,) = [row for row in read_lines(run.output) if row["type"] == "check"]
            names = ("judgements", "without_value", "flip_rate", "first_share", "self_agreement", "cases")
            figures[kind] = {"cpu_seconds": round(run.cpu, 1), **{name: found[name] for name in names}}
        return figures

    def pair(self) -> Figures:
        """Return the number of pairs, and of records without one by reason."""
        lines = (self.folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
        records, counts = read_records(lines).items, StepCounts("pairs")
        bench = choose_bench(records, 1)
        pairs = list(make_pairs(records, list_held_out(bench), 0, counts))
        self.run("data", "pairs", "records.jsonl", "--hold-out", "1", "--bench", "bench.jsonl", "-o", "pairs.jsonl")
        return {
            "records": counts.taken,
            "pairs": counts.written,
            "bench": len(bench),
            "without": dict(counts.dropped.most_common()),
            "chosen": dict(Counter(shorten_model(each["models"]["chosen"]) for each in pairs).most_common()),
        }

    def grade(self) -> Figures:
        """Return the grades of the first two models on the bench, with references of the judge."""
        self.run("data", "references", "bench.jsonl", "--model", self.judge, "--max-tokens", ANSWER_TOKENS,
                 "-o", "references.jsonl")  # fmt: skip
        words = [word for model in self.models[:2] for word in ("--model", model)]
        words += ["--judge", self.judge, "--references", "references.jsonl", "--max-tokens", ANSWER_TOKENS]
        estimate = read_lines(self.run("eval", "preferences", "bench.jsonl", *words, "--estimate").output)
        run = self.run("eval", "preferences", "bench.jsonl", *words, "--out", "graded", "--html", "graded.html")
        lines = read_lines(run.output)
        names = ("average", "grades", "unread", "cut", "empty", "wins")
        return {
            "cpu_seconds": round(run.cpu, 1),
            "estimated_tokens": sum(each["prompt_tokens"] + each["completion_tokens"] for each in estimate),
            "models": {
                each["system"]: {name: each[name] for name in names if name in each}
                for each in lines
                if each["type"] == "preferences"
            },
        }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--model", action="append", required=True, help="model that answers; repeatable")
    parser.add_argument("--judge", required=True, help="judge of the answers")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--threads", type=int, default=1, help="threads of the models")
    options = read_options(parser)
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    runs = PreferenceRuns(options)
    stages = {
        "responses": runs.answer,
        "annotations": runs.annotate,
        "pairs": runs.pair,
        "grades": runs.grade,
        "check": runs.check,
    }
    figures: Figures = {"judge": Path(options.judge).name, "threads": options.threads}
    kept = {name: keep_figures(runs.folder / f"{name}.json", stage) for name, stage in stages.items()}
    write_result("preferences", figures | kept)


if __name__ == "__main__":
    main()
