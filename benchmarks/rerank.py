"""Measure the reranker on answers of a model: how much of the gap between the mean and the best candidate it captures.

    python benchmarks/rerank.py --data FOLDER --candidates FILE

The file is what generate_candidates.py wrote. HumanEval is asked with its prompt, MBPP in two forms: its text with the
first assert, and its text alone; what is right the hidden tests say, which no stage sees. Beside our default stand the
mean candidate, the greedy one, the paper's stages (P-23 to P-25), the default without one stage, and the oracle (P-27).
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from hidden_tests import FORMS, Problem, judge_all, mean, read_forms, share_of_gap
from measure import Figures, make_parser, read_options, write_result

from pkg.rerank.nouns import Ranking, Task
from pkg.rerank.options import STAGES, RerankOptions, paper_options
from pkg.rerank.reranker import Reranker, make_candidates
from pkg.rerank.sandbox.opening import open_sandbox
from pkg.rerank.sandbox.protocol import Sandbox

SHARES = {"humaneval": 0.70, "mbpp_one_assert": 0.60, "mbpp_text_alone": 0.30}  # of the gap, at least
PAPER_SHARES = {"humaneval": 0.29, "mbpp": 0.81}  # of the gap to the best single method, in the paper's own tables
RATE, P95 = 60.0, 500.0  # candidates a second at least, milliseconds for one task at most

Ranked = list[tuple[Problem, Ranking]]


def read_candidates(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Read the candidates of each task; a line that a run of pkg rerank wrote with hidden tests is refused."""
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        row = json.loads(line)
        if row.get("mode") == "ORACLE":
            sys.exit(f"{path}, line {number} has seen hidden tests; a score of it would mean nothing")
        found[row["id"]] = row["candidates"]
    return found


def rank_problems(
    sandbox: Sandbox, problems: list[Problem], candidates: dict[str, list[dict[str, Any]]], options: RerankOptions
) -> tuple[Ranked, Figures]:
    """Rank the candidates of every problem, one after the other; give the rankings and what they cost."""
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


def judge_rankings(sandbox: Sandbox, ranked: Ranked) -> dict[str, dict[str | int, bool]]:
    """Tell for each problem which of its candidates pass the hidden tests; equal code is judged once."""
    pairs = [(each.code, problem) for problem, ranking in ranked for each in ranking.candidates if each.same_as is None]
    verdicts = iter(judge_all(sandbox, pairs))
    judged: dict[str, dict[str | int, bool]] = {}
    for problem, ranking in ranked:
        first = {each.id: next(verdicts) for each in ranking.candidates if each.same_as is None}
        judged[problem.id] = {
            each.id: first[each.id if each.same_as is None else each.same_as] for each in ranking.candidates
        }
    return judged


def score(ranked: Ranked, judged: dict[str, dict[str | int, bool]]) -> float:
    """Give the share of problems whose chosen candidate passes."""
    return mean(judged[problem.id][ranking.chosen] for problem, ranking in ranked)


def measure_form(sandbox: Sandbox, problems: list[Problem], candidates: Any, form: str) -> Figures:
    """Measure one form of the tasks with all stages, the paper's, and each stage left out."""
    default = RerankOptions()
    ranked, cost = rank_problems(sandbox, problems, candidates, default)
    judged = judge_rankings(sandbox, ranked)
    base = mean(mean(each.values()) for each in judged.values())
    best = mean(any(each.values()) for each in judged.values())
    greedy = mean(next(iter(judged[problem.id].values())) for problem in problems)
    variants = {"paper": paper_options()} | {
        f"without_{name}": replace(default, stages=tuple(stage for stage in STAGES if stage != name))
        for name in STAGES[1:]
    }
    scores = {"default": score(ranked, judged)}
    for name, options in variants.items():
        scores[name] = score(rank_problems(sandbox, problems, candidates, options)[0], judged)
    shares = {name: share_of_gap(value, base, best) for name, value in scores.items()}
    return {
        "tasks": len(problems),
        "mean_candidate": round(base, 4),
        "greedy": round(greedy, 4),
        "oracle": round(best, 4),
        "pass_at_1": {name: round(value, 4) for name, value in scores.items()},
        "share_of_gap": {name: None if share is None else round(share, 4) for name, share in shares.items()},
        "share_of_default": {"value": round(shares["default"] or 0.0, 4), "target": SHARES[form]},
        "with_examples": sum(bool(ranking.examples) for _, ranking in ranked),
        **cost,
    }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--candidates", type=Path, required=True, help="file that generate_candidates.py wrote")
    options = read_options(parser)
    candidates = read_candidates(options.candidates)
    figures: Figures = {"paper_shares": PAPER_SHARES}
    with open_sandbox() as sandbox:
        for form in FORMS:
            problems = [each for each in read_forms(options.data, form) if each.id in candidates]
            if problems:
                figures[form] = measure_form(sandbox, problems, candidates, form)
    write_result("rerank", figures)


if __name__ == "__main__":
    main()
