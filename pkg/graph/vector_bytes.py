"""Vectors as the embedded store keeps them: one signed byte for each number and one for their scale.

So is kept what loses nothing by it, as all do that a build has rounded (pkg.encode.encoder.round_vectors); any other
vector, as of a graph that an older PKG has built, keeps its numbers in half precision.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pkg.errors import StoreCorruptError

BITS, LARGEST = 7, 127  # of a signed byte, beside its sign


def pack_vectors(vectors: npt.NDArray[np.float16]) -> list[bytes]:
    """Give the bytes of each vector [n, dimension]: dimension + 1 of them, or twice dimension."""
    numbers, dimension = vectors.astype(np.float32), vectors.shape[1]
    _, scales = np.frexp(np.abs(numbers).max(axis=1, initial=0))  # the largest number lies below 2 ** scale
    codes = np.ldexp(numbers, (BITS - scales)[:, None])
    is_whole = (codes == np.clip(np.rint(codes), -LARGEST, LARGEST)).all(axis=1)
    is_whole &= dimension > 1  # else both ways take two bytes
    if not is_whole.all():
        rows = zip(vectors.astype("<f2", copy=False), is_whole, strict=True)
        return [pack_vectors(row[None])[0] if whole else row.tobytes() for row, whole in rows]
    packed, size = np.column_stack((scales, codes)).astype(np.int8).tobytes(), dimension + 1
    return [packed[start : start + size] for start in range(0, len(packed), size)]


def unpack_vectors(data: Sequence[bytes], dimension: int) -> npt.NDArray[np.float32]:
    """Give vectors [len(data), dimension] of their bytes; refuse what no encoder gives."""
    sizes = set(map(len, data))
    if sizes == {dimension + 1} and dimension > 1:
        packed = np.frombuffer(b"".join(data), np.int8).reshape(len(data), dimension + 1)
        steps: npt.NDArray[np.float32] = np.ldexp(np.float32(1), packed[:, :1].astype(np.int32) - BITS)
        return np.asarray(packed[:, 1:] * steps, np.float32)
    if len(sizes) > 1:
        return np.concatenate([unpack_vectors([each], dimension) for each in data])
    if sizes <= {2 * dimension}:
        halves = np.frombuffer(b"".join(data), "<f2").reshape(len(data), dimension)
        if np.isfinite(halves).all():
            return halves.astype(np.float32)
    raise StoreCorruptError(
        f"the store holds vectors that are not {dimension} finite numbers; move it away and run pkg build again"
    )
