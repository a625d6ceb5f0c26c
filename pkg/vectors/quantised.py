"""Vectors of a graph: multiples of a power of two, stored as signed bytes and one scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pkg.errors import StoreCorruptError

BITS, LARGEST = 7, 127  # of a signed byte, without its sign

Floats: TypeAlias = npt.NDArray[np.floating[Any]]
"""Vectors of any float type: [n, dimension]."""
Codes: TypeAlias = npt.NDArray[np.int8]


def round_vectors(vectors: Floats) -> npt.NDArray[np.float16]:
    """Round vectors to values that stores keep without loss: float16 [n, dimension]; cosines change by about 0.001."""
    codes, scales = _quantise(vectors)
    return np.asarray(_expand(codes, scales), np.float16)


def pack_vectors(vectors: Floats) -> list[bytes]:
    """Return the bytes of each of n vectors, rounded: its scale, then a signed byte for each number."""
    rows = pack_rows(vectors)
    packed, size = rows.tobytes(), rows.shape[1]
    return [packed[start : start + size] for start in range(0, len(packed), size)]


def pack_rows(vectors: Floats) -> Codes:
    """Return packed vectors as rows of one array: int8 [n, 1 + dimension]."""
    codes, scales = _quantise(vectors)
    return np.column_stack((scales.astype(np.int8), codes))


def unpack_rows(rows: Codes) -> npt.NDArray[np.float16]:
    """Return the vectors of such rows, int8 [n, 1 + dimension], without loss: float16 [n, dimension]."""
    return np.asarray(_expand(rows[:, 1:], rows[:, 0]), np.float16)


def unpack_codes(data: Sequence[bytes], dimension: int) -> tuple[Codes, Codes]:
    """Return the signed bytes, int8 [len(data), dimension], and the scales, int8 [len(data)], of packed vectors.

    Raises StoreCorruptError for vectors of another dimension.
    """
    if not {dimension + 1}.issuperset(map(len, data)):
        raise StoreCorruptError(
            f"the store holds vectors that are not {dimension} numbers; move it away and run pkg build again"
        )
    packed = np.frombuffer(b"".join(data), np.int8).reshape(len(data), dimension + 1)
    return packed[:, 1:], packed[:, 0]


def unpack_vectors(data: Sequence[bytes], dimension: int) -> npt.NDArray[np.float32]:
    """Return packed vectors as numbers: float32 [len(data), dimension]."""
    return _expand(*unpack_codes(data, dimension))


def pack_halves(data: bytes) -> bytes:
    """Pack a vector of half precision, as in older stores; other data is returned unchanged, as damage."""
    halves = np.frombuffer(data[: len(data) // 2 * 2], "<f2")
    return pack_vectors(halves[None])[0] if np.isfinite(halves).all() else data


def _quantise(vectors: Floats) -> tuple[Codes, npt.NDArray[np.intc]]:
    numbers = vectors.astype(np.float32)
    _, scales = np.frexp(np.abs(numbers).max(axis=1, initial=0))  # the largest number lies below 2 ** scale
    # A product with a power of two, of which 127 is the largest, is as exact as ldexp and thirty times as fast.
    codes = np.rint(numbers * np.ldexp(np.float32(1), np.minimum(BITS - scales, 127))[:, None])
    return np.clip(codes, -LARGEST, LARGEST).astype(np.int8), scales


def _expand(codes: Codes, scales: npt.NDArray[np.signedinteger[Any]]) -> npt.NDArray[np.float32]:
    steps = np.ldexp(np.float32(1), scales.astype(np.intc) - BITS)
    return np.asarray(codes * steps[:, None], np.float32)
