"""The state behind the graph store in memory: what was put, and the nodes and edges that follow from it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pkg.errors import StoreError
from pkg.model import EMBEDDED_LABELS, Call, Edge, Label, Node, RelationType, Skip, Source
from pkg.units import Fragment, NodeRow, UnitGraph, UnitLinks, format_id, hash_bytes, hash_key, name_library


@dataclass(frozen=True, slots=True)
class Entry:
    """One node with its vector and the place of its fragment."""

    node: Node
    vector: npt.NDArray[np.float16] | None
    fragment: tuple[str, int] | None  # source and key; None for sources, units and names
    parent: str | None
    calls: tuple[Call, ...] = ()


@dataclass(slots=True)
class State:
    """One generation; a write works on a copy, whose values are immutable."""

    generation: int = 0
    sources: dict[str, Source] = field(default_factory=dict)
    notes: dict[str, tuple[str, tuple[Skip, ...], dict[str, float]]] = field(default_factory=dict)
    units: dict[tuple[str, str], UnitGraph] = field(default_factory=dict)
    fragments: dict[tuple[str, int], Fragment] = field(default_factory=dict)
    names: dict[tuple[str, str], npt.NDArray[np.float16]] = field(default_factory=dict)
    links: dict[tuple[str, str], UnitLinks] = field(default_factory=dict)
    encoder: tuple[str, int] | None = None
    entries: dict[str, Entry] | None = None  # made when first read

    def copy(self) -> State:
        return State(
            self.generation,
            dict(self.sources),
            dict(self.notes),
            dict(self.units),
            dict(self.fragments),
            dict(self.names),
            dict(self.links),
            self.encoder,
        )

    def read(self) -> dict[str, Entry]:
        if self.entries is None:
            self.entries = {entry.node.id: entry for entry in list_entries(self)}
        return self.entries


def replace_vectors(state: State, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
    """Give every embedded node its new vector; a node without one is a StoreError."""
    wanted = {
        key: [format_id(node.id) for node in fragment.nodes if node.label in EMBEDDED_LABELS]
        for key, fragment in state.fragments.items()
    }
    names = {key: format_id(hash_key(key[0], Label.FUNCTION_NAME.value, key[1])) for key in state.names}
    total = {each for ids in wanted.values() for each in ids} | set(names.values())
    if missing := total - vectors.keys():
        raise StoreError(
            f"{len(total) - len(missing):,} of {len(total):,} vectors are of the new encoder; expected all;"
            " run the build again"
        )
    for key, ids in wanted.items():
        rows = np.array([vectors[each] for each in ids], np.float16).reshape(len(ids), -1)
        state.fragments[key] = replace(state.fragments[key], vectors=rows)
    state.names = {key: vectors[each] for key, each in names.items()}


def list_entries(state: State) -> Iterator[Entry]:
    """Make the nodes of a state; a fragment is shown at the first unit, by path, that holds it."""
    for name, source in sorted(state.sources.items()):
        facts = {"root": source.root} | ({"revision": source.revision} if source.revision else {})
        identity = format_id(hash_key("Source", name))
        node = Node(identity, Label.SOURCE, name, "", name, name, source.kind, 0, 0, 0, 0, 0, "", "", facts)
        yield Entry(node, None, None, None)
    shown: set[tuple[str, int]] = set()
    for (source_name, path), unit in sorted(state.units.items()):
        unit_id = _unit_id(unit)
        facts = {"language": unit.language, "status": unit.status.value}
        facts |= {"reason": unit.reason} if unit.reason else {}
        last = path.rpartition("/")[2]
        where = (0, 0, 0, 0, 0, "", unit.content_hash)
        node = Node(unit_id, unit.label, source_name, path, last, path, None, *where, facts)
        yield Entry(node, None, None, format_id(hash_key("Source", source_name)))
        for part in sorted(unit.parts, key=lambda part: part.first_line):
            if (source_name, part.key) not in shown:
                shown.add((source_name, part.key))
                fragment = state.fragments[source_name, part.key]
                yield from _list_fragment(source_name, path, unit_id, part.first_line - 1, fragment)
    for (source_name, name), vector in sorted(state.names.items(), key=lambda item: item[0]):
        identity = format_id(hash_key(source_name, Label.FUNCTION_NAME.value, name))
        yield Entry(_make_placeless(identity, Label.FUNCTION_NAME, source_name, name), vector, None, None)
    yield from _list_ends(state)


def _make_placeless(identity: str, label: Label, source: str, name: str) -> Node:
    hashed = format_id(hash_bytes(name.encode()))
    return Node(identity, label, source, "", name, name, None, 0, 0, 0, 0, 0, name, hashed)


def _list_ends(state: State) -> Iterator[Entry]:
    """Make the libraries that something refers to, and the calls that were not bound: of equal ones, the first."""
    calls: dict[str, Entry] = {}
    for (source, path), links in sorted(state.links.items(), key=lambda item: item[0]):
        ends = {edge.end for edge in links.edges}
        for name in links.libraries:
            if name_library(source, name) in ends:
                yield Entry(_make_placeless(name_library(source, name), Label.LIBRARY, source, name), None, None, None)
        for call in sorted(links.unbound, key=lambda call: call.line):
            text, facts = call.expression, {"reason": call.reason}
            where = (0, 0, call.line, call.line, 0, text, format_id(hash_bytes(text.encode())))
            node = Node(call.id, Label.CALL, source, path, text, text, None, *where, facts)
            calls.setdefault(call.id, Entry(node, None, None, None))
    yield from calls.values()


def drop_loose_links(state: State) -> None:
    """Take away the relationships that lack an end."""
    state.entries = None
    ids = state.read().keys()
    for key, links in state.links.items():
        edges = tuple(edge for edge in links.edges if edge.start in ids and edge.end in ids)
        state.links[key] = replace(links, edges=edges)
    state.entries = None


def _list_fragment(source: str, path: str, unit_id: str, offset: int, fragment: Fragment) -> Iterator[Entry]:
    calls = tuple(Call(call.expression, call.line + offset, None) for call in fragment.calls)
    vectors = iter(fragment.vectors)
    for row in fragment.nodes:
        vector = next(vectors) if row.label in EMBEDDED_LABELS else None
        parent = unit_id if row.parent < 0 else format_id(fragment.nodes[row.parent].id)
        node = _make_node(source, path, offset, fragment, row)
        yield Entry(node, vector, (source, fragment.key), parent, calls)


def _make_node(source: str, path: str, offset: int, fragment: Fragment, row: NodeRow) -> Node:
    owner = row
    while owner.label is Label.BLOCK:
        owner = fragment.nodes[owner.parent]
    return Node(
        format_id(row.id),
        row.label,
        source,
        path,
        row.name,
        owner.qualname or row.name,
        row.kind,
        row.start,
        row.end,
        row.start_line + offset,
        row.end_line + offset,
        row.start - (fragment.text.rfind(b"\n", 0, row.start) + 1),
        fragment.text[row.start : row.end].decode("utf-8", "replace"),
        format_id(row.content_hash),
        _read_properties(fragment.text, row),
    )


def _read_properties(text: bytes, row: NodeRow) -> dict[str, object]:
    """Give the properties of a node, its docstring read from where it stands."""
    properties = dict(row.properties or {})
    docstring = properties.pop("docstring", None)
    if row.label is Label.FUNCTION:
        properties["docstring_source"] = "human" if docstring else "none"
    if isinstance(docstring, (list, tuple)):
        literal = text[row.start + docstring[0] : row.start + docstring[1]].decode("utf-8", "replace")
        properties["docstring"] = inspect.cleandoc(str(ast.literal_eval(literal)))
    return properties


def _unit_id(unit: UnitGraph) -> str:
    return format_id(hash_key(unit.source, unit.path, unit.label.value))


def list_edges(state: State) -> list[Edge]:
    """Derive the structure from parents and parts, and add the relationships that were put."""
    entries = state.read()
    edges = [edge for links in state.links.values() for edge in _list_links(links)]
    edges = list(dict.fromkeys(edges))  # rows that share a body have the same
    for unit in state.units.values():
        unit_id = _unit_id(unit)
        edges.append(Edge(RelationType.CONTAINS, format_id(hash_key("Source", unit.source)), unit_id))
        for part in unit.parts:
            for row in state.fragments[unit.source, part.key].nodes:
                if row.parent < 0:
                    kind = RelationType.IMPORTS if row.label is Label.IMPORT else RelationType.CONTAINS
                    edges.append(Edge(kind, unit_id, format_id(row.id), row.start_line + part.first_line - 1))
    for entry in entries.values():
        if entry.fragment is not None and entry.parent is not None and entries[entry.parent].fragment is not None:
            edges.append(Edge(_structure(entries[entry.parent].node, entry.node), entry.parent, entry.node.id))
        name_id = format_id(hash_key(entry.node.source, Label.FUNCTION_NAME.value, entry.node.name))
        if entry.node.label is Label.FUNCTION and name_id in entries:
            edges.append(Edge(RelationType.NAMES, name_id, entry.node.id))
    return edges


def _list_links(links: UnitLinks) -> list[Edge]:
    return [*links.edges, *(Edge(RelationType.UNRESOLVED, call.owner, call.id, call.line) for call in links.unbound)]


def _structure(parent: Node, child: Node) -> RelationType:
    if child.label is not Label.BLOCK:
        return RelationType.CONTAINS
    return RelationType.CHILD if parent.label is Label.BLOCK else RelationType.HAS_BODY


def edge_order(edge: Edge) -> tuple[str, str, str, int, str, str]:
    return edge.type.value, edge.start, edge.end, edge.line or 0, edge.rule or "", edge.confidence or ""


def descends(entries: Mapping[str, Entry], entry: Entry, ancestor: str) -> bool:
    while entry.parent is not None:
        if entry.parent == ancestor:
            return True
        entry = entries[entry.parent]
    return False


def export_node(state: State, entry: Entry, vectors: bool) -> dict[str, Any]:
    """Give one node as a JSON-ready line; a file or row carries its text."""
    node = entry.node
    line: dict[str, Any] = {"type": "node", "label": node.label.value, "id": node.id, "source": node.source}
    names = ("path", "name", "qualname", "kind", "content_hash")
    line |= {name: value for name in names if (value := getattr(node, name))}
    if node.start_line:
        places = ("start", "end", "start_line", "end_line", "start_col", "content")
        line |= {name: getattr(node, name) for name in places}
    line |= node.properties
    if node.label in (Label.FILE, Label.ROW):
        line["parts"] = [
            (part.first_line, state.fragments[node.source, part.key].text.decode("utf-8", "surrogateescape"))
            for part in sorted(state.units[node.source, node.path].parts, key=lambda part: part.first_line)
        ]
    if vectors and entry.vector is not None:
        line["vector"] = entry.vector.astype(float).tolist()
    return line
