"""The typed public API, which the commands use too.

Progress and questions go to callbacks of the caller; nothing here prints. A function is imported when it is first used,
so that a command starts without the modules of others.
"""

from typing import TYPE_CHECKING

from pkg.lazy_module import make_lookup

if TYPE_CHECKING:
    from pkg.api.answering import generate_answer, rank_candidates, rank_stream, rank_tasks
    from pkg.api.building import (
        Ask,
        Listener,
        build_graph,
        estimate_documents,
        remove_source,
        restore_graph,
        watch_graph,
        write_corpus,
    )
    from pkg.api.comparing import diff_graphs, verify_stores
    from pkg.api.enhancing import enhance_graph, estimate_enhancement, list_failures, remove_docstrings
    from pkg.api.graph import RETRIES, Graph, open_graph

__all__ = [
    "RETRIES",
    "Ask",
    "Graph",
    "Listener",
    "build_graph",
    "diff_graphs",
    "enhance_graph",
    "estimate_documents",
    "estimate_enhancement",
    "generate_answer",
    "list_failures",
    "open_graph",
    "rank_candidates",
    "rank_stream",
    "rank_tasks",
    "remove_docstrings",
    "remove_source",
    "restore_graph",
    "verify_stores",
    "watch_graph",
    "write_corpus",
]

_MODULES = tuple(f"{__name__}.{name}" for name in ("graph", "building", "answering", "enhancing", "comparing"))

if not TYPE_CHECKING:
    __getattr__ = make_lookup(__name__, __all__, _MODULES)
