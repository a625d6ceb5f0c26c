"""Measure the reranker on answers of a model: how much of the gap between the mean and the best candidate it captures.

    python benchmarks/rerank.py --data FOLDER [--candidates benchmarks/data/candidates.jsonl.gz]

The file is the output of generate_candidates.py. HumanEval is asked with its prompt, MBPP in two variants: its text
with the first assert, and its text alone, both with the same candidates; the hidden tests, which no stage sees, decide
what is right. Tasks that were also asked with helper code in the prompt are ranked a second time, with all their
candidates. Compared with the default are the mean candidate, the greedy one, the paper's stages (P-23 to P-25), the
default without one stage, and the oracle (P-27). The first half of each benchmark, by number, is for developing the
stages; the second half is only measured.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from hidden_tests import FORMS, judge_all, mean, read_forms, share_of_gap
from measure import Figures, make_parser, read_options, write_result
from shared_data import read_rows

from pkg.lab.evaluation.code.benchmarks import Item
from pkg.rerank.candidates import STAGES, Name, Ranking, RerankOptions, Task, paper_options
from pkg.rerank.reranker import Reranker, make_candidates
from pkg.sandbox.protocol import Sandbox
from pkg.sandbox.worker_pool import open_sandbox

SHARES = {"humaneval": 0.70, "mbpp_one_assert": 0.60, "mbpp_text_alone": 0.30}  # of the gap, at least
PAPER_SHARES = {"humaneval": 0.29, "mbpp": 0.81}  # of the gap to the best single method, in the paper's tables
RATE, P95 = 60.0, 500.0  # least candidates per second, most milliseconds for one task

LAST = {"humaneval": 81, "mbpp_one_assert": 260, "mbpp_text_alone": 260}  # last task of the first half
SAMPLES = 2000  # of the bootstrap; its bounds then vary by .01
CANDIDATES = Path(__file__).parent / "data" / "candidates.jsonl.gz"

Ranked = list[tuple[Item, Ranking]]
Candidates = dict[str, list[dict[str, Any]]]  # by task
Judged = dict[str, dict[Name, bool]]  # by task and candidate


def read_candidates(path: Path, kind: str) -> Candidates:
    """Read the candidates of each task for one kind of prompt, plain or helped.

    A line written by a run of pkg rerank with hidden tests is rejected.
    """
    found: Candidates = {}
    for number, row in enumerate(read_rows(path), 1):
        if row.get("mode") == "ORACLE":
            sys.exit(f"{path}, line {number} has seen hidden tests; a score of it would mean nothing")
        if row.get("prompt") == kind:
            found.setdefault(row["id"], []).extend(row["candidates"])
    return found


def rank_problems(
    sandbox: Sandbox, problems: list[Item], candidates: Candidates, options: RerankOptions
) -> tuple[Ranked, Figures]:
    """Rank the candidates of every problem in turn; return the rankings and their cost."""
    reranker = Reranker(options, sandbox)
    ranked: Ranked = []
    took = []
    for problem in problems:
        start = time.perf_counter()
        ranking = reranker.rank(Task(problem.query, make_candidates(candidates[problem.id])))
        took.append((time.perf_counter() - start) * 1000)
        if ranking.oracle:
            sys.exit("a ranking has seen hidden tests; a score of it would mean nothing")
        ranked.append((problem, ranking))
    count = sum(len(ranking.candidates) for _, ranking in ranked)
    rate = {"value": round(1000 * count / sum(took), 1), "target": RATE}
    latency = {"value": round(sorted(took)[int(len(took) * 0.95)], 1), "target": P95}
    return ranked, {"candidates_a_second_one_task_at_a_time": rate, "p95_ms": latency}


def judge_rankings(sandbox: Sandbox, ranked: Ranked) -> Judged:
    """Return for each problem which of its candidates pass the hidden tests; equal code is judged once."""
    pairs = [(each.code, problem) for problem, ranking in ranked for each in ranking.candidates if each.same_as is None]
    verdicts = iter(judge_all(sandbox, pairs))
    judged: Judged = {}
    for problem, ranking in ranked:
        first = {each.id: next(verdicts) for each in ranking.candidates if each.same_as is None}
        judged[problem.id] = {
            each.id: first[each.id if each.same_as is None else each.same_as] for each in ranking.candidates
        }
    return judged


def score_variants(chosen: dict[str, dict[str, bool]], judged: Judged, form: str) -> Figures:
    """Return the figures of some tasks: the right choices of each variant, and their share of the gap."""
    base = mean(mean(judged[task].values()) for task in chosen)
    best = mean(any(judged[task].values()) for task in chosen)
    scores = {name: mean(row[name] for row in chosen.values()) for name in next(iter(chosen.values()))}
    shares = {name: share_of_gap(value, base, best) for name, value in scores.items()}
    return {
        "tasks": len(chosen),
        "mean_candidate": round(base, 4),
        "oracle": round(best, 4),
        "pass_at_1": {name: round(value, 4) for name, value in scores.items()},
        "share_of_gap": {name: None if share is None else round(share, 4) for name, share in shares.items()},
        "share_of_default": {"value": round(shares["default"] or 0.0, 4), "target": SHARES[form]},
        "share_of_default_95": bound_share(chosen, judged),
        "above_greedy": {"value": round(scores["default"] - scores["greedy"], 4), "target": 0.0},
    }


def bound_share(chosen: dict[str, dict[str, bool]], judged: Judged) -> list[float]:
    """Return the bounds of the default's share within which 95 % of resampled tasks lie (bootstrap)."""
    random = Random(0)
    rows = [(row["default"], mean(judged[task].values()), any(judged[task].values())) for task, row in chosen.items()]
    shares = []
    for _ in range(SAMPLES):
        right, base, best = map(mean, zip(*random.choices(rows, k=len(rows)), strict=True))
        share = share_of_gap(right, base, best)
        shares += [share] if share is not None else []
    shares.sort()
    return [round(shares[int(len(shares) * part)], 4) for part in (0.025, 0.975)] if shares else []


