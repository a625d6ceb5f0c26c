"""Measure whether the choice among answers is the same in every format in which models write them.

    python benchmarks/answer_forms.py --data FOLDER [--tasks 164] [--candidates benchmarks/data/candidates.jsonl.gz]

The recorded answers to HumanEval are bare code. Each is rewritten as models write answers: in a fence with an example
of its use, followed by lines that fail without input, with a wrong test of its own, after reasoning that contains
another answer, after a draft that it corrects, after and before a skeleton. The hidden tests decide which answers are
right.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hidden_tests import judge_all, read_forms
from measure import Figures, make_parser, read_options, write_result
from shared_data import read_rows

from pkg.lab.evaluation.code.benchmarks import Item
from pkg.rerank.parsed_question import parse_question
from pkg.rerank.reranker import Reranker
from pkg.sandbox.protocol import Sandbox
from pkg.sandbox.worker_pool import open_sandbox

CANDIDATES = Path(__file__).parent / "data" / "candidates.jsonl.gz"
Answers = dict[str, list[str]]  # the texts for each task, the greedy one first

FENCE = "```python\n{}\n```"


def write_forms(text: str, other: str, stub: str, name: str) -> dict[str, str]:
    """Return an answer in each format; other: another answer to the same task, right or wrong."""
    fenced, draft, hollow = FENCE.format(text), FENCE.format(other), FENCE.format(f"{stub}\n    pass")
    return {
        "bare": text,
        "fence_and_use": f"Sure:\n{fenced}\nUse it so:\n{FENCE.format(f'print({name}(1))')}",
        "input_below": f"{text}\n\nvalue = int(input('value? '))\nprint({name}(value))\n",
        "wrong_own_test": FENCE.format(f"{text}\n\nassert {name}() == 'nothing'"),
        "behind_thoughts": f"<think>\nPerhaps\n{draft}\nNo.\n</think>\n\nHere it is:\n{fenced}\nDone.",
        "corrected": f"{draft}\nWait, that is wrong. Corrected:\n{fenced}",
        "behind_skeleton": f"Skeleton:\n{hollow}\nFilled in:\n{fenced}",
        "before_skeleton": f"{fenced}\nIt completes this skeleton:\n{hollow}",
    }


def read_answers(path: Path) -> Answers:
    """Read the answers to HumanEval that were written for the bare prompt."""
    rows = [row for row in read_rows(path) if row.get("prompt") == "plain" and row["id"].startswith("HumanEval")]
    return {row["id"]: [each["text"].strip("\n") for each in row["candidates"]] for row in rows}


def write_all(problem: Item, texts: Sequence[str]) -> dict[str, list[str]]:
    """Return all answers to a problem in each format."""
    name = parse_question(problem.query).entry or ""
    stub = problem.query.rstrip()
    written = [write_forms(text, texts[place - 1], stub, name) for place, text in enumerate(texts)]
    return {form: [each[form] for each in written] for form in written[0]}


def measure(sandbox: Sandbox, problems: Sequence[Item], answers: Answers) -> Figures:
    """Return for each format the number of right choices, and of answers extracted unchanged."""
    reranker = Reranker(sandbox=sandbox)
    figures: Figures = {"tasks": len(problems)}
    written = {problem.id: write_all(problem, answers[problem.id]) for problem in problems}
    for form in next(iter(written.values())):
        pairs, found, count = [], 0, 0
        for problem in problems:
            texts = written[problem.id][form]
            ranking = reranker.rerank(problem.query, texts)
            pairs.append((ranking.code, problem))
            found += sum(each.code == bare for each, bare in zip(ranking.candidates, answers[problem.id], strict=True))
            count += len(texts)
        figures[form] = {"chosen_right": sum(judge_all(sandbox, pairs)), "found_as_it_is": found, "answers": count}
        print(form, figures[form], flush=True)
    return figures


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--candidates", type=Path, default=CANDIDATES, help="packed file of generate_candidates.py")
    parser.add_argument("--tasks", type=int, default=164, help="tasks of HumanEval, from the first")
    options = read_options(parser)
    answers = read_answers(options.candidates)
    problems = [each for each in read_forms(options.data, "humaneval") if each.id in answers][: options.tasks]
    with open_sandbox() as sandbox:
        write_result("answer_forms", measure(sandbox, problems, answers))


if __name__ == "__main__":
    main()
