"""Store generated docstrings in a graph, or remove them, in batches.

The nodes of stored functions are rebuilt with other docstrings, as a build would make them, without a build.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pkg.extract.python import extract_unit
from pkg.graph.graph_records import find_docstring
from pkg.indexing.fields import FieldReader, extract_terms
from pkg.indexing.pending_nodes import CodePieces, PendingNodes, pack_node_terms
from pkg.indexing.written_docstrings import Docstrings
from pkg.model import Docstring, Label, Span
from pkg.terms.packed_terms import TERM_LABELS, unpack_terms
from pkg.units import DocstringChange, NodeRow, StoredFragment, format_id
from pkg.vectors.quantised import round_vectors

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore

FRAGMENTS_AT_ONCE = 50  # rebuilt together: some hundred functions amortise the fixed costs of encoding


def list_changes(
    fragments: Iterable[StoredFragment], docstrings: Docstrings, hashes: Collection[int], encoder: Encoder
) -> Iterator[DocstringChange]:
    """Yield the changes of fragments whose functions, given by content hash, get or lose a docstring.

    docstrings: the new docstrings of all functions of the source. A fragment whose nodes depend on the rest of its row
    is skipped, because its rebuilt nodes would differ from those of the graph.
    """
    reader, batch = FieldReader(), list[StoredFragment]()
    for fragment in fragments:
        batch.append(fragment)
        if len(batch) == FRAGMENTS_AT_ONCE:
            yield from _change_batch(batch, docstrings, hashes, encoder, reader)
            batch = []
    yield from _change_batch(batch, docstrings, hashes, encoder, reader)


def _change_batch(
    fragments: Sequence[StoredFragment],
    docstrings: Docstrings,
    hashes: Collection[int],
    encoder: Encoder,
    reader: FieldReader,
) -> Iterator[DocstringChange]:
    pending = [rebuild_nodes(each, docstrings) for each in fragments]
    terms = extract_terms(reader, [nodes.fields for nodes in pending])
    packed = [pack_node_terms(nodes.nodes, each) for nodes, each in zip(pending, terms, strict=True)]
    chosen = [_list_chosen(nodes, hashes) for nodes in pending]
    texts, headings = [], []
    for nodes, rows in zip(pending, chosen, strict=True):
        encoded = nodes.encoded_text
        texts += [encoded[slice(*nodes.spans[place])] for place, _ in rows]
        headings += [nodes.headings[place] for place, _ in rows]
    vectors = round_vectors(encoder.encode(texts, headings))
    of_each = np.split(vectors, np.cumsum([len(rows) for rows in chosen])[:-1]) if chosen else []
    for stored, blob, rows, found in zip(fragments, packed, chosen, of_each, strict=True):
        if rows and _has_same_nodes(stored.terms, blob):
            written = {format_id(row.id): find_docstring(row.properties or {}) for _, row in rows}
            yield DocstringChange(stored.key, written, found, blob)


def rebuild_nodes(fragment: StoredFragment, docstrings: Docstrings) -> PendingNodes:
    """Rebuild the nodes of a stored fragment."""
    code = extract_unit(fragment.text, with_summary=False)
    place = fragment.source, fragment.path or format_id(fragment.key)
    return PendingNodes(CodePieces(code), Span(0, len(code.text), 1, 1), place, fragment.path, docstrings)


def _list_chosen(nodes: PendingNodes, hashes: Collection[int]) -> list[tuple[int, NodeRow]]:
    """List the functions of some content hashes that have no docstring of their own, each with its index."""
    return [
        (place, row)
        for place, row in enumerate(nodes.embedded)
        if row.label is Label.FUNCTION
        and row.content_hash in hashes
        and not isinstance((row.properties or {}).get("docstring"), list)
    ]


def _has_same_nodes(before: bytes, after: bytes) -> bool:
    """Return whether two blobs of terms belong to the same nodes."""
    keys = [unpack_terms([blob], TERM_LABELS).keys for blob in (before, after)]
    return all(np.array_equal(one, other) for one, other in zip(*keys, strict=True))


Choose: TypeAlias = Callable[[int, "Docstring | None"], "Docstring | None"]
"""Returns the new docstring of a function, given its content hash and its present docstring."""

AT_ONCE = 2_000  # functions per transaction: removing 100,000 stays small in memory, and can be interrupted


class DocstringStorage:
    """Store docstrings of one source by the hash of their functions' code.

    The source's docstrings are kept in memory, because rebuilding a fragment needs those of all its functions; they are
    read again after another process has written.
    """

    def __init__(self, store: GraphStore, source: str, encoder: Encoder) -> None:
        self._store, self._source, self._encoder = store, source, encoder
        self._known: dict[int, Docstring] = {}
        self._generation: int | None = None  # of the store when the docstrings were read

    def put(self, docstrings: Mapping[int, Docstring | None], ids: Iterable[str]) -> None:
        """Set or remove the docstrings of functions by content hash; ids are those of the functions.

        Functions that have changed since are skipped. Raises what writing to a store raises.
        """
        with self._store.write() as writer:
            if self._generation != self._store.generation():
                self._known = dict(self._store.docstrings(self._source))
            chosen: dict[int, Docstring | None] = {**self._known, **docstrings}
            after = {hashed: each for hashed, each in chosen.items() if each is not None}
            fragments = self._store.fragments(sorted(ids))
            changes = list_changes(fragments, after, docstrings.keys(), self._encoder)
            writer.put_docstrings(self._source, changes)
        self._known, self._generation = after, self._store.generation()


def remove_docstrings(store: GraphStore, source: str, model: str, encoder: Encoder) -> int:
    """Remove the docstrings of a model from a source; return the number of functions that had one.

    The result is the paper's graph without an enhancer (P-11).

    Raises what reading and writing a store raises.
    """

    def choose(hashed: int, found: Docstring | None) -> Docstring | None:
        return None if found is not None and found.model == model else found

    return _change(store, source, choose, encoder)


def match_docstrings(store: GraphStore, source: str, wanted: Docstrings, encoder: Encoder) -> int:
    """Set the docstrings of a source to exactly these; return the number of changed functions.

    Raises what reading and writing a store raises.
    """
    return _change(store, source, lambda hashed, found: wanted.get(hashed), encoder)


def _change(store: GraphStore, source: str, choose: Choose, encoder: Encoder) -> int:
    """Store the chosen docstring of each function if it has changed, in batches."""
    changed: dict[int, tuple[Docstring | None, list[str]]] = {}
    for node in store.nodes([Label.FUNCTION], source):
        if node.properties.get("docstring_source") != "human":
            hashed, found = int(node.content_hash, 16), find_docstring(node.properties)
            chosen = choose(hashed, found)
            if chosen != found:
                changed.setdefault(hashed, (chosen, []))[1].append(node.id)
    storage, hashes = DocstringStorage(store, source, encoder), sorted(changed)
    for start in range(0, len(hashes), AT_ONCE):
        some = {hashed: changed[hashed] for hashed in hashes[start : start + AT_ONCE]}
        ids = [identity for _, listed in some.values() for identity in listed]
        storage.put({hashed: docstring for hashed, (docstring, _) in some.items()}, ids)
    return sum(len(ids) for _, ids in changed.values())
