"""Rounded vectors survive a round trip through bytes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.errors import StoreCorruptError
from pkg.vectors.quantised import pack_halves, pack_vectors, round_vectors, unpack_vectors

DIMENSION = 32


def draw_vectors(seed: int, count: int = 20, dimension: int = DIMENSION) -> npt.NDArray[np.float32]:
    """Draw vectors of length 1, the first of them zero."""
    vectors = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[0] = 0
    return vectors


@given(seed=st.integers(0, 2**32), length=st.floats(2**-9, 2**12), dimension=st.integers(1, 40))
def test_rounded_vectors_survive_a_round_trip(seed: int, length: float, dimension: int) -> None:
    rounded = round_vectors(draw_vectors(seed, dimension=dimension) * np.float32(length))
    data = pack_vectors(rounded)
    assert {len(each) for each in data} == {dimension + 1}
    assert np.array_equal(unpack_vectors(data, dimension), rounded)
    assert np.array_equal(round_vectors(rounded), rounded)


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


def test_numbers_of_half_precision_are_rounded() -> None:
    halves = draw_vectors(3).astype(np.float16)
    assert [pack_halves(row.tobytes()) for row in halves] == pack_vectors(halves)


@pytest.mark.parametrize("data", [b"\0" * 9, b"\xff" * (2 * DIMENSION), b""], ids=repr)
def test_bytes_that_are_no_vectors_are_refused(data: bytes) -> None:
    for each in (data, pack_halves(data)):
        with pytest.raises(StoreCorruptError, match="32 numbers"):
            unpack_vectors([b"\0" * (DIMENSION + 1), each], DIMENSION)


def test_no_vectors_are_no_rows() -> None:
    assert unpack_vectors([], DIMENSION).shape == (0, DIMENSION)
    assert pack_vectors(np.zeros((0, DIMENSION), np.float16)) == []
