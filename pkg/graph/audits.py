"""Tell whether an audit speaks of the graph as it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkg.model import Audit

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore


def is_current(store: GraphStore, audit: Audit) -> bool:
    """Tell whether every source is still what it was built from when the audit looked at it.

    Marks of files and rows that have not changed stay through a build; what was built anew has none.
    """
    return {each.name: store.source_fingerprint(each.name) or "" for each in store.sources()} == dict(audit.sources)
