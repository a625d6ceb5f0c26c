"""Draft stored functions once more, with other docstrings: what a build would make of them, without the build."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pkg.extract.python import extract_unit
from pkg.graph.texts import find_docstring
from pkg.indexing.drafts import CodePieces, Draft
from pkg.indexing.fields import FieldReader, extract_terms
from pkg.indexing.written_docstrings import Docstrings
from pkg.model import Label, Span
from pkg.terms.packed_terms import TERM_LABELS, unpack_terms
from pkg.units import DocstringChange, NodeRow, StoredFragment, format_id
from pkg.vectors.quantised import round_vectors

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder

FRAGMENTS_AT_ONCE = 50  # drafted together: some hundred functions, which spread the fixed costs of encoding


def list_changes(
    fragments: Iterable[StoredFragment], docstrings: Docstrings, hashes: Collection[int], encoder: Encoder
) -> Iterator[DocstringChange]:
    """Give what changes in fragments when the functions of some content hashes get their docstrings, or lose them.

    docstrings: those that all functions of the source are to have. A fragment that reads otherwise alone than among the
    rest of its row is left out: what is found in it would not be what the graph holds.
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
    drafts = [redraft(each, docstrings) for each in fragments]
    terms = extract_terms(reader, [draft.fields for draft in drafts])
    packed = [draft.pack(each) for draft, each in zip(drafts, terms, strict=True)]
    chosen = [_list_chosen(draft, hashes) for draft in drafts]
    texts, headings = [], []
    for draft, rows in zip(drafts, chosen, strict=True):
        encoded = draft.encoded_text
        texts += [encoded[slice(*draft.spans[place])] for place, _ in rows]
        headings += [draft.headings[place] for place, _ in rows]
    vectors = round_vectors(encoder.encode(texts, headings))
    of_each = np.split(vectors, np.cumsum([len(rows) for rows in chosen])[:-1]) if chosen else []
    for stored, blob, rows, found in zip(fragments, packed, chosen, of_each, strict=True):
        if rows and _has_same_nodes(stored.terms, blob):
            written = {format_id(row.id): find_docstring(row.properties or {}) for _, row in rows}
            yield DocstringChange(stored.key, written, found, blob)


def redraft(fragment: StoredFragment, docstrings: Docstrings) -> Draft:
    """Draft a fragment that was stored."""
    code = extract_unit(fragment.text, with_summary=False)
    place = fragment.source, fragment.path or format_id(fragment.key)
    return Draft(CodePieces(code), Span(0, len(code.text), 1, 1), place, fragment.path, docstrings)


def _list_chosen(draft: Draft, hashes: Collection[int]) -> list[tuple[int, NodeRow]]:
    """List the functions of some content hashes that have no docstring of their own, each with its place."""
    return [
        (place, row)
        for place, row in enumerate(draft.embedded)
        if row.label is Label.FUNCTION
        and row.content_hash in hashes
        and not isinstance((row.properties or {}).get("docstring"), list)
    ]


def _has_same_nodes(before: bytes, after: bytes) -> bool:
    """Tell whether two blobs of terms are of the same nodes."""
    keys = [unpack_terms([blob], TERM_LABELS).keys for blob in (before, after)]
    return all(np.array_equal(one, other) for one, other in zip(*keys, strict=True))
