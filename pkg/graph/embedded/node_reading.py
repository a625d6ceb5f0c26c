"""Read nodes of the embedded store: build Node from rows, with text, path and lines."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from pkg.graph.embedded import sql
from pkg.graph.graph_records import cut_value, export_node, make_call, parse_docstring, parse_import
from pkg.graph.sqlite_rows import fetch_known, parse_id, unpack_rows, unpack_text
from pkg.model import EMBEDDED_LABELS, Call, Label, Node
from pkg.units import format_id

CACHED_FRAGMENTS = 64  # texts cached during a snapshot
CACHED_NAMES = 10_000  # function names cached for their blocks during a snapshot

NodeColumns = tuple[Any, ...]  # in the order of sql.GET_NODE


class NodeReader:
    """Reader of nodes; texts are cached during a snapshot."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._run = connection.execute
        self._texts: dict[int, bytes] = {}
        self._places: dict[int, tuple[str, int, str]] = {}
        self._owner_names: dict[int, str] = {}  # by the numbers of blocks and their functions

    def forget(self) -> None:
        """Clear the caches: the next read may see another generation."""
        self._texts.clear()
        self._places.clear()
        self._owner_names.clear()

    def read_id(self, identity: int) -> Node | None:
        """Return the node of a signed id; None if there is none."""
        row = self._run(sql.GET_NODE, (identity,)).fetchone()
        if row is not None:
            return self._make(row)
        unit = self._run(sql.GET_UNIT, (identity,)).fetchone()
        if unit is not None:
            return self._make_unit(unit)
        call = self._run(sql.GET_CALL, (identity,)).fetchone()
        if call is not None:
            return _make_call(call)
        source = self._run(sql.GET_SOURCE, (identity,)).fetchone()
        return _make_source(source) if source is not None else None

    def find_names(self, names: Iterable[str], source: str | None) -> list[Node]:
        """Return the functions, classes and constants of some bare names, ordered by path and line."""
        nodes = [self._make(row) for name in set(names) for row in self._run(sql.FIND_NAME, (name, source))]
        return sorted(nodes, key=lambda node: (node.source, node.path, node.start_line, node.id))

    def read_inside(self, node: Node) -> list[Node]:
        """Return the nodes inside a node's span and after it in node order; for a file or row, all its nodes."""
        if node.label in (Label.CONSTANT, Label.MODULE):  # they contain no nodes, even on their lines
            return []
        row = self._run(sql.GET_NODE, (parse_id(node.id),)).fetchone()
        if row is not None:
            # A definition that is the whole body of a function has the span of the body, which is the outer one.
            is_outermost = row[8] == sql.KIND_NUMBERS["body"]
            found = self._run(sql.LIST_INSIDE, (row[0], row[4], row[9], row[10], is_outermost)).fetchall()
        else:
            unit = self._run(sql.GET_UNIT, (parse_id(node.id),)).fetchone()
            found = self._run(sql.LIST_UNIT_NODES, (unit[0],)).fetchall() if unit else []
        return [self._make(item) for item in found]

    def read_calls(self, node: Node) -> list[Call]:
        """Return the call sites inside a node; Call.function is not set."""
        row = self._run(sql.GET_NODE, (parse_id(node.id),)).fetchone()
        if row is None or row[4] is None:
            return []
        first_line, last_line = row[11], row[12]
        packed, _ = fetch_known(self._connection, sql.GET_FRAGMENT_CALLS, row[4])
        offset = self._place(row[4])[1] - 1
        return [
            Call(expression, line + offset, None)
            for expression, line, _ in unpack_rows(packed)
            if first_line <= line <= last_line
        ]

    def read_imports(self, unit: Node, names: Collection[str]) -> list[Node]:
        """Return the imports of a file or row that bind any of the names, ordered by line and id."""
        found = self._run(sql.LIST_IMPORTS, (parse_id(unit.id),)).fetchall()
        return [self._make(row) for row in found if parse_import(json.loads(row[-1])).bound_name in names]

    def _text(self, fragment: int) -> bytes:
        text = self._texts.get(fragment)
        if text is None:
            if len(self._texts) >= CACHED_FRAGMENTS:
                self._texts.clear()
            (packed,) = fetch_known(self._connection, sql.GET_FRAGMENT_TEXT, fragment)
            text = self._texts[fragment] = unpack_text(packed)
        return text

    def _place(self, fragment: int) -> tuple[str, int, str]:
        """Return the path, first line and id of the first unit by path that contains a fragment."""
        place = self._places.get(fragment)
        if place is None:
            path, first_line, unit = fetch_known(self._connection, sql.GET_UNIT_OF, fragment)
            place = self._places[fragment] = path, first_line, format_id(unit % (1 << 64))
        return place

    def _make(self, row: NodeColumns) -> Node:
        (_, identity, label_number, source, fragment, parent, name, qualname, kind) = row[:9]
        start, end, start_line, end_line, content_hash, properties = row[9:]
        label, node_id, hashed = (
            sql.LABELS[label_number],
            format_id(identity % (1 << 64)),
            format_id(content_hash % (1 << 64)),
        )
        if fragment is None:
            return Node(node_id, label, source, "", name, name, None, 0, 0, 0, 0, 0, name, hashed)
        path, first_line, _ = self._place(fragment)
        text = self._text(fragment)
        if name is None:  # the name of a block or import is in the column without an index
            name, qualname = qualname, self._owner_name(parent) if label is Label.BLOCK else None
        content = text[start:end].decode("utf-8", "replace")
        return Node(
            node_id, label, source, path, name, qualname or name, sql.KINDS[kind] or None, start, end,
            start_line + first_line - 1, end_line + first_line - 1, start - (text.rfind(b"\n", 0, start) + 1),
            content, hashed, self._properties(label, text, start, properties),
        )  # fmt: skip

    def _owner_name(self, parent: int) -> str:
        """Return the qualified name of the function that contains a block."""
        names, climbed = self._owner_names, []
        if len(names) > CACHED_NAMES:
            names.clear()
        while parent not in names:
            climbed.append(parent)
            row = fetch_known(self._connection, sql.GET_NUMBERED, parent)
            if sql.LABELS[row[2]] is Label.BLOCK:
                parent = row[5]
            else:
                names[parent] = str(row[7] or row[6])
        names.update(dict.fromkeys(climbed, names[parent]))
        return names[parent]

    def _properties(self, label: Label, text: bytes, start: int, packed: str | None) -> dict[str, object]:
        properties: dict[str, object] = json.loads(packed) if packed else {}
        docstring = properties.pop("docstring", None)
        for name in ("value", "annotation") if label is Label.CONSTANT else ():
            if name in properties:
                properties[name] = cut_value(text, start, properties[name])
        if label is Label.FUNCTION:
            properties.setdefault("docstring_source", "human" if docstring else "none")
        if isinstance(docstring, list):  # its position; a generated docstring is a text
            docstring = parse_docstring(text[start + docstring[0] : start + docstring[1]])
        if docstring is not None:
            properties["docstring"] = docstring
        return properties

    def _make_unit(self, row: tuple[Any, ...]) -> Node:
        _, identity, label, source, path, content_hash, language, status, reason = row
        properties = {"language": language, "status": status} | ({"reason": reason} if reason else {})
        return Node(
            format_id(identity % (1 << 64)), sql.LABELS[label], source, path, path.rpartition("/")[2], path, None,
            0, 0, 0, 0, 0, "", content_hash, properties,
        )  # fmt: skip

    def _list_parts(self, unit: int) -> list[tuple[int, str]]:
        """Return the texts of a unit with their first lines; bytes that are not UTF-8 become surrogates."""
        rows = self._run(sql.LIST_UNIT_TEXTS, (unit,)).fetchall()
        return [(line, self._text(number).decode("utf-8", "surrogateescape")) for line, number in rows]

    def list_nodes(self, labels: set[Label], source: str | None) -> Iterator[Node]:
        """Yield every node of some labels, grouped by text."""
        if Label.SOURCE in labels:
            yield from _keep(map(_make_source, self._run(sql.EXPORT_SOURCES).fetchall()), labels, source)
        if not labels.isdisjoint((Label.FILE, Label.ROW)):
            yield from _keep(map(self._make_unit, self._run(sql.EXPORT_UNITS)), labels, source)
        bits = sum(1 << sql.LABEL_NUMBERS[label] for label in labels)
        yield from map(self._make, self._run(sql.LIST_NODES, (bits, source)))
        if Label.CALL in labels:
            for _, calls in groupby(self._run(sql.LIST_CALLS, (source,)), itemgetter(0)):
                yield _make_call(next(calls))

    def export_nodes(self, vectors: bool) -> Iterator[dict[str, Any]]:
        """Yield every node as a JSON-ready line, ordered by label and id."""
        for row in self._run(sql.EXPORT_SOURCES).fetchall():
            yield export_node(_make_source(row))
        for row in self._run(sql.EXPORT_UNITS):
            yield export_node(self._make_unit(row)) | {"parts": self._list_parts(row[0])}
        for row in self._run(sql.EXPORT_NODES):
            node = self._make(row)
            yield export_node(node, self._read_vector(row[0]) if vectors and node.label in EMBEDDED_LABELS else None)
        for _, calls in groupby(self._run(sql.EXPORT_CALLS), itemgetter(0)):
            yield export_node(_make_call(next(calls)))  # of the rows that share it, the first by path

    def _read_vector(self, number: int) -> list[float]:
        from pkg.vectors.quantised import unpack_vectors

        data, dimension = fetch_known(self._connection, sql.GET_VECTOR, number)
        vector: list[float] = unpack_vectors([data], dimension)[0].tolist()
        return vector


def _make_source(row: tuple[Any, ...]) -> Node:
    identity, name, kind, root, *others = row
    optional = zip(("revision", "package"), others, strict=True)
    properties = {"root": root} | {key: value for key, value in optional if value}
    return Node(
        format_id(identity % (1 << 64)), Label.SOURCE, name, "", name, name, kind, 0, 0, 0, 0, 0, "", "", properties
    )


def _make_call(row: tuple[Any, ...]) -> Node:
    identity, *facts = row
    return make_call(format_id(identity % (1 << 64)), *facts)


def _keep(nodes: Iterable[Node], labels: set[Label], source: str | None) -> Iterator[Node]:
    return (node for node in nodes if node.label in labels and source in (None, node.source))
