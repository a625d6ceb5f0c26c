"""Packed terms of nodes: weight levels and round trips of blobs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.errors import StoreCorruptError
from pkg.model import Label
from pkg.terms.packed_terms import TERM_LABELS, NodeKeys, TermRows, pack_terms, quantise, saturations, unpack_terms

NODES = st.lists(st.dictionaries(st.integers(0, 2**32 - 1), st.integers(0, 255), max_size=200), max_size=6)
KEY = st.integers(0, 2**64 - 1)


def make_rows(nodes: list[dict[int, int]]) -> TermRows:
    pairs = [pair for node in nodes for pair in sorted(node.items())]
    return TermRows(
        np.array([len(node) for node in nodes], np.int64),
        np.array([term for term, _ in pairs], np.uint32),
        np.array([weight for _, weight in pairs], np.uint8),
    )


def make_keys(count: int, first: int) -> NodeKeys:
    ids = np.arange(first, first + count, dtype=np.uint64)
    return NodeKeys(ids, ids * np.uint64(3))


def name_labels(functions: list[dict[int, int]], imports: list[dict[int, int]]) -> list[Label]:
    return [Label.FUNCTION] * len(functions) + [Label.IMPORT] * len(imports)


@given(st.lists(st.tuples(NODES, NODES, st.integers(0, 2**40)), max_size=5))
def test_functions_and_imports_survive_a_round_trip(
    fragments: list[tuple[list[dict[int, int]], list[dict[int, int]], int]],
) -> None:
    blobs = [
        pack_terms(
            name_labels(functions, imports),
            make_keys(len(functions) + len(imports), first),
            make_rows(functions + imports),
        )
        for functions, imports, first in fragments
    ]
    for label, place in ((Label.FUNCTION, 0), (Label.IMPORT, 1)):
        counts, keys, numbers, rows = unpack_terms(blobs, (label,))
        assert set(numbers.tolist()) <= {TERM_LABELS.index(label)}
        expected = make_rows([node for fragment in fragments for node in (fragment[0], fragment[1])[place]])
        assert counts.tolist() == [len((fragment[0], fragment[1])[place]) for fragment in fragments]
        assert [column.tolist() for column in rows] == [column.tolist() for column in expected]
        skipped = [0 if label is Label.FUNCTION else len(fragment[0]) for fragment in fragments]
        ids = [
            fragment[2] + skip + number
            for fragment, skip, count in zip(fragments, skipped, counts.tolist(), strict=True)
            for number in range(count)
        ]
        assert keys.ids.tolist() == ids
        assert keys.contents.tolist() == [3 * each for each in ids]


@given(NODES.filter(bool), st.data())
def test_a_truncated_blob_is_refused(nodes: list[dict[int, int]], data: st.DataObject) -> None:
    blob = pack_terms([Label.FUNCTION] * len(nodes), make_keys(len(nodes), 1), make_rows(nodes))
    size = data.draw(st.integers(1, len(blob) - 1))
    with pytest.raises(StoreCorruptError, match="pkg build again"):
        unpack_terms([blob, blob[:size]], TERM_LABELS)


def test_levels_grow_with_frequency_within_their_range() -> None:
    levels = quantise(np.array([0.0, 1e-9, 0.001, 0.01, 0.1, 0.11, 1, 8, 60, 1e9]))
    assert (np.diff(levels.astype(int)) >= 0).all()
    assert levels[[0, -1]].tolist() == [0, 255]


@given(st.floats(0.001, 60))
def test_rounding_to_a_level_loses_at_most_a_twentieth(frequency: float) -> None:
    share = float(saturations()[quantise(np.array([frequency]))][0])
    assert 0.95 * frequency / (1 + frequency) <= share <= frequency / (1 + frequency) + 1e-6