def make_variants() -> dict[str, RerankOptions]:
    """Return the ranking variants: the default, without each stage, and the paper's."""
    default = RerankOptions()
    lacking = {name: tuple(stage for stage in STAGES if stage != name) for name in STAGES[1:]}
    ablations = {f"without_{name}": replace(default, stages=stages) for name, stages in lacking.items()}
    return {"default": default, "paper": paper_options(), **ablations}


def measure_form(sandbox: Sandbox, problems: list[Item], candidates: Any, form: str) -> Figures:
    """Measure one variant of the tasks with all stages, the paper's, and each stage left out; on all and on halves."""
    runs = {name: rank_problems(sandbox, problems, candidates, options) for name, options in make_variants().items()}
    ranked, cost = runs["default"]
    judged = judge_rankings(sandbox, ranked)
    chosen = {problem.id: {"greedy": next(iter(judged[problem.id].values()))} for problem in problems}
    for name, (rankings, _) in runs.items():
        for problem, ranking in rankings:
            chosen[problem.id][name] = judged[problem.id][ranking.chosen]
    halves = {
        half: {task: row for task, row in chosen.items() if (int(task.partition("/")[2]) <= LAST[form]) is is_first}
        for half, is_first in (("first_half", True), ("second_half", False))
    }
    return {
        "candidates_a_task": round(mean(len(judged[task]) for task in chosen), 2),
        "with_examples": sum(bool(ranking.examples) for _, ranking in ranked),
        **score_variants(chosen, judged, form),
        **{half: score_variants(rows, judged, form) for half, rows in halves.items() if rows},
        **cost,
    }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--candidates", type=Path, default=CANDIDATES, help="packed file of generate_candidates.py")
    options = read_options(parser)
    plain, helped = (read_candidates(options.candidates, kind) for kind in ("plain", "helped"))
    both = {task: plain[task] + candidates for task, candidates in helped.items()}
    figures: Figures = {"paper_shares": PAPER_SHARES}
    with open_sandbox() as sandbox:
        for name, candidates in (("", plain), ("_with_helped", both)):
            for form in FORMS:
                problems = [each for each in read_forms(options.data, form) if each.id in candidates]
                if problems:
                    figures[form + name] = measure_form(sandbox, problems, candidates, form)
    write_result("rerank", figures)


if __name__ == "__main__":
    main()
