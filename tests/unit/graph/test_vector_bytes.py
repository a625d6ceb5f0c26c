"""Vectors come back from their bytes as they were put; rounded ones take half the room."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.encode.encoder import round_vectors
from pkg.errors import StoreCorruptError
from pkg.graph.vector_bytes import pack_vectors, unpack_vectors

DIMENSION = 32


def draw_vectors(seed: int, count: int = 20, dimension: int = DIMENSION) -> npt.NDArray[np.float32]:
    """Draw vectors of length 1, the first of them zero."""
    vectors = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[0] = 0
    return vectors


@given(st.integers(0, 2**32), st.floats(2**-12, 2**12))
def test_rounded_vectors_take_a_byte_a_number_and_one_more(seed: int, length: float) -> None:
    rounded = round_vectors(draw_vectors(seed) * np.float32(length))
    data = pack_vectors(rounded)
    assert {len(each) for each in data} == {DIMENSION + 1}
    assert np.array_equal(unpack_vectors(data, DIMENSION), rounded)


@given(st.integers(0, 2**32), st.integers(1, 5), st.data())
def test_vectors_of_any_kind_come_back_beside_each_other(seed: int, dimension: int, data: st.DataObject) -> None:
    vectors = draw_vectors(seed, dimension=dimension).astype(np.float16)
    chosen = data.draw(st.lists(st.booleans(), min_size=len(vectors), max_size=len(vectors)))
    vectors[chosen] = round_vectors(vectors[chosen].astype(np.float32))
    assert np.array_equal(unpack_vectors(pack_vectors(vectors), dimension), vectors)


def test_numbers_of_half_precision_are_kept_as_they_are() -> None:
    vectors = np.array([[1, 2**-10], [0.1, 0.3], [np.float16(65504), -1], [128, 127.5]], np.float16)
    data = pack_vectors(vectors)
    assert data == [row.tobytes() for row in vectors]
    assert np.array_equal(unpack_vectors(data, 2), vectors)


def test_rounding_moves_no_number_by_more_than_a_step_and_no_cosine_by_much() -> None:
    vectors = draw_vectors(1, 200, 256)
    rounded = round_vectors(vectors).astype(np.float32)
    steps = 2.0 ** (np.frexp(np.abs(vectors).max(axis=1))[1] - 7)
    assert (np.abs(rounded - vectors).max(axis=1) <= steps).all()
    lengths = np.linalg.norm(rounded, axis=1)
    cosines = rounded @ vectors[7] / np.where(lengths, lengths, 1)
    assert np.abs(cosines - vectors @ vectors[7]).max() < 0.005


def test_no_zero_is_negative() -> None:
    assert not np.signbit(round_vectors(np.array([[1, -1e-9, -0.0]], np.float32))[0, 1:]).any()


@pytest.mark.parametrize(
    "data", [[b"\0" * 9], [b"\0" * (DIMENSION + 1), b"\0"], [b"\xff" * (2 * DIMENSION)], [b""]], ids=repr
)
def test_bytes_that_are_no_vectors_are_refused(data: list[bytes]) -> None:
    with pytest.raises(StoreCorruptError, match="32 finite numbers"):
        unpack_vectors(data, DIMENSION)


def test_no_vectors_are_no_rows() -> None:
    assert unpack_vectors([], DIMENSION).shape == (0, DIMENSION)
    assert pack_vectors(np.zeros((0, DIMENSION), np.float16)) == []
