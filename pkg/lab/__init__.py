"""The laboratory: evaluate models and graphs, judge answers, make data sets, and find leaks of benchmarks.

>>> import pkg.lab
>>> with pkg.open_graph("sqlite:///graph.db") as graph:
...     report = pkg.lab.bench_graph(graph)

No module outside this package imports it; building and querying a graph do not need it.
"""

from pkg.lab.lab_api import (
    audit_graph,
    bench_graph,
    calibrate_gate,
    evaluate_code,
    evaluate_questions,
    evaluate_repository,
    evaluate_retrieval,
    make_dataset,
    report_evaluation,
    write_report_page,
)
from pkg.lab.lab_options import BenchOptions, DatasetOptions, DocumentOptions, SolverOptions

__all__ = [
    "BenchOptions",
    "DatasetOptions",
    "DocumentOptions",
    "SolverOptions",
    "audit_graph",
    "bench_graph",
    "calibrate_gate",
    "evaluate_code",
    "evaluate_questions",
    "evaluate_repository",
    "evaluate_retrieval",
    "make_dataset",
    "report_evaluation",
    "write_report_page",
]
