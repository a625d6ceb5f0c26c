"""Count what is bound among the call sites in reach, so that unknown is never shown as none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pkg.confidence import is_bound
from pkg.model import Edge, Label, RelationType
from pkg.retrieval.deps.results import CallCoverage

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

_LAST_NAME = re.compile(r"([^\W\d]\w*)\s*\Z")


def count_calls(
    edges: Iterable[Edge], scope: str, same_name: int | None = None, names: str = "", notes: tuple[str, ...] = ()
) -> CallCoverage:
    """Count call sites by how they are bound: CALLS of one line by one rule are one site, bound if any of them is.

    A call of a class has one relationship to the class and one to its ``__init__``; both are the same site.
    """
    sites: dict[tuple[str, int | None, str | None], bool] = {}
    unbound: set[str] = set()
    for edge in edges:
        if edge.type is RelationType.CALLS:
            key = edge.start, edge.line, edge.rule
            sites[key] = sites.get(key, False) or is_bound(edge.confidence)
        elif edge.type is RelationType.UNRESOLVED:
            unbound.add(edge.end)
    bound = sum(sites.values())
    return CallCoverage(scope, bound, len(sites) - bound, len(unbound), same_name, names, notes)


def count_unbound_names(store: GraphStore, source: str | None) -> Counter[str]:
    """Count the unbound call sites of a source by the last name of what they call: ``a.b.run`` counts as run."""
    return Counter(
        matched[1]
        for node in store.nodes((Label.CALL,), source)
        if (matched := _LAST_NAME.search(node.name)) is not None
    )
