"""Mark the places of an answer about dependencies whose files have changed or are gone since the build."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from pkg.retrieval.deps.answer import ImportRecord, Place
from pkg.retrieval.freshness import StaleMarks, find_stale

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.retrieval.deps.answer import Answer


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
