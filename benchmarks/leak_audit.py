"""Audit the corpora against HumanEval and MBPP: the leaks, the time it takes, and how often a mark is right.

    python benchmarks/leak_audit.py --data FOLDER

benchmarks/data/leak_pairs.json holds manually reviewed pairs of a function and a task: a sample of marked pairs, all
that are nearly equal, and those of kind `below`, with 50 to 60 % in common. `solves` records whether the function does
what the task asks for. By kind, the share that does is the precision of a mark.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from measure import ROOT, Figures, make_parser, read_options, write_result
from shared_data import CORPORA, find_files

from pkg.api import build_graph, open_graph
from pkg.lab import audit_graph

JUDGED = ROOT / "benchmarks" / "data" / "leak_pairs.json"
AGAINST = ("humaneval", "mbpp")


def audit_corpora(data: Path) -> Figures:
    """Build a graph of all corpora and audit it."""
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{folder}/corpora.db"
        for path in find_files(data, CORPORA):
            build_graph(path, store=store)
        with open_graph(store) as graph:
            start = time.process_time()
            reports = audit_graph(graph, AGAINST, data)
            figures["cpu_seconds"] = round(time.process_time() - start, 1)
            figures["functions"] = reports[0].compared
            figures["marked_nodes"] = sum(1 for _ in graph.store.leaks())
    for report in reports:
        audit = report.audit
        figures[audit.benchmark] = {
            "tasks": audit.tasks, "leaked": audit.leaked, "share": round(report.share, 4), "functions": audit.functions,
            "by_kind": dict(report.by_kind), "by_source": dict(report.by_source),
        }  # fmt: skip
    return figures


def count_judged() -> Figures:
    """Count by kind the reviewed pairs, and those whose function solves the task."""
    counts: dict[str, Figures] = defaultdict(lambda: {"read": 0, "solve": 0})
    for row in json.loads(JUDGED.read_text("utf-8")):
        counts[row["kind"]]["read"] += 1
        counts[row["kind"]]["solve"] += row["solves"]
    return dict(counts)


def main() -> None:
    options = read_options(make_parser(__doc__))
    write_result("leak_audit", {**audit_corpora(options.data), "judged": count_judged()})


if __name__ == "__main__":
    main()
