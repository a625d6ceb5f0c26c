"""The scan by a rounded query finds exactly what a full float scan finds."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.errors import StoreCorruptError
from pkg.vectors.exact import COLUMNS, OVERSAMPLING, Row, Segment, make_segment
from pkg.vectors.quantised import pack_vectors, round_vectors

DIMENSION = 32

Floats = npt.NDArray[np.floating[Any]]


def make_rows(vectors: Floats, contents: list[int]) -> list[Row]:
    """Number vectors from 1, ids descending, so that ties do not depend on order."""
    return [
        (number + 1, -number, content, 1, 1, 0, data)
        for number, (content, data) in enumerate(zip(contents, pack_vectors(vectors), strict=True))
    ]


def search(segment: Segment, query: npt.NDArray[np.float32], k: int) -> list[str]:
    return [match.id for match in segment.search(query, k, None).matches]


def rank(vectors: Floats, contents: list[int], query: npt.NDArray[np.float32], k: int) -> list[str]:
    rows, asked = vectors.astype(np.float64), query.astype(np.float64)
    scores = (rows * asked).sum(axis=1) / np.sqrt((rows * rows).sum(axis=1) * (asked * asked).sum())
    ids = [f"{-number % (1 << 64):016x}" for number in range(len(rows))]
    best: dict[int, str] = {}
    for _, node_id, content in sorted(zip(-scores, ids, contents, strict=True)):
        best.setdefault(content, node_id)
    return list(best.values())[:k]


@given(
    seed=st.integers(0, 2**32),
    spread=st.sampled_from([1e-3, 0.02, 1.0]),
    k=st.sampled_from([1, 5, 60, 400]),
    is_equal=st.booleans(),
)
def test_close_entries_are_ranked_exactly(seed: int, spread: float, k: int, is_equal: bool) -> None:
    random = np.random.default_rng(seed)
    drawn = random.normal(size=DIMENSION) + spread * random.normal(size=(600, DIMENSION))
    vectors = round_vectors(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))
    contents = [int(content) for content in random.integers(0, 500, len(vectors))]
    if is_equal:  # equal content has equal vectors unless it is at different places
        firsts = {content: number for number, content in reversed(list(enumerate(contents)))}
        vectors = vectors[[firsts[content] for content in contents]]
    segment = make_segment(iter(make_rows(vectors, contents)), DIMENSION)
    query = (vectors[0] + spread * random.normal(size=DIMENSION)).astype(np.float32)
    assert search(segment, query, k) == rank(vectors, contents, query, k)
    found = segment.search(query, k, None)
    assert found.folded == sum(contents.count(contents[-int(match.id, 16) % (1 << 64)]) - 1 for match in found.matches)


def test_more_candidates_follow_when_duplicates_use_up_the_first() -> None:
    crowd, rest = 50 * OVERSAMPLING, 20
    vectors = np.full((crowd + rest, DIMENSION), 0.125, np.float16)
    vectors[crowd:] = round_vectors(np.random.default_rng(1).normal(size=(rest, DIMENSION)))
    contents = [0] * crowd + list(range(1, rest + 1))
    segment = make_segment(iter(make_rows(vectors, contents)), DIMENSION)
    query = np.ones(DIMENSION, np.float32)
    found = segment.search(query, 5, None)
    assert [match.id for match in found.matches] == rank(vectors, contents, query, 5)
    assert found.matches[0].same_content == crowd - 1


def test_cosines_of_entries_are_those_of_a_search() -> None:
    vectors = round_vectors(np.random.default_rng(3).normal(size=(9, DIMENSION)))
    segment = make_segment(iter(make_rows(vectors, list(range(9)))), DIMENSION)
    query = np.ones(DIMENSION, np.float32)
    found = {match.id: match.score for match in segment.search(query, 9, None).matches}
    scored = segment.score([9, 0, 4, 12], query)
    assert scored == {number: found[f"{(1 - number) % (1 << 64):016x}"] for number in (9, 4)}
    assert make_segment(iter(()), DIMENSION).score([1], query) == {}


def test_searches_keep_the_reference_count_of_none() -> None:
    vectors = round_vectors(np.random.default_rng(4).normal(size=(9, DIMENSION)))
    segment = make_segment(iter(make_rows(vectors, list(range(9)))), DIMENSION)
    query = np.ones(DIMENSION, np.float32)
    before = sys.getrefcount(None)
    for _ in range(1000):
        segment.search(query, 3, None)
    assert sys.getrefcount(None) > before - 100


def test_a_segment_of_many_batches_is_one_of_all_its_rows() -> None:
    count = 2 * 4096 + 7
    vectors = round_vectors(np.random.default_rng(2).normal(size=(count, DIMENSION)))
    segment = make_segment(iter(make_rows(vectors, list(range(count)))), DIMENSION)
    assert len(segment) == count
    assert segment.columns["number"].tolist() == list(range(1, count + 1))
    assert {name: str(column.dtype) for name, column in segment.columns.items()} == {
        name: str(np.dtype(kind)) for name, kind in COLUMNS.items()
    }


@given(st.integers(0, 2**32))
def test_bytes_and_scale_of_an_entry_are_its_vector_of_length_1(seed: int) -> None:
    random = np.random.default_rng(seed)
    vectors = round_vectors(random.normal(size=(50, DIMENSION)) * random.choice([1e-3, 1, 30], size=(50, 1)))
    segment = make_segment(iter(make_rows(vectors, list(range(50)))), DIMENSION)
    units = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    assert segment.codes * segment.columns["scale"][:, None] == pytest.approx(units, abs=1e-6)


@pytest.mark.parametrize("data", [b"", b"\0" * DIMENSION, b"\0" * (DIMENSION + 2), b"\0" * 2 * DIMENSION])
def test_other_data_is_damage(data: bytes) -> None:
    with pytest.raises(StoreCorruptError, match="32 numbers"):
        make_segment(iter([(1, 1, 1, 1, 1, 0, data)]), DIMENSION)


def test_the_scan_works_where_usearch_was_imported_before() -> None:
    code = (
        "import usearch.index, numpy as np; from pkg.vectors.exact import simsimd;"
        "print(np.asarray(simsimd.dot(np.ones((2, 8), np.int8), np.ones(8, np.int8), out_dtype='float32')).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[8.0, 8.0]\n", done.stderr
