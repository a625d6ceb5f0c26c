"""The use case that updates the sources of a graph from their inputs, with the options of their last build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pkg.errors import InputError, UsageError
from pkg.extract.input_options import STDIN
from pkg.indexing.build import build
from pkg.indexing.build_plan import DEFAULT_OPTIONS, BuildOptions
from pkg.model import Skip, Source

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.indexing.report import BuildReport


def refresh(
    store: GraphStore, source: str | None = None, options: BuildOptions = DEFAULT_OPTIONS
) -> list[BuildReport | Skip]:
    """Build all sources that can be read again, or the named one; only changed units are processed.

    A Skip gives the reason why a source cannot be read, such as a deleted folder: the graph keeps its nodes.
    Raises UsageError for an unknown source, StoreError if the store cannot be written.
    """
    sources = store.sources()
    chosen = [each for each in sources if source in (None, each.name)]
    if source is not None and not chosen:
        known = ", ".join(each.name for each in sources) or "none"
        raise UsageError(f"no source '{source}' in {store.address}; expected one of: {known}")
    return [_build_again(store, each, options) for each in chosen if each.root != STDIN]


def _build_again(store: GraphStore, source: Source, options: BuildOptions) -> BuildReport | Skip:
    try:
        return build(store=store, options=options, **read_settings(store, source))
    except InputError as fault:
        return Skip(source.name, str(fault))


def read_settings(store: GraphStore, source: Source) -> dict[str, Any]:
    """Return the path and the keyword arguments of a build that reads a source as its last build did."""
    from pkg.extract.files import restore_path
    from pkg.extract.input_options import parse_fingerprint

    _, read = parse_fingerprint(store.source_fingerprint(source.name) or "")
    return {
        "path": restore_path(source.root),
        "source": source.name,
        "field": read.field,
        "max_file_size": read.max_file_size,
        "follow_links": read.follow_links,
        "text": not read.code_only,
    }
