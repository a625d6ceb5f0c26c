"""Rebuild the nodes of stored functions with other docstrings, as a build would, without a build."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pkg.extract.python import extract_unit
from pkg.graph.graph_records import find_docstring
from pkg.indexing.fields import FieldReader, extract_terms
from pkg.indexing.pending_nodes import CodePieces, PendingNodes
from pkg.indexing.written_docstrings import Docstrings
from pkg.model import Label, Span
from pkg.terms.packed_terms import TERM_LABELS, unpack_terms
from pkg.units import DocstringChange, NodeRow, StoredFragment, format_id
from pkg.vectors.quantised import round_vectors

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder

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
            yield from _change(batch, docstrings, hashes, encoder, reader)
            batch = []
    yield from _change(batch, docstrings, hashes, encoder, reader)


def _change(
    fragments: Sequence[StoredFragment],
    docstrings: Docstrings,
    hashes: Collection[int],
    encoder: Encoder,
    reader: FieldReader,
) -> Iterator[DocstringChange]:
    pending = [rebuild_nodes(each, docstrings) for each in fragments]
    terms = extract_terms(reader, [nodes.fields for nodes in pending])
    packed = [nodes.pack(each) for nodes, each in zip(pending, terms, strict=True)]
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
