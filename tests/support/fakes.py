"""Fakes of the interfaces: an encoder that sums up words, and a graph store in memory with its state."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pkg.encode.encoder import Spans, Vectors
from pkg.errors import EncoderMismatchError, NodeNotFoundError, StoreError
from pkg.graph.graph_records import (
    LEAKS,
    Omission,
    cut_value,
    describe_change,
    drop_below,
    find_generated,
    list_nested,
    parse_import,
    read_audits,
    read_leaks,
    replace_leaks,
    write_audits,
)
from pkg.graph.store import StoreStats, Unfinished
from pkg.model import (
    DECLARATION_LABELS,
    EMBEDDED_LABELS,
    NOT_GENERATED,
    UNFOLDED_TYPES,
    Audit,
    Call,
    Edge,
    Generated,
    Label,
    Leak,
    LocalError,
    Match,
    Matches,
    Nested,
    Node,
    NodeFilter,
    Outline,
    RelationType,
    Skip,
    Source,
    Status,
    Unfolded,
    list_group,
)
from pkg.terms.index_segment import TextSegment, make_text_segments
from pkg.terms.inverted_index import TermScores
from pkg.terms.word_search import search_declarations, search_functions, search_text
from pkg.units import (
    Fragment,
    GeneratedChange,
    NodeRow,
    StoredFragment,
    UnitGraph,
    UnitLinks,
    find_owner,
    format_id,
    hash_bytes,
    hash_key,
    name_library,
)

_NAMED = (Label.FUNCTION, Label.CLASS, Label.CONSTANT)
_DRAFTED = (Label.FUNCTION, *DECLARATION_LABELS)
_WORD = re.compile(rb"[A-Za-z]+")


def passes_path(path: str, where: NodeFilter) -> bool:
    """Return whether a path passes a filter: globs one after the other, and names of test files one by one."""
    passes = not where.paths or where.paths[0].startswith("!")
    for glob in where.paths:
        if fnmatchcase(path, glob.removeprefix("!")):
            passes = not glob.startswith("!")
    *folders, name = path.split("/")
    stem, _, suffix = name.rpartition(".")
    named = stem == "conftest" or stem.startswith("test_") or stem.endswith(("_test", "_tests"))
    is_test = bool({"test", "tests", "testing"} & set(folders)) or (named and suffix in ("py", "pyi", "pyw"))
    return passes and where.tests in (None, is_test)


class FakeEncoder:
    """Encodes heading and text as the normalised sum of their lower-case words, each a fixed vector of signs."""

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
    """Changes a copy of the state; the store adopts it when the transaction succeeds."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._fresh: dict[str, npt.NDArray[np.float16]] | None = None  # vectors of a new encoder, by id
        self.changed = False

    def put_source(
        self,
        source: Source,
        fingerprint: str = "",
        skipped: Sequence[Omission] = (),
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
                raise StoreError(f"fragment {part.key:016x} is missing in the store; run the build again")
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
                raise StoreError(
                    f"no file or row '{each.path}' in source '{source}'; expected it to be put before its links"
                )
            before = self.state.links.get((source, each.path), UnitLinks(each.path))
            self.state.links[source, each.path] = each
            self.changed = self.changed or (before.edges, before.unbound) != (each.edges, each.unbound)

    def put_notes(self, source: str, notes: Mapping[str, bytes]) -> None:
        for path, text in notes.items():
            if (source, path) not in self.state.units:
                raise StoreError(
                    f"no file or row '{path}' in source '{source}'; expected it to be put before its notes"
                )
            self.state.links[source, path] = replace(self.state.links[source, path], notes=text)

    def put_generated(self, source: str, changes: Iterable[GeneratedChange]) -> None:
        self._check_source(source)
        for change in changes:
            fragment = self.state.fragments.get((source, change.key))
            if fragment is None:
                raise StoreError(f"no fragment {change.key:016x} in source '{source}'; run the command again")
            self._put_generated_of((source, change.key), fragment, change)

    def put_audit(self, audit: Audit, marks: Mapping[str, Collection[Leak]]) -> None:
        rows = [node for fragment in self.state.fragments.values() for node in fragment.nodes]
        labels = (Label.FUNCTION, Label.CLASS, Label.BLOCK, Label.MODULE)
        if missing := marks.keys() - {format_id(node.id) for node in rows if node.label in labels}:
            raise StoreError(f"no piece of code '{min(missing)}' in the store; run the command again")
        for key, fragment in self.state.fragments.items():
            nodes = tuple(_mark(node, audit.benchmark, marks.get(format_id(node.id), ())) for node in fragment.nodes)
            self.changed = self.changed or nodes != fragment.nodes
            self.state.fragments[key] = replace(fragment, nodes=nodes)
        written = write_audits(read_audits(self.state.audits), audit)
        self.changed, self.state.audits = self.changed or written != self.state.audits, written

    def _put_generated_of(self, key: tuple[str, int], fragment: Fragment, change: GeneratedChange) -> None:
        nodes, vectors = list(fragment.nodes), fragment.vectors.copy()
        places = {format_id(node.id): place for place, node in enumerate(nodes) if node.label is Label.FUNCTION}
        embedded = [format_id(node.id) for node in nodes if node.label in EMBEDDED_LABELS]
        for identity, texts in change.texts.items():
            if identity not in places:
                raise StoreError(f"no function '{identity}' in fragment {change.key:016x}; run the command again")
            node = nodes[places[identity]]
            before = node.properties or {}
            has_own = isinstance(before.get("docstring"), list)
            changes = describe_change(identity, find_generated(before), texts, has_own)
            if not changes:
                continue
            after = {key: value for key, value in (before | changes).items() if value is not None}
            nodes[places[identity]] = node._replace(properties=after or None)
            if identity in change.vectors:
                vectors[embedded.index(identity)] = change.vectors[identity]
            self.changed = True
        self.state.fragments[key] = replace(fragment, nodes=tuple(nodes), vectors=vectors, terms=change.terms)

    def flush(self) -> None:
        """Do nothing: everything is in memory."""

    def finish(self) -> None:
        """Drop everything unreferenced."""
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


def _mark(node: NodeRow, benchmark: str, leaks: Collection[Leak]) -> NodeRow:
    before = node.properties or {}
    texts = replace_leaks(before, benchmark, leaks)
    after = {name: value for name, value in before.items() if name != LEAKS} | ({LEAKS: texts} if texts else {})
    return node._replace(properties=after or None) if after != before else node


class FakeStore:
    """Keeps a graph in memory and searches it by brute force."""

    address = "memory:///"

    def __init__(self) -> None:
        self._state = State()
        self._held: State | None = None

    @property
    def _now(self) -> State:
        return self._held or self._state

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

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

    def stamp(self) -> str:
        return f"{id(self)} {self.generation()}"

    def fingerprints(self, source: str, paths: Collection[str] | None = None) -> Iterator[tuple[str, str, str]]:
        units = [(path, unit) for (owner, path), unit in sorted(self._now.units.items()) if owner == source]
        chosen = units if paths is None else [(path, unit) for path, unit in units if path in paths]
        return iter([(path, unit.fingerprint, unit.content_hash) for path, unit in chosen])

    def load_source(self, source: str, made_by: str, say: Callable[[str], None]) -> AbstractContextManager[FakeStore]:
        return nullcontext(self)

    def unfinished(self) -> list[Unfinished]:
        return []

    def link_notes(self, source: str) -> Iterator[tuple[str, bytes]]:
        links = sorted(self._now.links.items())
        return iter([(path, each.notes) for (owner, path), each in links if owner == source])

    def texts(self, source: str, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        for path in paths:
            unit = self._now.units.get((source, path))
            if unit is not None and unit.label is Label.FILE:
                yield path, b"".join(self._now.fragments[source, part.key].text for part in unit.parts)

    def generated_texts(self, source: str) -> Iterator[tuple[int, Generated]]:
        for (owner, _), fragment in sorted(self._now.fragments.items(), key=lambda item: item[0]):
            for node in fragment.nodes if owner == source else ():
                texts = find_generated(node.properties or {})
                if texts != NOT_GENERATED:
                    yield node.content_hash, texts

    def audits(self) -> tuple[Audit, ...]:
        return read_audits(self._now.audits)

    def leaks(self) -> Iterator[tuple[str, tuple[Leak, ...]]]:
        for fragment in self._now.fragments.values():
            for node in fragment.nodes:
                if leaks := read_leaks(node.properties or {}):
                    yield format_id(node.id), leaks

    def fragments(self, ids: Sequence[str]) -> Iterator[StoredFragment]:
        asked, files = set(ids), dict[tuple[str, int], str]()
        for unit in self._now.units.values():
            files |= {(unit.source, part.key): unit.path for part in unit.parts if unit.label is Label.FILE}
        for key, fragment in sorted(self._now.fragments.items(), key=lambda item: item[0]):
            inside = {format_id(node.id) for node in fragment.nodes if node.label in _DRAFTED}
            if not asked.isdisjoint(inside):
                yield StoredFragment(*key, files.get(key, ""), fragment.text, fragment.terms)

    def sources(self) -> tuple[Source, ...]:
        return tuple(source for _, source in sorted(self._now.sources.items()))

    def source_fingerprint(self, source: str) -> str | None:
        return self._now.notes[source][0] if source in self._now.notes else None

    def errors(self, source: str) -> tuple[LocalError, ...]:
        left_out = self._now.notes[source][1] if source in self._now.notes else ()
        return tuple(each for each in left_out if isinstance(each, LocalError))

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
        threshold: float = -1.0,
    ) -> Matches:
        return drop_below(self._search_vectors((label,), vector, k, where), threshold)

    def _search_vectors(
        self, labels: Collection[Label], vector: npt.NDArray[np.float32], k: int, where: NodeFilter | None
    ) -> Matches:
        if self._now.encoder is not None and len(vector) != self._encoder[1]:
            raise EncoderMismatchError(
                f"the query vector has {len(vector)} dimensions; {self.address} holds {self._encoder[1]}"
                f" (encoder '{self._encoder[0]}'); encode the query with that encoder"
            )
        entries = [entry for entry in self._now.read().values() if entry.node.label in labels]
        passing = [entry for entry in entries if self._passes(entry, where)]
        scored = [(_cosine(entry.vector, vector), entry.node) for entry in passing if entry.vector is not None]
        return _rank(scored, k, len(entries), len(entries) - len(passing))

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

    def search_declarations(
        self, vector: npt.NDArray[np.float32], terms: Mapping[str, float], k: int, where: NodeFilter | None = None
    ) -> tuple[Matches, Matches]:
        near = self._search_vectors(DECLARATION_LABELS, vector, k, replace(where, kinds=None) if where else None)
        return near, search_declarations(self, terms, k, where)

    def text_parts(self, ids: Sequence[str], terms: Mapping[str, float], label: Label = Label.FUNCTION) -> TermScores:
        return self.open_terms(label).split_ids(ids, terms)

    def open_terms(self, label: Label) -> TextSegment:
        fragments = sorted(self._now.fragments.items(), key=lambda item: (item[0][0], -item[0][1]))  # any order works
        return make_text_segments(((_number(key), key[0], each.terms) for key, each in fragments), [list_group(label)])[
            0
        ]

    def find_fragments(self, where: NodeFilter) -> list[int]:
        units = [unit for (_, path), unit in self._now.units.items() if passes_path(path, where)]
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
            and (not where.narrows_paths or any(passes_path(path, where) for path in paths))
            and (where.kinds is None or node.kind in where.kinds)
        )

    def find_name(self, name: str, source: str | None = None) -> list[Node]:
        nodes = [entry.node for entry in self._now.read().values() if entry.node.name == name]
        found = [n for n in nodes if n.label in _NAMED and source in (None, n.source)]
        return sorted(found, key=lambda node: (node.source, node.path, node.start_line, node.id))

    def find_names(self, names: Sequence[str], source: str | None = None) -> list[Node]:
        found = [node for name in set(names) for node in self.find_name(name, source)]
        return sorted(found, key=lambda node: (node.source, node.path, node.start_line, node.id))

    def get(self, ids: Sequence[str]) -> list[Node]:
        return [self._get_entry(node_id).node for node_id in ids]

    def _get_entry(self, node_id: str) -> Entry:
        entry = self._now.read().get(node_id)
        if entry is None:
            raise NodeNotFoundError(f"no node '{node_id}' in {self.address}; expected an id from a query")
        return entry

    def outlines(
        self, ids: Sequence[str], vector: npt.NDArray[np.float32], blocks_of: Sequence[str] = ()
    ) -> dict[str, Outline]:
        entries, outer = self._now.read(), set(blocks_of)
        found = [entries[each] for each in ids if each in entries]
        found = [entry for entry in found if entry.node.label in (Label.BLOCK, *_DRAFTED)]
        blocks = [entry for entry in entries.values() if entry.node.label is Label.BLOCK]
        found += [entry for entry in blocks if _find_function(entries, entry) in outer]
        found += [entries[_find_function(entries, entry)] for entry in found]
        return {entry.node.id: _outline(entry, vector) for entry in found}

    def unfold(self, ids: Sequence[str]) -> list[Unfolded]:
        nodes = self.get(ids)
        owners = [_find_function(self._now.read(), self._get_entry(node.id)) for node in nodes]
        return [
            Unfolded(node, self._list_blocks(node), tuple(self.neighbours([owner], UNFOLDED_TYPES, "out")))
            for node, owner in zip(nodes, owners, strict=True)
        ]

    def _list_blocks(self, node: Node) -> tuple[Nested, ...]:
        return () if node.label in DECLARATION_LABELS else list_nested(self.subtree(node.id))

    def subtree(self, node_id: str) -> list[Node]:
        outer = self._get_entry(node_id).node
        entries = self._now.read()
        unit = self._now.units.get((outer.source, outer.path)) if outer.label in (Label.FILE, Label.ROW) else None
        keys = {(outer.source, part.key) for part in unit.parts} if unit else set()
        inside = [e.node for e in entries.values() if e.fragment in keys or descends(entries, e, node_id)]
        found = [node for node in inside if node.label is not Label.IMPORT]
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
            found[unit] = [node for node in nodes if parse_import(node.properties).bound_name in wanted]
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

    def stats(self, source: str | None = None) -> StoreStats:
        state = self._now
        shown = sorted(owner for owner in state.sources if source in (None, owner))
        units = sorted((unit for unit in state.units.values() if unit.source in shown), key=lambda unit: unit.path)
        nodes = {key: entry.node for key, entry in state.read().items() if entry.node.source in shown}
        name, dimension = self._encoder
        left_out = [each for owner in shown for each in state.notes[owner][1]]
        return StoreStats(
            generation=state.generation,
            encoder=name,
            dimension=dimension,
            sources=tuple(each for each in self.sources() if each.name in shown),
            nodes=_count(node.label.value for node in nodes.values()),
            relations=_count(edge.type.value for edge in list_edges(state) if edge.start in nodes),
            partial=tuple(
                Skip(unit.path, unit.reason or unit.status.value)
                for unit in units
                if unit.status is not Status.OK or unit.reason is not None
            ),
            skipped=tuple(each for each in left_out if isinstance(each, Skip)),
            errors=tuple(each for each in left_out if isinstance(each, LocalError)),
            stages={owner: state.notes[owner][2] for owner in shown},
        )

    def repair_copies(self) -> list[str]:
        """Return nothing: there are no copies."""
        return []

    def exposed_files(self) -> list[Path]:
        """Return nothing: there are no files."""
        return []

    def check(self) -> list[str]:
        """Return nothing: a state is replaced as a whole or not at all."""
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
    return Outline(node.id, node.label, *place, *facts, _cosine(entry.vector, vector), "questions" in node.properties)


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
    """Sort by score and id, deduplicate equal content of a kind, keep k."""
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
    notes: dict[str, tuple[str, tuple[Omission, ...], dict[str, float]]] = field(default_factory=dict)
    units: dict[tuple[str, str], UnitGraph] = field(default_factory=dict)
    fragments: dict[tuple[str, int], Fragment] = field(default_factory=dict)
    names: dict[tuple[str, str], npt.NDArray[np.float16]] = field(default_factory=dict)
    links: dict[tuple[str, str], UnitLinks] = field(default_factory=dict)
    encoder: tuple[str, int] | None = None
    audits: str | None = None
    entries: dict[str, Entry] | None = None  # created on first read

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
            self.audits,
        )

    def read(self) -> dict[str, Entry]:
        if self.entries is None:
            self.entries = {entry.node.id: entry for entry in list_entries(self)}
        return self.entries


