"""Compare two graphs by their code: definitions added, removed, changed or moved, and links gained and lost.

Unlike pkg.graph.verify, which reports every difference, this reports what a person calls a change: a definition is
identified by file and qualified name, one whose text has another name or file in the second graph has moved, and links
are compared by the names of their ends, so that shifted lines change nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pkg.errors import QueryError
from pkg.graph.store import GraphStore
from pkg.model import Label, RelationType

ChangeKind = Literal["added", "removed", "changed", "moved"]
COMPARED = (Label.CLASS, Label.FUNCTION, Label.CONSTANT)
LINKS = (RelationType.CALLS, RelationType.INHERITS, RelationType.OVERRIDES)


class Definition(NamedTuple):
    """Identity of a definition; several of one name in one file are numbered in their order."""

    label: str
    path: str
    qualname: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """A definition that differs between the graphs."""

    how: ChangeKind
    label: str
    path: str  # in the second graph; of a removed one, in the first
    line: int
    qualname: str
    from_path: str | None = None  # of a moved one
    from_qualname: str | None = None


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link that only one of the graphs has; ends are path::qualname."""

    how: Literal["gained", "lost"]
    type: str
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class CodeDiff:
    """The differences between two graphs of code."""

    a: str
    b: str
    definitions: tuple[DefinitionChange, ...]  # by file and line
    links: tuple[LinkChange, ...]
    same: int  # equal definitions

    def count(self) -> Mapping[str, int]:
        """Count the changes of each kind."""
        return Counter([*(each.how for each in self.definitions), *(each.how for each in self.links)])


class _Found(NamedTuple):
    id: str
    line: int
    content: str  # its hash


def compare_code_graphs(
    a: GraphStore, b: GraphStore, source_a: str | None = None, source_b: str | None = None
) -> CodeDiff:
    """Compare one source of a graph with one of another.

    Raise QueryError where a graph has several sources and none is named.
    """
    with a.snapshot(), b.snapshot():
        first, second = _choose_source(a, source_a), _choose_source(b, source_b)
        before, after = _read_definitions(a, first), _read_definitions(b, second)
        moved = dict(_find_moved(before, after))
        changes = _list_changes(before, after, moved)
        definitions = tuple(sorted(changes, key=lambda each: (each.path, each.line, each.qualname, each.how)))
        places = {found.id: moved.get(key, key) for key, found in before.items()}
        old, new = _count_links(a, first, places), _count_links(b, second, {f.id: key for key, f in after.items()})
    links = [*_list_links("gained", new.keys() - old.keys()), *_list_links("lost", old.keys() - new.keys())]
    same = len(before.keys() & after.keys()) - sum(each.how == "changed" for each in definitions)
    return CodeDiff(a.address, b.address, definitions, tuple(links), same)


def _choose_source(store: GraphStore, name: str | None) -> str:
    known = [each.name for each in store.sources()]
    if name is None and len(known) == 1:
        return known[0]
    if name in known:
        return str(name)
    seen = f"no source '{name}' in" if name else f"{len(known)} sources in"
    raise QueryError(f"{seen} {store.address}; expected one of them named: {', '.join(known) or 'there is none'}")


def _read_definitions(store: GraphStore, source: str) -> dict[Definition, _Found]:
    nodes = sorted(store.nodes(COMPARED, source), key=lambda node: (node.path, node.start))
    counts: Counter[tuple[str, str, str]] = Counter()
    found: dict[Definition, _Found] = {}
    for node in nodes:
        name = node.label.value, node.path, node.qualname
        found[Definition(*name, counts[name])] = _Found(node.id, node.start_line, node.content_hash)
        counts[name] += 1
    return found


def _find_moved(
    before: Mapping[Definition, _Found], after: Mapping[Definition, _Found]
) -> Iterator[tuple[Definition, Definition]]:
    """Yield pairs of definitions whose text has another name or file in the second graph, unless ambiguous."""
    gone, new = _group_contents(before, after), _group_contents(after, before)
    for content, keys in gone.items():
        others = new.get(content, [])
        if len(keys) == len(others) == 1:
            yield keys[0], others[0]


def _group_contents(
    there: Mapping[Definition, _Found], elsewhere: Mapping[Definition, _Found]
) -> dict[tuple[str, str], list[Definition]]:
    """Group the definitions that only one graph has by label and content."""
    groups: dict[tuple[str, str], list[Definition]] = defaultdict(list)
    for key, found in there.items():
        if key not in elsewhere:
            groups[key.label, found.content].append(key)
    return groups


def _list_changes(
    before: Mapping[Definition, _Found], after: Mapping[Definition, _Found], moved: Mapping[Definition, Definition]
) -> Iterator[DefinitionChange]:
    origins = {new: old for old, new in moved.items()}
    for key, found in after.items():
        if key in origins:
            old = origins[key]
            yield DefinitionChange("moved", key.label, key.path, found.line, key.qualname, old.path, old.qualname)
        elif key not in before:
            yield DefinitionChange("added", key.label, key.path, found.line, key.qualname)
        elif key.label != Label.CLASS.value and found.content != before[key].content:  # its members differ
            yield DefinitionChange("changed", key.label, key.path, found.line, key.qualname)
    for key, found in before.items():
        if key not in after and key not in moved:
            yield DefinitionChange("removed", key.label, key.path, found.line, key.qualname)


def _count_links(store: GraphStore, source: str, places: Mapping[str, Definition]) -> Counter[tuple[str, str, str]]:
    """Count the links between definitions, by the names of their ends."""
    links: Counter[tuple[str, str, str]] = Counter()
    for edge in store.edges(LINKS, source):
        start, end = places.get(edge.start), places.get(edge.end)
        if start is not None and end is not None:
            links[edge.type.value, f"{start.path}::{start.qualname}", f"{end.path}::{end.qualname}"] += 1
    return links


def _list_links(how: Literal["gained", "lost"], links: Iterable[tuple[str, str, str]]) -> Iterator[LinkChange]:
    for kind, start, end in sorted(links):
        yield LinkChange(how, kind, start, end)
