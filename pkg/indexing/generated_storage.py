"""Store generated docstrings and questions in a graph, or remove them, in batches.

The nodes of stored functions are rebuilt with other texts, as a build would make them, without a build.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pkg.extract.python import extract_unit
from pkg.graph.graph_records import find_generated
from pkg.indexing.fields import FieldReader, extract_terms
from pkg.indexing.pending_nodes import CodePieces, PendingNodes, pack_node_terms
from pkg.indexing.written_docstrings import GeneratedTexts
from pkg.model import NOT_GENERATED, Docstring, Generated, Label, Questions, Span
from pkg.terms.packed_terms import TERM_LABELS, unpack_terms
from pkg.units import GeneratedChange, NodeRow, StoredFragment, format_id
from pkg.vectors.quantised import round_vectors

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore

FRAGMENTS_AT_ONCE = 50  # rebuilt together: some hundred functions amortise the fixed costs of encoding


def list_changes(
    fragments: Iterable[StoredFragment],
    generated: GeneratedTexts,
    hashes: Collection[int],
    encoded: Collection[int],
    encoder: Encoder,
) -> Iterator[GeneratedChange]:
    """Yield the changes of fragments whose functions, given by content hash, get or lose generated texts.

    generated: the new texts of all functions of the source. encoded: content hashes of the functions whose docstring
    changes, and with it their vector. A fragment whose nodes depend on the rest of its row is skipped, because its
    rebuilt nodes would differ from those of the graph.
    """
    reader, batch = FieldReader(), list[StoredFragment]()
    for fragment in fragments:
        batch.append(fragment)
        if len(batch) == FRAGMENTS_AT_ONCE:
            yield from _change_batch(batch, generated, hashes, encoded, encoder, reader)
            batch = []
    yield from _change_batch(batch, generated, hashes, encoded, encoder, reader)


def _change_batch(
    fragments: Sequence[StoredFragment],
    generated: GeneratedTexts,
    hashes: Collection[int],
    encoded: Collection[int],
    encoder: Encoder,
    reader: FieldReader,
) -> Iterator[GeneratedChange]:
    pending = [rebuild_nodes(each, generated) for each in fragments]
    terms = extract_terms(reader, [nodes.fields for nodes in pending])
    packed = [pack_node_terms(nodes.nodes, each) for nodes, each in zip(pending, terms, strict=True)]
    texts, headings = [], []
    moved: list[list[str]] = []  # ids of the functions of each fragment that are encoded again
    for nodes in pending:
        text = nodes.encoded_text
        rows = [(place, row) for place, row in _list_chosen(nodes, encoded) if not _has_own_docstring(row)]
        texts += [text[slice(*nodes.spans[place])] for place, _ in rows]
        headings += [nodes.headings[place] for place, _ in rows]
        moved.append([format_id(row.id) for _, row in rows])
    vectors = iter(round_vectors(encoder.encode(texts, headings)) if texts else ())
    for stored, blob, nodes, ids in zip(fragments, packed, pending, moved, strict=True):
        found = {identity: next(vectors) for identity in ids}
        rows = _list_chosen(nodes, hashes)
        if rows and _has_same_nodes(stored.terms, blob):
            written = {format_id(row.id): find_generated(row.properties or {}) for _, row in rows}
            yield GeneratedChange(stored.key, written, found, blob)


def rebuild_nodes(fragment: StoredFragment, generated: GeneratedTexts) -> PendingNodes:
    """Rebuild the nodes of a stored fragment."""
    code = extract_unit(fragment.text, with_summary=False)
    place = fragment.source, fragment.path or format_id(fragment.key)
    return PendingNodes(CodePieces(code), Span(0, len(code.text), 1, 1), place, fragment.path, generated)


def _list_chosen(nodes: PendingNodes, hashes: Collection[int]) -> list[tuple[int, NodeRow]]:
    """List the functions of some content hashes, each with its index."""
    rows = enumerate(nodes.embedded)
    return [(place, row) for place, row in rows if row.label is Label.FUNCTION and row.content_hash in hashes]


def _has_own_docstring(row: NodeRow) -> bool:
    return isinstance((row.properties or {}).get("docstring"), list)


def _has_same_nodes(before: bytes, after: bytes) -> bool:
    """Return whether two blobs of terms belong to the same nodes."""
    keys = [unpack_terms([blob], TERM_LABELS).keys for blob in (before, after)]
    return all(np.array_equal(one, other) for one, other in zip(*keys, strict=True))


Choose: TypeAlias = Callable[[int, Generated], Generated]
"""Returns the new texts of a function, given its content hash and its present texts."""

AT_ONCE = 2_000  # functions per transaction: removing 100,000 stays small in memory, and can be interrupted


class GeneratedStorage:
    """Store generated texts of one source by the hash of their functions' code.

    The source's texts are kept in memory, because rebuilding a fragment needs those of all its functions; they are
    read again after another process has written.
    """

    def __init__(self, store: GraphStore, source: str, encoder: Encoder) -> None:
        self._store, self._source, self._encoder = store, source, encoder
        self._known: dict[int, Generated] = {}
        self._generation: int | None = None  # of the store when the texts were read

    def add(self, written: Mapping[int, Docstring | Questions], ids: Iterable[str]) -> None:
        """Set the docstrings or questions of functions, and keep their other texts, as put does."""
        self._read()
        known = {hashed: self._known.get(hashed, NOT_GENERATED) for hashed in written}
        self.put(
            {
                hashed: replace(known[hashed], docstring=each)
                if isinstance(each, Docstring)
                else replace(known[hashed], questions=each)
                for hashed, each in written.items()
            },
            ids,
        )

    def put(self, generated: Mapping[int, Generated], ids: Iterable[str]) -> None:
        """Set or remove the texts of functions by content hash; ids are those of the functions.

        Functions that have changed since are skipped. Raises what writing to a store raises.
        """
        with self._store.write() as writer:
            self._read()
            before = self._known
            after = {hashed: each for hashed, each in {**before, **generated}.items() if each != NOT_GENERATED}
            encoded = {
                hashed
                for hashed, each in generated.items()
                if before.get(hashed, NOT_GENERATED).docstring != each.docstring
            }
            fragments = self._store.fragments(sorted(ids))
            changes = list_changes(fragments, after, generated.keys(), encoded, self._encoder)
            writer.put_generated(self._source, changes)
        self._known, self._generation = after, self._store.generation()

    def _read(self) -> None:
        """Read the texts of the source again if the store has changed."""
        if self._generation != self._store.generation():
            self._known = dict(self._store.generated_texts(self._source))
            self._generation = self._store.generation()


def remove_generated(store: GraphStore, source: str, model: str, encoder: Encoder, questions: bool = False) -> int:
    """Remove the docstrings or the questions of a model from a source; return the number of functions that had some.

    Without docstrings the result is the paper's graph without an enhancer (P-11).

    Raises what reading and writing a store raises.
    """

    def choose(hashed: int, found: Generated) -> Generated:
        text = found.questions if questions else found.docstring
        if text is None or text.model != model:
            return found
        return replace(found, questions=None) if questions else replace(found, docstring=None)

    return _change(store, source, choose, encoder)


def match_generated(store: GraphStore, source: str, wanted: GeneratedTexts, encoder: Encoder) -> int:
    """Set the generated texts of a source to exactly these; return the number of changed functions.

    Raises what reading and writing a store raises.
    """
    return _change(store, source, lambda hashed, found: wanted.get(hashed, NOT_GENERATED), encoder)


def _change(store: GraphStore, source: str, choose: Choose, encoder: Encoder) -> int:
    """Store the chosen texts of each function if they have changed, in batches."""
    changed: dict[int, tuple[Generated, list[str]]] = {}
    for node in store.nodes([Label.FUNCTION], source):
        hashed, found = int(node.content_hash, 16), find_generated(node.properties)
        chosen = choose(hashed, found)
        if node.properties.get("docstring_source") == "human":
            chosen = replace(chosen, docstring=None)
        if chosen != found:
            changed.setdefault(hashed, (chosen, []))[1].append(node.id)
    storage, hashes = GeneratedStorage(store, source, encoder), sorted(changed)
    for start in range(0, len(hashes), AT_ONCE):
        some = {hashed: changed[hashed] for hashed in hashes[start : start + AT_ONCE]}
        ids = [identity for _, listed in some.values() for identity in listed]
        storage.put({hashed: texts for hashed, (texts, _) in some.items()}, ids)
    return sum(len(ids) for _, ids in changed.values())