def replace_vectors(state: State, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
    """Replace the vector of every embedded node; raises StoreError for a node without one."""
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
    """Yield the nodes of a state; a fragment is shown at the first unit, by path, that contains it."""
    for name, source in sorted(state.sources.items()):
        told = {"root": source.root, "revision": source.revision, "package": source.package}
        facts = {key: value for key, value in told.items() if value}
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
    """Yield the referenced libraries and the unbound calls, without duplicates."""
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
    """Remove the relationships that lack an end."""
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
    """Return the properties of a node, its docstring read from the text."""
    properties = dict(row.properties or {})
    docstring = properties.pop("docstring", None)
    for name in properties.keys() & {"value", "annotation"}:
        properties[name] = cut_value(text, row.start, properties[name])
    if row.label is Label.FUNCTION:
        properties.setdefault("docstring_source", "human" if docstring else "none")
    if isinstance(docstring, (list, tuple)):
        literal = text[row.start + docstring[0] : row.start + docstring[1]].decode("utf-8", "replace")
        docstring = inspect.cleandoc(str(ast.literal_eval(literal)))
    if docstring is not None:
        properties["docstring"] = docstring
    return properties


def _unit_id(unit: UnitGraph) -> str:
    return format_id(hash_key(unit.source, unit.path, unit.label.value))


def list_edges(state: State) -> list[Edge]:
    """Derive the structure from parents and parts, and add the stored relationships."""
    entries = state.read()
    edges = [edge for links in state.links.values() for edge in _list_links(links)]
    edges = list(dict.fromkeys(edges))  # rows that share a body have equal edges
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
        return RelationType.CHILD if child.label is Label.FACT else RelationType.CONTAINS
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
    """Return one node as a JSON-ready line; a file or row includes its text."""
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
