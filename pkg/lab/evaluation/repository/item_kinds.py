"""Determine by the calls of the graph whether the original body of a masked function calls into the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pkg.lab.evaluation.code.benchmark_items import Benchmark
from pkg.lab.evaluation.repository.repository_items import ALONE, CALLS, RepositoryItem
from pkg.model import Label, RelationType, is_bound

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore


def read_kinds(store: GraphStore, benchmark: Benchmark) -> dict[str, str]:
    """Return the kind of each item by id; calls between a function and its own parts do not count."""
    definitions = {node.id: node for node in store.nodes((Label.FUNCTION, Label.CLASS))}
    calling: set[tuple[str, int]] = set()
    for edge in store.edges((RelationType.CALLS,)):
        caller, callee = definitions.get(edge.start), definitions.get(edge.end)
        if caller is None or callee is None or not is_bound(edge.confidence):
            continue
        inside = callee.path == caller.path and caller.start <= callee.start and callee.end <= caller.end
        if not inside:
            calling.add((caller.path, caller.start_line))
    functions = {item.id: cast(RepositoryItem, item).masked for item in benchmark.items}
    return {name: CALLS if (function.path, function.line) in calling else ALONE for name, function in functions.items()}
