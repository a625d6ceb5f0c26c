"""Calls that must not type-check: each is ignored for one reason, and mypy refuses an ignore that nothing needs.

This file is checked by `make lint` and never run.
"""

from __future__ import annotations

import pkg


def ask_wrongly(graph: pkg.Graph) -> None:
    graph.query("a question", top=3)  # type: ignore[call-arg]
    graph.query("a question", top_k="3")  # type: ignore[arg-type]
    graph.query("a question", mode="folder")  # type: ignore[arg-type]
    graph.query("a question", kind="lambda")  # type: ignore[arg-type]
    graph.query("a question", "function")  # type: ignore[call-arg]
    graph.deps("Cart.total", question="callers")  # type: ignore[arg-type]
    graph.deps("Cart.total", direction="up")  # type: ignore[arg-type]
    graph.export(True)  # type: ignore[call-arg]


def build_wrongly() -> None:
    pkg.build_graph("src", jobs="2")  # type: ignore[arg-type]
    pkg.build_graph("src", "sqlite:///graph.db")  # type: ignore[call-arg]
    pkg.build_graph("src", agree=True)  # type: ignore[call-arg]
    pkg.restore_graph("graph.jsonl", vectors=True)  # type: ignore[call-arg]


def rank_wrongly() -> None:
    pkg.rank_candidates("add", ["a", "b"], stages=["parse"])  # type: ignore[list-item]
    pkg.rank_candidates("add", ["a", "b"], sandbox="chroot")  # type: ignore[arg-type]
    pkg.rank_candidates("add", ["a", "b"], limit=2)  # type: ignore[call-arg]
    pkg.rank_tasks([], jobs=2)  # type: ignore[call-arg]
    pkg.RerankOptions(compare="both")  # type: ignore[arg-type]
