"""Find the right file for questions about spyder, by the graph, by chunks of characters, and by both.

    python benchmarks/repository_questions.py --data FOLDER [--cache FOLDER]

The questions are those of SpyderCodeQA (Q-01), including those about README and other documents; no text model is used.
The ranking of document sections was tuned on these questions, so their figures are not those of an unseen repository.
"""

from __future__ import annotations

import time
from pathlib import Path

from measure import Figures, make_parser, open_folder, read_options, run_pkg, write_result
from packages import SPYDER, fetch_package
from shared_data import SPYDER_QUESTIONS, find_files

from pkg.api import Graph, open_graph
from pkg.lab import evaluate_questions
from pkg.lab.evaluation.questions.qa_records import (
    RETRIEVERS_ALONE,
    QaFigures,
    QaFolder,
    QaItem,
    QaOptions,
    System,
    read_questions,
    report_questions,
)


def ask_all(graph: Graph, items: tuple[QaItem, ...], system: System) -> Figures:
    """Run all questions on one system, and count by kind of question."""
    folder, started = QaFolder(None, {}), time.process_time()
    evaluate_questions(graph, items, folder, QaOptions((system,)))
    cost = (time.process_time() - started) / len(items)
    by_kind = {each.type: _count(each) for each in report_questions(folder.records.values(), (system,)).figures}
    return {**by_kind, "cpu_ms_a_question": round(1000 * cost, 1)}


def _count(found: QaFigures) -> Figures:
    shares = {f"hit@{depth}": round(count / found.questions, 3) for depth, count in found.hits.items()}
    return {"questions": found.questions, "in_the_graph": found.with_gold, **shares}


def main() -> None:
    options = read_options(make_parser(__doc__))
    (questions,) = find_files(options.data, SPYDER_QUESTIONS)
    items = read_questions(questions.read_text(encoding="utf-8").splitlines()).items
    with open_folder(options.cache) as (cache, work):
        address = f"sqlite:///{work / 'spyder.db'}"
        run_pkg(["build", str(fetch_package(SPYDER, cache)), "--store", address], Path(work))
        with open_graph(address) as graph:
            figures: Figures = {system: ask_all(graph, items, system) for system in RETRIEVERS_ALONE}
            nodes = dict(graph.stats().nodes)
    write_result("repository_questions", {"questions": len(items), "nodes": nodes, **figures})


if __name__ == "__main__":
    main()
