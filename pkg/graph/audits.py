"""Check whether an audit is of the current graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkg.model import Audit

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore


def is_current(store: GraphStore, audit: Audit) -> bool:
    """Return whether every source has the fingerprint that it had at the audit.

    A build keeps the marks of unchanged files and rows; rebuilt ones have none.
    """
    return {each.name: store.source_fingerprint(each.name) or "" for each in store.sources()} == dict(audit.sources)
