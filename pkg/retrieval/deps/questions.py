"""Answer questions about dependencies (`pkg deps`): links of a name, chains, impact, cycles, unused code, imports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from pkg.errors import QueryError
from pkg.retrieval.deps.answer import Answer, DepsOptions, Impact, ImportRecord, Place, check_options
from pkg.retrieval.deps.names import Target, find_target
from pkg.retrieval.deps.neighbours import LinkReader
from pkg.retrieval.deps.paths import list_sources
from pkg.retrieval.freshness import StaleMarks, find_stale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pkg.graph.store import GraphStore


DEFAULT_OPTIONS = DepsOptions()


def run_impact(store: GraphStore, names: Sequence[str], options: DepsOptions) -> Impact:
    """Find what may break when several names or files change, or what a diff touches.

    Raises QueryError for names of several sources, or a diff without Python code.
    """
    check_options(names[0] if names else None, options)
    with store.snapshot():
        list_sources(store, options.source)
        answer = mark_places(store, _answer_impact(LinkReader(store), names, options))
    assert isinstance(answer, Impact)
    return answer


def run_deps(store: GraphStore, name: str | None, options: DepsOptions = DEFAULT_OPTIONS) -> Answer:
    """Answer one question about dependencies from one generation of the graph.

    name: the target; without it, cycles, unused and imports are about the whole source.
    """
    if options.question == "impact":
        return run_impact(store, [name] if name else [], options)
    check_options(name, options)
    with store.snapshot():
        list_sources(store, options.source)
        target = find_target(store, name, options.source, options.question == "links") if name else None
        return mark_places(store, _answer(LinkReader(store), target, options))


def _answer(reader: LinkReader, target: Target | None, options: DepsOptions) -> Answer:
    """Dispatch the question to its module, which is imported on demand."""
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


def _answer_impact(reader: LinkReader, names: Sequence[str], options: DepsOptions) -> Impact:
    from pkg.retrieval.deps.impact import find_impact

    if options.has_diff:
        from pkg.retrieval.deps.changed_targets import find_changed

        changed = find_changed(reader.store, options)
        return find_impact(reader, changed.source.name, changed.targets, options, changed.notes, changed.changes)
    targets = [find_target(reader.store, name, options.source, with_constants=True) for name in dict.fromkeys(names)]
    sources = sorted({each.place.source for each in targets})
    if len(sources) > 1:
        raise QueryError(f"the names are of several sources: {', '.join(sources)}; expected one, see --source")
    return find_impact(reader, sources[0], targets, options)


def _answer_named(reader: LinkReader, target: Target, options: DepsOptions) -> Answer:
    if options.to is not None:
        from pkg.retrieval.deps.walk import find_chains

        return find_chains(reader, target, find_target(reader.store, options.to, options.source), options)
    if target.is_constant:
        from pkg.retrieval.deps.readers import find_readers

        return find_readers(reader, target, options)
    from pkg.retrieval.deps.walk import walk_dependencies

    return walk_dependencies(reader, target, options)


def mark_places(store: GraphStore, answer: Answer) -> Answer:
    """Mark every stale place of an answer, and list their files in its coverage."""
    stale = find_stale(store, _list_shown(answer))
    if not stale:
        return answer
    marked: Answer = _mark(answer, StaleMarks(stale))
    return replace(marked, coverage=replace(marked.coverage, stale=stale))


def _list_shown(part: object) -> Iterator[tuple[str, str]]:
    """Yield the files of all places in a part of an answer, at any depth."""
    if isinstance(part, Place):
        yield part.source, part.path
    elif isinstance(part, ImportRecord):
        yield from ((part.source, path) for path in (part.file_name, part.target_file or ""))
    elif isinstance(part, tuple):
        for each in part:
            yield from _list_shown(each)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _list_shown(getattr(part, field.name))


def _mark(part: Any, marks: StaleMarks) -> Any:
    """Return a part of an answer with its places marked."""
    if isinstance(part, Place):
        return replace(part, is_stale=marks.holds(part.source, part.path))
    if isinstance(part, tuple):
        return tuple(_mark(each, marks) for each in part)
    if is_dataclass(part) and not isinstance(part, type):
        return replace(part, **{each.name: _mark(getattr(part, each.name), marks) for each in fields(part)})
    return part
