"""Programming Knowledge Graph: a graph of Python code that answers questions.

>>> import pkg
>>> report = pkg.build_graph("path/to/repository", store="sqlite:///graph.db")
>>> with pkg.open_graph("sqlite:///graph.db") as graph:
...     result = graph.query("parse a date from a string", top_k=3)
"""

from typing import TYPE_CHECKING, Any

from pkg import _start as _start  # first, before what takes long to import
from pkg.errors import PkgError
from pkg.lazy_module import LazyModule, make_lookup

if TYPE_CHECKING:
    from pkg.api import (
        Graph,
        Listener,
        build_graph,
        diff_graphs,
        enhance_graph,
        estimate_documents,
        estimate_enhancement,
        generate_answer,
        open_graph,
        rank_candidates,
        rank_stream,
        rank_tasks,
        remove_docstrings,
        remove_source,
        restore_graph,
        verify_stores,
        watch_graph,
    )
    from pkg.generation.ask.ask_options import AskOptions
    from pkg.generation.generate_options import GenerateOptions
    from pkg.graph.store import StoreStats
    from pkg.graph.verify import Difference, Verification
    from pkg.indexing.report import BuildReport
    from pkg.model import Coverage, Cut, Helper, Hit, LocalError, Node, QueryResult, Skip, Stale
    from pkg.rerank.candidates import Candidate, Ranked, Ranking, RerankOptions, Task, Verdict
    from pkg.retrieval.deps.answer import Answer, DepsOptions, Link, Place
    from pkg.retrieval.evidence.evidence_options import EvidenceOptions
    from pkg.retrieval.query_options import QueryOptions

__version__ = "0.2.0"

__all__ = [
    "Answer",
    "AskOptions",
    "BuildReport",
    "Candidate",
    "Coverage",
    "Cut",
    "DepsOptions",
    "Difference",
    "EvidenceOptions",
    "GenerateOptions",
    "Graph",
    "Helper",
    "Hit",
    "Link",
    "Listener",
    "LocalError",
    "Node",
    "PkgError",
    "Place",
    "QueryOptions",
    "QueryResult",
    "Ranked",
    "Ranking",
    "RerankOptions",
    "Skip",
    "Stale",
    "StoreStats",
    "Task",
    "Verdict",
    "Verification",
    "build_graph",
    "diff_graphs",
    "enhance_graph",
    "estimate_documents",
    "estimate_enhancement",
    "generate_answer",
    "open_graph",
    "rank_candidates",
    "rank_stream",
    "rank_tasks",
    "remove_docstrings",
    "remove_source",
    "restore_graph",
    "verify_stores",
    "watch_graph",
]

_OF_LAB = frozenset(
    {
        "BenchOptions",
        "SolverOptions",
        "calibrate_gate",
        "evaluate_code",
        "evaluate_repository",
        "report_evaluation",
        "write_report_page",
    }
)
"""Names of pkg.lab that are found here too, at run time; type checkers know them there."""

_MODULES = (
    "pkg.model",
    "pkg.retrieval.query_options",
    "pkg.api",
    "pkg.indexing.report",
    "pkg.graph.store",
    "pkg.graph.verify",
    "pkg.retrieval.deps.answer",
    "pkg.retrieval.evidence.evidence_options",
    "pkg.rerank.candidates",
    "pkg.generation.ask.ask_options",
    "pkg.generation.generate_options",
)
"""Modules of the exported names, which are imported when one of them is first used."""

if not TYPE_CHECKING:
    _find_export = make_lookup(__name__, __all__, _MODULES)

    def __getattr__(name: str) -> Any:
        """Return an exported name, or one of pkg.lab; raises AttributeError for others."""
        return getattr(LazyModule("pkg.lab"), name) if name in _OF_LAB else _find_export(name)
