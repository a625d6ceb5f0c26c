"""Count the HumanEval and MBPP questions with fewer hits than requested from the shared corpora.

    python benchmarks/empty_answers.py --data FOLDER [--cache FOLDER]

A search that filters after ranking leaves questions without an answer; this one must leave none. The token budget is
lifted, since it cuts answers that were found; the number of hits dropped by the default budget is reported separately.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

from measure import Figures, make_parser, open_folder, read_options, run_pkg, write_result
from shared_data import CORPORA, find_files, read_questions

from pkg.api import Graph, open_graph
from pkg.errors import QueryError
from pkg.retrieval.query_options import DEFAULT_BUDGET, Mode

MODES: tuple[Mode, ...] = ("block", "function")
SIZES = (1, 10)


@dataclass(slots=True)
class Answers:
    """Results of the questions of one mode and k."""

    fewer: list[str] = field(default_factory=list)  # questions with fewer than k hits
    repeated: list[str] = field(default_factory=list)  # questions with two hits of equal content
    shortened: int = 0  # questions that lose hits to the default budget


def build_graph(data: Path, work: Path) -> str:
    """Build one graph of all corpora and return its address."""
    address = f"sqlite:///{work / 'corpora.db'}"
    for path in find_files(data, CORPORA):
        run_pkg(["build", str(path), "--store", address], work)
    return address


def ask_all(graph: Graph, questions: list[str], mode: Mode, k: int) -> Answers:
    """Run every question in one mode for k hits."""
    answers = Answers()
    for text in questions:
        try:
            hits = graph.query(text, mode=mode, top_k=k, budget=0).hits
        except QueryError:
            hits = ()
        if len(hits) < k:
            answers.fewer.append(text)
        if len({hit.content for hit in hits}) < len(hits):
            answers.repeated.append(text)
        elif hits:
            answers.shortened += len(graph.query(text, mode=mode, top_k=k).hits) < len(hits)
    return answers


def _describe(answers: Answers) -> Figures:
    return {
        "fewer_than_k": {"value": len(answers.fewer), "target": 0},
        "with_equal_hits": {"value": len(answers.repeated), "target": 0},
        f"shortened_by_a_budget_of_{DEFAULT_BUDGET}_tokens": answers.shortened,
        "questions_with_fewer": answers.fewer,
    }


def main() -> None:
    options = read_options(make_parser(__doc__))
    questions = read_questions(options.data)
    with open_folder(options.cache) as (_, work), open_graph(build_graph(options.data, work)) as graph:
        found = {f"{mode}_k{k}": ask_all(graph, questions, mode, k) for mode in MODES for k in SIZES}
        nodes = dict(graph.stats().nodes)
    figures = {name: _describe(answers) for name, answers in found.items()}
    write_result("empty_answers", {"questions": len(questions), "nodes": nodes, **figures})
    empty = sum(len(answers.fewer) for answers in found.values())
    if empty:
        sys.exit(f"{empty} questions have fewer hits than they ask for; results/empty_answers.json lists them")


if __name__ == "__main__":
    main()
