"""Convert records to the nodes, relationships and calls of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pkg.graph.graph_records import GENERATED_PROPERTIES, LEAKS, make_call
from pkg.graph.sqlite_rows import unpack_rows
from pkg.model import Call, Edge, Label, Nested, Node, Outline, RelationType, Unfolded
from pkg.units import find_owner

_LABELS, _TYPES = {each.value: each for each in Label}, {each.value: each for each in RelationType}
_OWN = "alias", "annotation", "bases", "decorators", "imported", "is_async", "level", "module", "value"
"""Properties of pieces of code."""
_OF_LABEL = {
    Label.SOURCE: ("root", "revision", "package"),
    Label.FILE: ("language", "status", "reason"),
    Label.ROW: ("language", "status", "reason"),
    Label.FACT: ("language", "value"),
}
_PIECE = (*_OWN, *GENERATED_PROPERTIES, LEAKS)
PROPERTIES = (
    "id", "source", "path", "name", "qualname", "kind", "start", "end", "start_line", "end_line", "start_col",
    "position", "content", "content_hash", "expression", "line", "root", "revision", "package", "language", "status",
    "reason", *_PIECE,
)  # fmt: skip
"""Properties of which nodes are built. Statements list them, because reading all properties, with vectors and long
texts, takes a server up to ten times as long."""


def make_node(name_of_label: str, found: Mapping[str, Any], path: str | None, first_line: int | None) -> Node:
    """Build a node from its label, properties and position; a node of a file has the position in its properties."""
    label, path = _LABELS[name_of_label], path or found.get("path") or ""
    if label is Label.CALL:
        line = first_line or found.get("line") or 0
        return make_call(found["id"], found["source"], path, found["expression"], line, found["reason"])
    properties = {name: found[name] for name in _OF_LABEL.get(label, _PIECE) if found.get(name) is not None}
    name = found["name"]
    if label in (Label.FILE, Label.ROW):
        return _make(found, label, found["path"], name, found["path"], None, found["content_hash"], properties)
    if found.get("start_line") is None:  # a source, a function name or a library
        kind, content = (found.get("kind"), "") if label is Label.SOURCE else (None, name)
        hashed = found.get("content_hash") or ""
        return _make(found, label, "", name, name, kind, hashed, properties, content)
    first = (first_line or 1) - 1
    return Node(
        found["id"], label, found["source"], path, name, found["qualname"], found.get("kind"),
        found["start"], found["end"], found["start_line"] + first, found["end_line"] + first, found["start_col"],
        found["content"], found["content_hash"], properties,
    )  # fmt: skip


def _make(
    found: Mapping[str, Any],
    label: Label,
    path: str,
    name: str,
    qualname: str,
    kind: str | None,
    content_hash: str,
    properties: Mapping[str, Any],
    content: str = "",
) -> Node:
    return Node(
        found["id"], label, found["source"], path, name, qualname, kind, 0, 0, 0, 0, 0, content, content_hash,
        properties,
    )  # fmt: skip


def to_cosine(score: float) -> float:
    """Convert the score of an index, (1 + cosine) / 2, to the cosine (A-15)."""
    return 2 * score - 1


def make_unfolded(node: list[Any], blocks: list[list[Any]], links: list[list[Any]]) -> Unfolded:
    """Build a node with its blocks and links from a record."""
    nested = tuple(_make_nested(node[-1], *each) for each in blocks)
    return Unfolded(make_node(*node), nested, tuple(make_edge(*facts) for _, *facts in links))


def _make_nested(
    first_line: int | None, identity: str, kind: str, start: int, end: int, start_line: int, end_line: int
) -> Nested:
    """Build a block from a record; first_line is the line of its unit where its fragment begins."""
    first = (first_line or 1) - 1
    return Nested(identity, kind, start, end, start_line + first, end_line + first)


def make_edge(kind: str, start: str, end: str, *facts: Any) -> Edge:
    """Build a relationship from a record: type, start, end, line, rule and confidence."""
    return Edge(_TYPES[kind], start, end, *facts)


def list_calls(packed: bytes, start_line: int, end_line: int, first_line: int | None) -> Iterator[Call]:
    """Yield the calls on the lines of a node, from those of its fragment, which begins at first_line."""
    offset = (first_line or 1) - 1
    for expression, line, _ in unpack_rows(packed):
        if start_line <= line <= end_line:
            yield Call(expression, line + offset, None)


def make_outline(
    identity: str,
    label: str,
    source: str,
    path: str,
    name: str,
    qualname: str,
    kind: str | None,
    lines: int,
    content_hash: str,
    score: float,
    has_questions: bool,
) -> Outline:
    """Build the outline of a function or block from a record; the score is that of an index."""
    known = _LABELS[label]
    qualname = "" if known is Label.BLOCK else qualname
    facts = kind, lines, content_hash, find_owner(identity, known, name)
    return Outline(identity, known, source, path, name, qualname or name, *facts, to_cosine(score), has_questions)
