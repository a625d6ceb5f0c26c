"""Terms are counted by field, and the fields add up to weights."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.indexing.fields import FieldCounts, FieldReader, FieldSpan
from pkg.terms.packed_terms import quantise
from pkg.terms.term_weights import Field, FieldWeights, load_field_weights
from pkg.terms.words import hash_term, split_terms

TEXT = b"def read_file(path: Path):  # reads files\n    'Read a file.'\n    return path.read()  # at once\nread_file\n"
COMMENTS = [(TEXT.index(mark), TEXT.index(b"\n", TEXT.index(mark))) for mark in (b"# reads", b"# at once")]
_DOCSTRING, _BODY, _TAIL = TEXT.index(b"'Read"), TEXT.index(b"return"), TEXT.rindex(b"read_file")
SPANS: list[FieldSpan] = [
    (_TAIL, len(TEXT), 0, Field.NAME),
    (0, _DOCSTRING, 0, Field.SIGNATURE),
    (_DOCSTRING, _BODY, 0, Field.DOCSTRING),
    (_BODY, _TAIL, 0, Field.BODY),
]


def list_counts(counts: FieldCounts) -> Counter[tuple[int, int, int]]:
    columns = zip(counts.nodes.tolist(), counts.fields.tolist(), counts.hashes.tolist(), strict=True)
    return Counter(dict(zip(columns, counts.counts.tolist(), strict=True)))


def name_counts(node: int, field: Field, text: str) -> Counter[tuple[int, int, int]]:
    numbers = re.findall(r"(?<!\w)\d{2,6}(?!\w)", text)
    return Counter((node, int(field), hash_term(term)) for term in (*split_terms(text.encode()), *numbers))


def test_each_field_has_its_own_terms_and_comments_are_taken_out_of_the_body() -> None:
    counts = FieldReader().count(TEXT, SPANS, COMMENTS, 1)
    assert list_counts(counts) == (
        name_counts(0, Field.NAME, "read file")
        + name_counts(0, Field.SIGNATURE, "def read file path path")
        + name_counts(0, Field.DOCSTRING, "read a file")
        + name_counts(0, Field.BODY, "return path read")
        + name_counts(0, Field.COMMENTS, "reads files at once")
    )
    assert counts.lengths.tolist() == [[2, 0, 5, 3, 4, 3, 0]]


PIECES = st.lists(st.sampled_from(["read_file ", "readFile, ", "größe\n", "12 ", "", "x.y ", "PATHS"]), max_size=12)


@given(st.lists(st.tuples(PIECES, st.integers(0, 4), st.sampled_from(list(Field))), max_size=12))
def test_spans_are_counted_as_their_texts_are_split(pieces: list[tuple[list[str], int, Field]]) -> None:
    text, spans, expected = b"", list[FieldSpan](), Counter[tuple[int, int, int]]()
    for words, node, field in pieces:
        start, written = len(text), "".join(words)
        text += written.encode() + b"\n"
        spans.append((start, len(text) - 1, node, field))
        expected += name_counts(node, field, written)
    reader = FieldReader()
    for _ in range(2):  # the second time from the cache
        counts = reader.count(text, spans, [], 5)
        assert list_counts(counts) == expected
        assert counts.lengths.sum() == expected.total()


def test_term_weights_are_weighted_counts_over_lengths() -> None:
    row = np.ones(len(Field))
    weights = FieldWeights(row * [8, 2, 1, 1, 1, 0.5, 1], row * 0.5, row * 4, 1.25)
    rows = FieldReader().count(b"read file\nread it read it\n", [(0, 9, 0, Field.NAME), (10, 25, 0, Field.BODY)], [], 2)
    found = rows.weigh(weights)
    assert found.counts.tolist() == [3, 0]
    name = 8 / (1.25 * (0.5 + 0.5 * 2 / 4))
    body = 0.5 / (1.25 * (0.5 + 0.5 * 4 / 4))
    expected = {"read": name + 2 * body, "file": name, "it": 2 * body}
    levels = {hash_term(term): int(quantise(np.array([value + 1e-9]))[0]) for term, value in expected.items()}
    assert dict(zip(found.hashes.tolist(), found.weights.tolist(), strict=True)) == levels
    assert found.hashes.tolist() == sorted(levels)


def test_a_node_gets_the_same_terms_whatever_is_counted_beside_it() -> None:
    alone = FieldReader().count(TEXT, SPANS, COMMENTS, 1).weigh(load_field_weights())
    moved = [(start + 6, end + 6, 1, field) for start, end, _, field in SPANS]
    comments = [(start + 6, end + 6) for start, end in COMMENTS]
    both = FieldReader().count(b"other\n" + TEXT, [(0, 5, 0, 5), *moved], comments, 2).weigh(load_field_weights())
    assert both.hashes[both.counts[0] :].tolist() == alone.hashes.tolist()
    assert both.weights[both.counts[0] :].tolist() == alone.weights.tolist()


def test_nothing_is_counted_in_nothing() -> None:
    counts = FieldReader().count(b"", [], [], 0)
    assert [column.tolist() for column in counts.weigh(load_field_weights())] == [[], [], []]


def test_a_full_table_is_emptied_and_counts_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("pkg.indexing.fields"), "TABLE_LIMIT", 3)
    reader = FieldReader()
    for text in (b"a b c d e", b"f g", b"a b"):
        counts = reader.count(text, [(0, len(text), 0, Field.BODY)], [], 1)
        assert list_counts(counts) == name_counts(0, Field.BODY, text.decode())
