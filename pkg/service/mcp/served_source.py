"""Find the source that belongs to the folder of an agent or a server."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pkg.api import open_graph
from pkg.errors import PkgError
from pkg.model import Source

ALL = "all"
"""Value of --source that selects all sources even inside a source's folder; a source of this name takes precedence."""


def choose_named(sources: Iterable[Source], requested: str) -> str | None:
    """Return the requested source; None for all."""
    return None if requested == ALL and ALL not in {each.name for each in sources} else requested


def choose_served(store: str, requested: str | None, folder: Path) -> str | None:
    """Return the source to serve: the requested one, else the one of the folder; None for all.

    A graph that cannot be read yet has no source of the folder.
    """
    if requested not in (None, ALL):
        return requested
    with suppress(PkgError), open_graph(store) as graph:
        known = graph.store.sources()
        return choose_source(known, folder) if requested is None else choose_named(known, requested)
    return None


def choose_source(sources: Iterable[Source], folder: Path) -> str | None:
    """Return the innermost source whose folder contains this one; None if there is none, or two share that folder."""
    inside = folder.resolve()
    around = [
        (len(root.parts), each.name)
        for each in sources
        if each.root and inside.is_relative_to(root := Path(each.root).resolve())
    ]
    depth = max((parts for parts, _ in around), default=0)
    innermost = [name for parts, name in around if parts == depth]
    return innermost[0] if len(innermost) == 1 else None
