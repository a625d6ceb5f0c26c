"""Answer what depends on what (`pkg deps`): links around a name, chains, impact, cycles, unused code, imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkg.errors import QueryError
from pkg.retrieval.deps.answer import Answer, DepsOptions, check_options
from pkg.retrieval.deps.names import Target, find_target
from pkg.retrieval.deps.neighbours import LinkReader
from pkg.retrieval.deps.paths import list_sources
from pkg.retrieval.deps.stale_places import mark_places

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

DEFAULT_OPTIONS = DepsOptions()


def run_deps(store: GraphStore, name: str | None, options: DepsOptions = DEFAULT_OPTIONS) -> Answer:
    """Answer one question about dependencies from one generation of the graph.

    name: what is asked about; cycles, unused and imports ask about all of the source without it.
    """
    check_options(name, options)
    with store.snapshot():
        list_sources(store, options.source)
        target = find_target(store, name, options.source, options.question == "links") if name else None
        return mark_places(store, _answer(LinkReader(store), target, options))


def _answer(reader: LinkReader, target: Target | None, options: DepsOptions) -> Answer:
    """Hand the question to the module that answers it; each is loaded when it is asked."""
    if options.question == "cycles":
        from pkg.retrieval.deps.cycles import find_cycles

        return find_cycles(reader, target, options)
    if options.question == "unused":
        from pkg.retrieval.deps.unused import find_unused

        return find_unused(reader, target, options)
    if options.question == "imports":
        from pkg.retrieval.deps.import_table import list_imports

        return list_imports(reader, target, options)
    if target is None:
        raise QueryError("this question needs a name; expected a function, class or file")
    return _answer_named(reader, target, options)


def _answer_named(reader: LinkReader, target: Target, options: DepsOptions) -> Answer:
    if options.question == "impact":
        from pkg.retrieval.deps.impact import find_impact

        return find_impact(reader, target, options)
    if options.to is not None:
        from pkg.retrieval.deps.chains import find_chains

        return find_chains(reader, target, find_target(reader.store, options.to, options.source), options)
    if target.is_constant:
        from pkg.retrieval.deps.readers import find_readers

        return find_readers(reader, target, options)
    from pkg.retrieval.deps.walk import walk_dependencies

    return walk_dependencies(reader, target, options)
