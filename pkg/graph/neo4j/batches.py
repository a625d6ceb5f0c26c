"""Convert units to the parameters of one batch: nodes by label, relationships by type (docs/schema.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pkg.graph.graph_records import Omission, cut_value, pack_omissions, parse_docstring
from pkg.graph.neo4j.cypher import BATCH_LABELS, BATCH_TYPES, FRAGMENT, HOLDS
from pkg.graph.sqlite_rows import pack_rows, pack_text
from pkg.model import EMBEDDED_LABELS, Label, RelationType, Source
from pkg.units import Fragment, NodeRow, UnitGraph, format_id, hash_bytes, hash_key, name_library

if TYPE_CHECKING:
    import numpy.typing as npt

Properties = dict[str, Any]
NODE_BYTES = 300  # approximate size of a node in a message, without text and vector


def name_fragment(source: str, key: int) -> str:
    """Return the id of a fragment: equal keys in one source are the same fragment."""
    return format_id(hash_key(source, FRAGMENT, format_id(key)))


def name_unit(unit: UnitGraph) -> str:
    """Return the id of a file or row."""
    return format_id(hash_key(unit.source, unit.path, unit.label.value))


def name_source(source: str) -> str:
    """Return the id of a source."""
    return format_id(hash_key("Source", source))


def describe_source(source: Source) -> Properties:
    """Return the properties of a Source node that readers see."""
    return {
        "id": name_source(source.name), "source": source.name, "name": source.name, "kind": source.kind,
        "root": source.root, "revision": source.revision, "package": source.package or None,
    }  # fmt: skip


def describe_build(fingerprint: str, skipped: Sequence[Omission], stages: Mapping[str, float] | None) -> Properties:
    """Return the properties of a Source node that describe its last build."""
    return {"fingerprint": fingerprint, "skipped": pack_omissions(skipped), "stages": json.dumps(stages or {})}


def list_vectors(matrix: npt.NDArray[np.float16], packed: bool) -> list[Any]:
    """Return the rows of a matrix, float16 [rows, dimension], packed as the server's vector type or as lists of floats.

    A list takes nine bytes and a step of the driver per float; packing takes a tenth of the client's time.
    """
    if not packed:
        return list(matrix.astype(np.float32).tolist())
    from neo4j.vector import Vector

    return [Vector(row.tobytes(), "f32", byteorder="big") for row in matrix.astype(">f4")]


def make_name(source: str, name: str, vector: Any) -> Properties:
    """Return the properties of a FunctionName node."""
    identity = format_id(hash_key(source, Label.FUNCTION_NAME.value, name))
    content = format_id(hash_bytes(name.encode("utf-8", "replace")))
    return {"id": identity, "source": source, "name": name, "content_hash": content, "embedding": vector}


def make_library(source: str, name: str) -> Properties:
    """Return the properties of a Library node."""
    content = format_id(hash_bytes(name.encode("utf-8", "replace")))
    return {"id": name_library(source, name), "source": source, "name": name, "content_hash": content}


def measure_unit(unit: UnitGraph) -> int:
    """Estimate the bytes of a unit in a message, for batches of similar size."""
    fragments = [part.fragment for part in unit.parts if part.fragment is not None]
    return NODE_BYTES + sum(
        4 * len(each.text) + 5 * each.vectors.size + NODE_BYTES * len(each.nodes) for each in fragments
    )


Place = tuple[str, int]  # label and position in its list


@dataclass(frozen=True, slots=True)
class _Held:
    """A fragment of a batch, with its top-level nodes."""

    place: Place
    tops: list[tuple[Place, RelationType, int]]  # node, type of its relationship with the unit, line in the fragment


class Batch:
    """Parameters of cypher.put_batch for some units, and of the statements that follow it."""

    def __init__(self, units: Iterable[UnitGraph], stored: set[str], packed: bool = False) -> None:
        """Build the parameters; `stored` are the ids of fragments that are in the database."""
        self._stored = stored
        self._packed = packed
        self._nodes: dict[str, list[Properties]] = {name: [] for name in BATCH_LABELS}
        self._edges: dict[str, list[tuple[Place, Place, int | None]]] = {name: [] for name in BATCH_TYPES}
        self._held: dict[str, _Held] = {}
        self.again: list[tuple[str, str, int]] = []  # unit, stored fragment, first line
        self.missing: list[str] = []  # fragments expected in the database but missing
        for unit in units:
            self._add_unit(unit)

    @property
    def ids(self) -> set[str]:
        """Return the ids of all nodes of the batch."""
        return {node["id"] for nodes in self._nodes.values() for node in nodes}

    def parameters(self) -> dict[str, Any]:
        """Return the nodes by label, and (start, end, line) by type with ends as positions among all nodes."""
        first, offsets = 0, {}
        for name in BATCH_LABELS:
            offsets[name] = first
            first += len(self._nodes[name])
        parameters: dict[str, Any] = {name.lower(): nodes for name, nodes in self._nodes.items()}
        for name, edges in self._edges.items():
            parameters[name] = [[offsets[a] + i, offsets[b] + j, line] for (a, i), (b, j), line in edges]
        return parameters

    def _add(self, label: str, properties: Properties) -> Place:
        nodes = self._nodes[label]
        nodes.append(properties)
        return label, len(nodes) - 1

    def _add_unit(self, unit: UnitGraph) -> None:
        identity = name_unit(unit)
        place = self._add(
            unit.label.value,
            {
                "id": identity, "source": unit.source, "path": unit.path, "name": unit.path.rpartition("/")[2],
                "fingerprint": unit.fingerprint, "content_hash": unit.content_hash, "language": unit.language,
                "status": unit.status.value, "reason": unit.reason,
            },
        )  # fmt: skip
        fragments = {(key, first_line): fragment for key, first_line, fragment in unit.parts}
        for (key, first_line), fragment in fragments.items():
            self._hold(unit, place, name_fragment(unit.source, key), first_line, fragment)

    def _hold(self, unit: UnitGraph, place: Place, key: str, first_line: int, fragment: Fragment | None) -> None:
        if key not in self._held:
            if key in self._stored:
                self.again.append((name_unit(unit), key, first_line))
                return
            if fragment is None:
                self.missing.append(key)
                return
            self._held[key] = self._add_fragment(unit, key, fragment)
        held = self._held[key]
        self._edges[HOLDS].append((place, held.place, first_line))
        for top, kind, line in held.tops:
            self._edges[kind.value].append((place, top, first_line + line - 1))

    def _add_fragment(self, unit: UnitGraph, key: str, fragment: Fragment) -> _Held:
        texts = {"text": pack_text(fragment.text), "calls": pack_rows(fragment.calls), "terms": fragment.terms}
        held = _Held(
            self._add(FRAGMENT, {"id": key, "source": unit.source, "key": format_id(fragment.key)} | texts), []
        )
        shared = {"source": unit.source, "fragment": key}
        if unit.label is Label.FILE:
            shared["path"] = unit.path
        vectors = iter(list_vectors(fragment.vectors, self._packed))
        places: list[Place] = []
        for index, node in enumerate(fragment.nodes):
            properties = shared | _describe(node, index, fragment.text)
            if node.label in EMBEDDED_LABELS:
                properties["embedding"] = next(vectors)
            places.append(self._add(node.label.value, properties))
            if node.parent < 0:
                kind = RelationType.IMPORTS if node.label is Label.IMPORT else RelationType.CONTAINS
                held.tops.append((places[-1], kind, node.start_line))
            else:
                kind = _kind_inside(node, fragment.nodes[node.parent])
                self._edges[kind.value].append((places[node.parent], places[-1], None))
        return held


def _kind_inside(node: NodeRow, parent: NodeRow) -> RelationType:
    if node.label is Label.FACT:
        return RelationType.CHILD
    if node.label is not Label.BLOCK:
        return RelationType.CONTAINS
    return RelationType.CHILD if parent.label is Label.BLOCK else RelationType.HAS_BODY


def _describe(node: NodeRow, position: int, text: bytes) -> Properties:
    """Return the properties of a node; lines count from the start of its fragment, which for a file is the file."""
    content = text[node.start : node.end]
    properties: Properties = {
        "id": format_id(node.id), "name": node.name, "qualname": node.qualname, "kind": node.kind,
        "start": node.start, "end": node.end, "start_line": node.start_line, "end_line": node.end_line,
        "start_col": node.start - (text.rfind(b"\n", 0, node.start) + 1), "position": position,
        "content": content.decode("utf-8", "replace"), "content_hash": format_id(node.content_hash),
    }  # fmt: skip
    if node.label is Label.BLOCK:
        properties["depth"] = node.name.count("/")
        properties["caption"] = f"{node.kind} line {node.start_line}"
    own = dict(node.properties or {})
    docstring = own.pop("docstring", None)
    if isinstance(docstring, list):  # its position; a generated docstring is a text
        properties["docstring"] = parse_docstring(text[node.start + docstring[0] : node.start + docstring[1]])
    elif docstring is not None:
        properties["docstring"] = docstring
    if node.label is Label.CONSTANT:
        for name in own.keys() & {"value", "annotation"}:
            properties[name] = cut_value(text, node.start, own.pop(name))
    if node.label is Label.FUNCTION:
        properties["docstring_source"] = "human" if docstring else "none"
    return properties | own
