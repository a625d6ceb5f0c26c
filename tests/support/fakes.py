"""Hand-written stand-ins for the ports: a graph store in memory and an encoder that adds up words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from fake_state import (
    Entry,
    State,
    descends,
    drop_loose_links,
    edge_order,
    export_node,
    list_edges,
    replace_vectors,
)

from pkg.encode.encoder import Spans, Vectors
from pkg.errors import EncoderMismatchError, NodeNotFoundError, StoreError
from pkg.graph.store import StoreStats
from pkg.graph.texts import drop_below, list_nested, read_import
from pkg.model import (
    UNFOLDED_TYPES,
    Call,
    Edge,
    Label,
    Match,
    Matches,
    Node,
    NodeFilter,
    Outline,
    RelationType,
    Skip,
    Source,
    Status,
    Unfolded,
)
from pkg.terms.index_segment import TextSegment, make_text_segment
from pkg.terms.inverted_index import TextParts
from pkg.terms.word_search import search_functions, search_text
from pkg.units import UnitGraph, UnitLinks, find_owner, hash_key

_WORD = re.compile(rb"[A-Za-z]+")


class FakeEncoder:
    """Encode heading and text as the sum of their lower-case words, each a fixed vector of signs, at length 1."""

    name = "fake"
    dimension = 256

    def encode(self, texts: Sequence[bytes], headings: Sequence[str] = ()) -> Vectors:
        headed = zip(headings or [""] * len(texts), texts, strict=True)
        rows = [self._sum_words(heading.encode() + b" " + text) for heading, text in headed]
        return np.array(rows, np.float32).reshape(len(texts), self.dimension)

    def encode_query(self, text: str) -> Vectors:
        query: Vectors = self.encode([text.encode()])[0]
        return query

    def encode_spans(self, text: bytes, spans: Spans, headings: Sequence[str] = ()) -> Vectors:
        return self.encode([text[start:end] for start, end in spans.tolist()], headings)

    def encode_without(self, text: bytes, cuts: Spans, heading: str = "") -> Vectors:
        texts = [text[:start] + b" " + text[end:] for start, end in cuts.tolist()]
        return self.encode(texts, [heading] * len(texts))

    def _sum_words(self, text: bytes) -> npt.NDArray[np.float32]:
        total = np.zeros(self.dimension, np.float32)
        for word in _WORD.findall(text):
            bits = np.frombuffer(blake2b(word.lower(), digest_size=self.dimension // 8).digest(), np.uint8)
            total += np.unpackbits(bits) * np.float32(2) - 1
        length = float(np.sqrt((total * total).sum()))
        return total / np.float32(length) if length else total


class FakeWriter:
    """Change a copy of the state; the store takes it over when the transaction ends well."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._fresh: dict[str, npt.NDArray[np.float16]] | None = None  # vectors of a new encoder, by id
        self.changed = False

    def put_source(
        self,
        source: Source,
        fingerprint: str = "",
        skipped: Sequence[Skip] = (),
        stages: Mapping[str, float] | None = None,
    ) -> None:
        self.state.sources[source.name] = source
        self.state.notes[source.name] = fingerprint, tuple(skipped), dict(stages or {})
        self.changed = True

    def put_fingerprint(self, source: str, path: str, fingerprint: str) -> None:
        unit = self.state.units[source, path]
        self.state.units[source, path] = replace(unit, fingerprint=fingerprint)

    def replace_file(self, unit: UnitGraph) -> None:
        self._check_source(unit.source)
        self._remove(unit.source, unit.path)
        self._sweep()
        for part in unit.parts:
            if part.fragment is not None:
                self.state.fragments.setdefault((unit.source, part.key), part.fragment)
            elif (unit.source, part.key) not in self.state.fragments:
                raise StoreError(f"fragment {part.key:016x} was announced as stored, and is not; run the build again")
        self.state.units[unit.source, unit.path] = unit
        self.changed = True

    def delete_file(self, source: str, path: str) -> None:
        self._check_source(source)
        self.changed = self._remove(source, path) or self.changed

    def _remove(self, source: str, path: str) -> bool:
        self.state.links.pop((source, path), None)
        return self.state.units.pop((source, path), None) is not None

    def delete_source(self, source: str) -> None:
        self._check_source(source)
        for key in [key for key in self.state.units if key[0] == source]:
            self._remove(*key)
        del self.state.sources[source], self.state.notes[source]
        self.changed = True

    def missing_names(self, source: str, first: str = "", limit: int = 4096) -> list[str]:
        missing = self._defined() - set(self.state.names)
        return sorted(name for owner, name in missing if owner == source and name >= first)[:limit]

    def put_names(self, source: str, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
        for name, vector in vectors.items():
            self.state.names.setdefault((source, name), vector)
            self.changed = True

    def put_encoder(self, encoder: str, dimension: int) -> None:
        self.state.encoder, self._fresh, self.changed = (encoder, dimension), {}, True

    def put_vectors(self, label: Label, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
        assert self._fresh is not None, "the encoder comes before its vectors"
        self._fresh |= vectors

    def put_links(self, source: str, links: Iterable[UnitLinks]) -> None:
        self._check_source(source)
        for each in links:
            if (source, each.path) not in self.state.units:
                raise StoreError(f"no file or row '{each.path}' in source '{source}'; expected it before its links")
            before = self.state.links.get((source, each.path), UnitLinks(each.path))
            self.state.links[source, each.path] = each
            self.changed = self.changed or (before.edges, before.unbound) != (each.edges, each.unbound)

    def put_notes(self, source: str, notes: Mapping[str, bytes]) -> None:
        for path, text in notes.items():
            if (source, path) not in self.state.units:
                raise StoreError(f"no file or row '{path}' in source '{source}'; expected it before its notes")
            self.state.links[source, path] = replace(self.state.links[source, path], notes=text)

    def flush(self) -> None:
        """Do nothing: all is in memory."""

    def finish(self) -> None:
        """Drop what nothing refers to any more."""
        if self._fresh is not None:
            replace_vectors(self.state, self._fresh)
        self._sweep()
        defined = self._defined()
        self.state.names = {key: vector for key, vector in self.state.names.items() if key in defined}
        drop_loose_links(self.state)
        self.state.generation += self.changed

    def _sweep(self) -> None:
        used = {(source, part.key) for (source, _), unit in self.state.units.items() for part in unit.parts}
        self.state.fragments = {key: value for key, value in self.state.fragments.items() if key in used}

    def _defined(self) -> set[tuple[str, str]]:
        return {
            (source, node.name)
            for (source, _), fragment in self.state.fragments.items()
            for node in fragment.nodes
            if node.label is Label.FUNCTION
        }

    def _check_source(self, name: str) -> None:
        if name not in self.state.sources:
            raise StoreError(f"no source '{name}' in the store; expected put_source before its files")


class FakeStore:
    """Keep a graph in memory and search it by brute force."""

    address = "memory:///"

    def __init__(self) -> None:
        self._state = State()
        self._held: State | None = None

    @property
    def _now(self) -> State:
        return self._held or self._state

    def close(self) -> None:
        """Keep everything: there is nothing to release."""

    def ensure_schema(self, encoder: str, dimension: int) -> None:
        if self._now.encoder not in (None, (encoder, dimension)):
            raise EncoderMismatchError(
                f"{self.address} holds vectors of encoder '{self._encoder[0]}' with {self._encoder[1]} dimensions,"
                f" not of '{encoder}' with {dimension}; use that encoder, or another --store"
            )
        self._state.encoder = encoder, dimension

    @property
    def _encoder(self) -> tuple[str, int]:
        return self._now.encoder or ("", 0)

    def encoder(self) -> tuple[str, int]:
        return self._encoder

    def generation(self) -> int:
        return self._now.generation

    def fingerprints(self, source: str) -> Iterator[tuple[str, str, str]]:
        units = sorted(self._now.units.items())
        return iter([(path, unit.fingerprint, unit.content_hash) for (owner, path), unit in units if owner == source])

    def link_notes(self, source: str) -> Iterator[tuple[str, bytes]]:
        links = sorted(self._now.links.items())
        return iter([(path, each.notes) for (owner, path), each in links if owner == source])

    def texts(self, source: str, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        for path in paths:
            unit = self._now.units.get((source, path))
            if unit is not None and unit.label is Label.FILE:
                yield path, b"".join(self._now.fragments[source, part.key].text for part in unit.parts)

    def sources(self) -> tuple[Source, ...]:
        return tuple(source for _, source in sorted(self._now.sources.items()))

    def source_fingerprint(self, source: str) -> str | None:
        return self._now.notes[source][0] if source in self._now.notes else None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        outer, self._held = self._held, self._now
        try:
            yield
        finally:
            self._held = outer

    @contextmanager
    def write(self) -> Iterator[FakeWriter]:
        writer = FakeWriter(self._state.copy())
        yield writer
        writer.finish()
        self._state = writer.state

    def vector_search(
        self,
        label: Label,
        vector: npt.NDArray[np.float32],
        k: int,
        where: NodeFilter | None = None,
        floor: float = -1.0,
    ) -> Matches:
        if self._now.encoder is not None and len(vector) != self._encoder[1]:
            raise EncoderMismatchError(
                f"the query vector has {len(vector)} dimensions; {self.address} holds {self._encoder[1]}"
                f" (encoder '{self._encoder[0]}'); encode the query with that encoder"
            )
        entries = [entry for entry in self._now.read().values() if entry.node.label is label]
        passing = [entry for entry in entries if self._passes(entry, where)]
        scored = [(_cosine(entry.vector, vector), entry.node) for entry in passing if entry.vector is not None]
        return drop_below(_rank(scored, k, len(entries), len(entries) - len(passing)), floor)

    def text_search(self, label: Label, terms: Mapping[str, float], k: int, where: NodeFilter | None = None) -> Matches:
        return search_text(self, label, terms, k, where)

    def hybrid_search(
        self,
        label: Label,
        vector: npt.NDArray[np.float32],
        terms: Mapping[str, float],
        k: int,
        where: NodeFilter | None = None,
    ) -> tuple[Matches, Matches]:
        return self.vector_search(label, vector, k, where), search_functions(self, terms, k, where)

    def text_parts(self, ids: Sequence[str], terms: Mapping[str, float]) -> TextParts:
        return self.open_terms(Label.FUNCTION).split_ids(ids, terms)

    def open_terms(self, label: Label) -> TextSegment:
        fragments = sorted(self._now.fragments.items(), key=lambda item: (item[0][0], -item[0][1]))  # any order will do
        return make_text_segment([(_number(key), key[0], each.terms) for key, each in fragments], label)

    def find_fragments(self, pattern: str) -> list[int]:
        units = [unit for (_, path), unit in self._now.units.items() if fnmatchcase(path, pattern)]
        return [_number((unit.source, part.key)) for unit in units for part in unit.parts]

    def read_nodes(self, ids: list[str]) -> list[Node]:
        return self.get(ids)

    def read_inside(self, node: Node) -> list[Node]:
        return self.subtree(node.id)

    def _passes(self, entry: Entry, where: NodeFilter | None) -> bool:
        if where is None:
            return True
        node = entry.node
        paths = [
            path
            for (source, path), unit in self._now.units.items()
            if entry.fragment and source == entry.fragment[0] and any(p.key == entry.fragment[1] for p in unit.parts)
        ]
        return (
            where.source in (None, node.source)
            and (where.path is None or any(fnmatchcase(path, where.path) for path in paths))
            and (where.kinds is None or node.kind in where.kinds)
        )

    def find_name(self, name: str, source: str | None = None) -> list[Node]:
        nodes = [entry.node for entry in self._now.read().values() if entry.node.name == name]
        found = [n for n in nodes if n.label in (Label.FUNCTION, Label.CLASS) and source in (None, n.source)]
        return sorted(found, key=lambda node: (node.source, node.path, node.start_line, node.id))

    def find_names(self, names: Sequence[str], source: str | None = None) -> list[Node]:
        found = [node for name in set(names) for node in self.find_name(name, source)]
        return sorted(found, key=lambda node: (node.source, node.path, node.start_line, node.id))

    def get(self, ids: Sequence[str]) -> list[Node]:
        return [self._get_entry(node_id).node for node_id in ids]

    def _get_entry(self, node_id: str) -> Entry:
        entry = self._now.read().get(node_id)
        if entry is None:
            raise NodeNotFoundError(f"no node '{node_id}' in {self.address}; expected an id that a query gave")
        return entry

    def outlines(
        self, ids: Sequence[str], vector: npt.NDArray[np.float32], blocks_of: Sequence[str] = ()
    ) -> dict[str, Outline]:
        entries, outer = self._now.read(), set(blocks_of)
        found = [entries[each] for each in ids if each in entries]
        found = [entry for entry in found if entry.node.label in (Label.FUNCTION, Label.BLOCK)]
        blocks = [entry for entry in entries.values() if entry.node.label is Label.BLOCK]
        found += [entry for entry in blocks if _find_function(entries, entry) in outer]
        found += [entries[_find_function(entries, entry)] for entry in found]
        return {entry.node.id: _outline(entry, vector) for entry in found}

    def unfold(self, ids: Sequence[str]) -> list[Unfolded]:
        nodes = self.get(ids)
        owners = [_find_function(self._now.read(), self._get_entry(node.id)) for node in nodes]
        return [
            Unfolded(node, list_nested(self.subtree(node.id)), tuple(self.neighbours([owner], UNFOLDED_TYPES, "out")))
            for node, owner in zip(nodes, owners, strict=True)
        ]

    def subtree(self, node_id: str) -> list[Node]:
        outer = self._get_entry(node_id).node
        entries = self._now.read()
        unit = self._now.units.get((outer.source, outer.path)) if outer.label in (Label.FILE, Label.ROW) else None
        keys = {(outer.source, part.key) for part in unit.parts} if unit else set()
        inside = [e.node for e in entries.values() if e.fragment in keys or descends(entries, e, node_id)]
        found = [node for node in inside if node.label in (Label.CLASS, Label.FUNCTION, Label.BLOCK)]
        return sorted(found, key=lambda node: (node.path, node.start_line, node.start, -node.end))

    def calls(self, node_id: str) -> list[Call]:
        entry = self._get_entry(node_id)
        return [call for call in entry.calls if entry.node.start_line <= call.line <= entry.node.end_line]

    def imports(self, names: Mapping[str, Collection[str]]) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for unit, wanted in names.items():
            edges = self.neighbours([unit], [RelationType.IMPORTS], "out")
            ordered = sorted(edges, key=lambda edge: (edge.line or 0, edge.end))
            nodes = self.get([edge.end for edge in ordered])
            found[unit] = [node for node in nodes if read_import(node.properties).bound_name in wanted]
        return found

    def neighbours(
        self, ids: Sequence[str], types: Iterable[RelationType] | None = None, direction: str = "both", depth: int = 1
    ) -> list[Edge]:
        wanted = None if types is None else set(types)
        seen = frontier = {self._get_entry(node_id).node.id for node_id in ids}
        edges: set[Edge] = set()
        for _ in range(depth):
            reached: set[str] = set()
            for edge in list_edges(self._now):
                leaves, enters = (
                    direction != "in" and edge.start in frontier,
                    direction != "out" and edge.end in frontier,
                )
                if (leaves or enters) and (wanted is None or edge.type in wanted):
                    edges.add(edge)
                    reached |= {edge.start, edge.end}
            frontier, seen = reached - seen, seen | reached
        return sorted(edges, key=edge_order)

    def stats(self) -> StoreStats:
        state = self._now
        units = sorted(state.units.values(), key=lambda unit: unit.path)
        name, dimension = self._encoder
        return StoreStats(
            generation=state.generation,
            encoder=name,
            dimension=dimension,
            sources=self.sources(),
            nodes=_count(entry.node.label.value for entry in state.read().values()),
            relations=_count(edge.type.value for edge in list_edges(state)),
            partial=tuple(
                Skip(unit.path, unit.reason or unit.status.value)
                for unit in units
                if unit.status is not Status.OK or unit.reason is not None
            ),
            skipped=tuple(skip for source in sorted(state.notes) for skip in state.notes[source][1]),
            stages={source: state.notes[source][2] for source in sorted(state.notes)},
        )

    def mend_copies(self) -> list[str]:
        """Mend nothing: there are no copies."""
        return []

    def wider_files(self) -> list[Path]:
        """List nothing: there are no files."""
        return []

    def check(self) -> list[str]:
        """Find nothing: a state is replaced as a whole or not at all."""
        return []

    def export(self, vectors: bool = False) -> Iterator[dict[str, Any]]:
        name, dimension = self._encoder
        yield {"type": "graph", "version": 1, "encoder": name, "dimension": dimension}
        order = {label: number for number, label in enumerate(Label)}
        entries = self._now.read().values()
        for entry in sorted(entries, key=lambda entry: (order[entry.node.label], entry.node.id)):
            yield export_node(self._now, entry, vectors)
        for edge in sorted(list_edges(self._now), key=edge_order):
            line = {"name": edge.type.value, "start": edge.start, "end": edge.end, "line": edge.line}
            line |= {"rule": edge.rule, "confidence": edge.confidence}
            yield {"type": "relation", **{key: value for key, value in line.items() if value is not None}}

    def nodes(self, labels: Iterable[Label], source: str | None = None) -> Iterator[Node]:
        wanted = set(labels)
        found = [entry.node for entry in self._now.read().values()]
        return iter([node for node in found if node.label in wanted and source in (None, node.source)])

    def edges(self, types: Iterable[RelationType], source: str | None = None) -> Iterator[Edge]:
        wanted, entries = set(types), self._now.read()
        found = [edge for edge in list_edges(self._now) if edge.type in wanted]
        return iter([edge for edge in found if source in (None, entries[edge.start].node.source)])


def _outline(entry: Entry, vector: npt.NDArray[np.float32]) -> Outline:
    node = entry.node
    assert entry.vector is not None
    qualname = node.name if node.label is Label.BLOCK else node.qualname
    lines = node.end_line - node.start_line + 1
    place = node.source, node.path, node.name, qualname
    facts = node.kind, lines, node.content_hash, find_owner(node.id, node.label, node.name)
    return Outline(node.id, node.label, *place, *facts, _cosine(entry.vector, vector))


def _find_function(entries: dict[str, Entry], entry: Entry) -> str:
    while entry.node.label is Label.BLOCK and entry.parent is not None:
        entry = entries[entry.parent]
    return entry.node.id


def _cosine(vector: npt.NDArray[np.float16], query: npt.NDArray[np.float32]) -> float:
    row = vector.astype(np.float64)
    lengths = float(np.linalg.norm(row) * np.linalg.norm(query))
    return float(row @ query) / lengths if lengths else 0.0


def _number(fragment: tuple[str, int]) -> int:
    """Number a fragment by its source and its key."""
    return hash_key(fragment[0], str(fragment[1])) >> 1


def _rank(scored: list[tuple[float, Node]], k: int, searched: int, filtered: int) -> Matches:
    """Order by score and id, fold equal content into the best of its kind, keep k."""
    firsts: dict[str, Match] = {}
    for score, node in sorted(scored, key=lambda item: (-item[0], item[1].id)):
        first = firsts.get(node.content_hash)
        firsts[node.content_hash] = (
            first._replace(same_content=first.same_content + 1) if first else Match(node.id, score)
        )
    kept = tuple(firsts.values())[:k]
    return Matches(kept, searched, filtered, sum(match.same_content for match in kept))


def _count(values: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return dict(sorted(counts.items()))
